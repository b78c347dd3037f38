// Stage 1 of verify_shared_kv, LDS path: one workgroup holds the outputs of all its rows (BLOCK_H query heads x
// EXTEND_LEN new tokens) in registers and walks its split in tiles of BLOCK_N keys. A tile is staged once in LDS and
// read in both layouts: as K for the scores and, for MLA, its first V_HEAD_DIM columns again as V.
#pragma once

#include <headtune/verify_shared_kv/fuse_combine.h>
#include <headtune/verify_shared_kv/lds_feed.h>
#include <headtune/verify_shared_kv/lds_softmax.h>

namespace headtune {
namespace lds_path {

/// Normalised outputs and log-sum-exp of the split.
template <class V, class Tile>
HEADTUNE_DEVICE void write_partials(const VerifyParams& p, const Request& request, const Rows<V>& rows, int split,
                                    const Lds<V, Tile>& lds, Tile& tile, const Softmax<V, Tile>& softmax) {
  constexpr float LN2 = 0.69314718f;  // pack_bias: the log2 of what cutting numerators takes from their sum on average
  const long long first = partial_row(p, request.index, split, rows);
  softmax.reduce(
      0, [](float a, float b) { return a + b; }, [&](int slot) { return softmax.sum[slot]; },
      [&](int row, float sum) {
        lds.factor[row] = sum > 0 ? p.v_scale / sum : 0;
        if (rows.valid(row, request))
          tile::store_global(
              p.partial_lse + first + row,
              sum > 0 ? (lds.reference[row] + tile::pack_bias<typename Tile::Element> + tile::log2(sum)) * LN2
                      : tile::negative_infinity);
      });
  tile.scale_output(lds.factor);
  tile.each_output([&](int row, auto visit) {
    if (!rows.valid(row, request)) return;
    float* out = p.partial_out + (first + row) * V::V_HEAD_DIM;
    visit([&](int column, const auto& values) { tile::store_floats(out + column, values); });
  });
}

/// All rows of the workgroup over keys [begin, end) of the prefix.
template <class V>
HEADTUNE_DEVICE void attend_split(const VerifyParams& p, const Request& request, const Rows<V>& rows, int split,
                                  int begin, int end) {
  using Tile = tile::LdsTile<V, layout<V>.output_rows(), layout<V>.query_lds_columns()>;
  static_assert(Tile::LEGAL, "rows, keys or columns do not split evenly over the waves");
  constexpr float LOG2E = 1.44269504f;
  extern __shared__ __attribute__((aligned(1024))) char headtune_tiles[];  // Hopper's swizzle counts from 1024 bytes

  const int tiles = ceil_div(end - begin, V::BLOCK_N);
  const Lds<V, Tile> lds(headtune_tiles);
  lds.clear();
  Feed<V, Tile> feed(prefix_rows<V>(p, request, rows.kv_head, end), begin, tiles, lds);
  Tile tile(lds.query, lds.numerators, lds.exchange);
  tile.load_query([&](int row) {
    return rows.valid(row, request) ? tensor_row<2>(p.q, request.qo_begin + rows.token(row), p.q_stride_token,
                                                    rows.head(row), p.q_stride_head)
                                    : nullptr;
  });
  Softmax<V, Tile> softmax(lds, p.sm_scale * p.k_scale * LOG2E);

  walk_tiles(feed, tile, softmax, tiles, end - begin);
  write_partials(p, request, rows, split, lds, tile, softmax);
}

}  // namespace lds_path

/// Grid: (head blocks, splits, batch).
template <class Variant>
HEADTUNE_DEVICE void stage1_lds(const VerifyParams& p) {
  const int split = blockIdx.y;
  const Request request = Request::read(p, blockIdx.z);
  if (!request.has_token(0)) return;
  const SplitCut cut = cut_prefix(request.prefix_len, p.num_splits, p.min_keys_per_split, Variant::BLOCK_N);
  const Rows<Variant> rows = Rows<Variant>::of_head_block(blockIdx.x);
  if (cut.holds(split, request.prefix_len)) {
    const int begin = split * cut.keys_per_split;
    const int end = begin + cut.keys_per_split < request.prefix_len ? begin + cut.keys_per_split : request.prefix_len;
    lds_path::attend_split<Variant>(p, request, rows, split, begin, end);
  } else if (!(Variant::FUSE_COMBINE && split == 0)) {
    return;
  }
  if constexpr (Variant::FUSE_COMBINE) combine_when_last<Variant>(p, request, rows, cut.used, tile::dynamic_lds());
}

}  // namespace headtune
