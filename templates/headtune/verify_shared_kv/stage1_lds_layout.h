// Shape and LDS use of the LDS path of stage 1, for the host (launch, pruning) and the device (layout) alike.
#pragma once

#include <headtune/config.h>
#include <headtune/tile/lds_layout.h>
#include <headtune/tile/macros.h>

namespace headtune::lds_path {

/// A K row narrower than V is only known as MLA: V is the first part of the same cache row, staged once.
constexpr HEADTUNE_HOST_DEVICE bool shares_cache_row(int head_dim, int v_head_dim) { return v_head_dim < head_dim; }

/// Rows of a workgroup, padded to whole matrix blocks.
constexpr HEADTUNE_HOST_DEVICE int padded_rows(int rows) { return tile::round_up(rows, 16); }

/// Rows of scores and softmax state. AMD (whose query is in registers) pads them to whole blocks for every wave.
constexpr HEADTUNE_HOST_DEVICE int softmax_rows(int rows, int block_n, int num_warps, bool query_in_lds) {
  return query_in_lds ? padded_rows(rows) : tile::score_rows(rows, block_n, num_warps);
}

/// Bytes of each region, in the order in which they lie in LDS.
struct Regions {
  int query;   ///< NVIDIA only: AMD keeps the query in registers
  int stages;  ///< the ring of K (and separate V) tiles
  int scores;  ///< softmax numerators, 16 bit
  int rows;    ///< per row: reference maximum, rescale factor, sum; per wave and row: partial maximum; the vote
  constexpr HEADTUNE_HOST_DEVICE int total() const { return query + stages + scores + rows; }
};

constexpr HEADTUNE_HOST_DEVICE int tile_bytes(int head_dim, int v_head_dim, int block_n) {
  const int columns = shares_cache_row(head_dim, v_head_dim) ? head_dim : head_dim + v_head_dim;
  return block_n * columns * 2;
}

/// `ring`: tiles resident in LDS. AMD stages the next tile in registers, so it needs one.
constexpr HEADTUNE_HOST_DEVICE Regions regions(int rows, int head_dim, int v_head_dim, int block_n, int num_warps,
                                               int ring, bool query_in_lds) {
  const int padded = softmax_rows(rows, block_n, num_warps, query_in_lds);
  return {query_in_lds ? padded * head_dim * 2 : 0, ring * tile_bytes(head_dim, v_head_dim, block_n),
          padded * block_n * 2, 4 * padded * (3 + num_warps) + 16};
}

constexpr int lds_bytes(const Problem& problem, const Config& config, int wave_size, int /*key_step*/) {
  const bool nvidia = wave_size == 32;
  return regions(config.block_h * problem.extend_len, problem.head_dim, problem.v_head_dim, config.block_n,
                 config.num_warps, nvidia ? config.num_stages : 1, nvidia)
      .total();
}

}  // namespace headtune::lds_path
