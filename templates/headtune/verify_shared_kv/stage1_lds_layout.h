// Shape and LDS use of the LDS path of stage 1, for the host (launch, pruning) and the device (layout) alike.
#pragma once

#include <headtune/config.h>
#include <headtune/tile/lds_layout.h>
#include <headtune/tile/macros.h>

namespace headtune::lds_path {

/// A V row narrower than the K row means MLA: V is the first part of the same cache row, staged once.
constexpr HEADTUNE_HOST_DEVICE bool shares_cache_row(int head_dim, int v_head_dim) { return v_head_dim < head_dim; }

/// What a workgroup stages, and where.
struct Layout {
  int rows;  ///< BLOCK_H * EXTEND_LEN
  int head_dim, v_head_dim, block_n, num_warps, num_stages;
  int waves_per_eu, wave_size;
  bool large_lds;  ///< gfx950: 160 KiB

  constexpr HEADTUNE_HOST_DEVICE bool nvidia() const { return wave_size == 32; }

  /// Rows of the output, in whole matrix blocks.
  constexpr HEADTUNE_HOST_DEVICE int output_rows() const { return tile::round_up(rows, 16); }

  /// Rows of scores and softmax state. AMD pads them to whole blocks for every wave.
  constexpr HEADTUNE_HOST_DEVICE int score_rows() const {
    return nvidia() ? output_rows() : tile::score_rows(rows, block_n, num_warps);
  }

  /// gfx950 with two tiles: they are copied past registers (tile/lds_direct_cdna4.h).
  constexpr HEADTUNE_HOST_DEVICE bool copies_directly() const { return !nvidia() && num_stages > 1; }

  /// AMD: registers per lane of the output, the next tile and the scores before and after exponentiation.
  constexpr HEADTUNE_HOST_DEVICE int registers_held() const {
    const int output = output_rows() * v_head_dim / (num_warps * 64);
    const int next_tile = copies_directly() ? 0 : tile_bytes() / (num_warps * 64 * 4);
    return output + next_tile + 2 * score_rows() * block_n / (num_warps * 64);
  }

  /// AMD: registers per lane of `columns` of the query.
  constexpr HEADTUNE_HOST_DEVICE int query_registers(int columns) const {
    const int row_waves = num_warps / tile::waves_along_keys(num_warps, block_n / 16, output_rows() / 16);
    return score_rows() / 16 / row_waves * columns / 8;
  }

  /// Columns of the query in LDS, whole panels. AMD keeps it in registers when it fits there, with room (seen: 92) for
  /// operands and addresses; else what LDS has room for beside two tiles, or all of it beside one.
  constexpr HEADTUNE_HOST_DEVICE int query_lds_columns() const {
    if (nvidia()) return head_dim;
    if (!large_lds || query_registers(head_dim) + registers_held() + 92 <= 512 / waves_per_eu) return 0;
    const int room = (160 * 1024 - without_query_bytes()) / (output_rows() * 2) / 64 * 64;
    return !copies_directly() || room > head_dim ? head_dim : room > 0 ? room : 0;
  }
  constexpr HEADTUNE_HOST_DEVICE bool query_in_lds() const { return query_lds_columns() > 0; }

  /// Tiles resident in LDS. Where there is one, the next waits in registers.
  constexpr HEADTUNE_HOST_DEVICE int ring() const { return num_stages; }

  constexpr HEADTUNE_HOST_DEVICE int tile_bytes() const {
    return block_n * (shares_cache_row(head_dim, v_head_dim) ? head_dim : head_dim + v_head_dim) * 2;
  }

  // The regions of LDS; Lds has their order.
  constexpr HEADTUNE_HOST_DEVICE int query_bytes() const { return output_rows() * query_lds_columns() * 2; }
  constexpr HEADTUNE_HOST_DEVICE int stages_bytes() const { return ring() * tile_bytes(); }
  constexpr HEADTUNE_HOST_DEVICE int numerators_bytes() const { return score_rows() * block_n * 2; }
  constexpr HEADTUNE_HOST_DEVICE int exchange_bytes() const {
    return nvidia() ? tile::exchange_bytes(rows, block_n, num_warps) : 0;
  }
  /// Per row: reference, rescale factor; per wave and row: a partial reduction. Then the votes.
  constexpr HEADTUNE_HOST_DEVICE int state_bytes() const { return 4 * score_rows() * (2 + num_warps) + 16; }
  constexpr HEADTUNE_HOST_DEVICE int without_query_bytes() const {
    return stages_bytes() + numerators_bytes() + exchange_bytes() + state_bytes();
  }
  constexpr HEADTUNE_HOST_DEVICE int bytes() const { return query_bytes() + without_query_bytes(); }
};

/// `key_step`: 32 on gfx950.
constexpr int lds_bytes(const Problem& problem, const Config& config, int wave_size, int key_step) {
  return Layout{config.block_h * problem.extend_len,
                problem.head_dim,
                problem.v_head_dim,
                config.block_n,
                config.num_warps,
                config.num_stages,
                config.waves_per_eu,
                wave_size,
                key_step == 32}
      .bytes();
}

}  // namespace headtune::lds_path
