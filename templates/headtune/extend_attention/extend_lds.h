// extend_attention, LDS path (MLA): one workgroup holds the outputs of one query head's new tokens and walks the whole
// prefix in tiles staged in LDS, then the new tokens as one tile more.
#pragma once

#include <headtune/verify_shared_kv/lds_feed.h>
#include <headtune/verify_shared_kv/lds_softmax.h>

namespace headtune {
namespace lds_path {

/// The first BLOCK_N new tokens' rows (the last one repeated) into a tile's place, by every thread.
template <class V, class Tile, class Stager>
HEADTUNE_DEVICE void stage_new_tokens(char* stage, const RowAddresses& source, int count) {
  const Stager stager(tile::thread_index());
  __syncthreads();  // what lay there is no longer read
  stager.each(
      [&](int pass) {
        const int token = stager.key + pass * Stager::Shape::KEYS_PER_PASS;
        return source.row(static_cast<unsigned>(token < count ? token : count - 1));
      },
      [&](int, int at, const char* from) {
        *reinterpret_cast<tile::U32x4*>(stage + at) = tile::load_global<tile::U32x4>(from);
      });
  Tile::publish_lds();
  __syncthreads();
}

/// Attends to the new tokens; `turn` counts the tiles before.
template <class V, class Tile>
HEADTUNE_DEVICE void add_new_tokens(const VerifyParams& p, const Request& request, const Rows<V>& rows,
                                    const Lds<V, Tile>& lds, Tile& tile, Softmax<V, Tile>& softmax, int turn) {
  static_assert(V::EXTEND_LEN <= V::BLOCK_N, "the new tokens are one tile");
  const NewTokenRows<V> source = new_token_rows<V>(p, request, rows.kv_head);
  for (int row = tile::thread_index(); row < lds.ROWS; row += Tile::THREADS) lds.factor[row] = p.v_scale;
  __syncthreads();
  tile.scale_output(lds.factor);  // the prefix's values alone are scaled
  softmax.scale = p.sm_scale * 1.44269504f;

  stage_new_tokens<V, Tile, tile::Stager<Tile::THREADS, V::BLOCK_N, V::HEAD_DIM>>(lds.stages, source.keys,
                                                                                  request.qo_len);
  tile.multiply_keys(lds.stages, [] {});
  softmax.mask(
      tile, [&](int row, int token) { return token < request.qo_len && (!V::IS_CAUSAL || token <= rows.token(row)); });
  softmax.step(tile, turn);
  stage_new_tokens<V, Tile, tile::Stager<Tile::THREADS, V::BLOCK_N, V::V_HEAD_DIM>>(lds.stages, source.values,
                                                                                    request.qo_len);
  tile.multiply_values(lds.stages);
}

template <class Element, int count>
HEADTUNE_DEVICE void store_elements(char* to, const float (&values)[count]) {
  if constexpr (count == 1) {
    tile::store_global(to, static_cast<unsigned short>(tile::pack_output<Element>(values[0], 0)));
  } else {
#pragma unroll
    for (int i = 0; i < count; i += 2)
      tile::store_global(to + 2 * i, tile::pack_output<Element>(values[i], values[i + 1]));
  }
}

template <class V, class Tile>
HEADTUNE_DEVICE void write_output(const VerifyParams& p, const Request& request, const Rows<V>& rows,
                                  const Lds<V, Tile>& lds, Tile& tile, const Softmax<V, Tile>& softmax) {
  softmax.reduce(
      0, [](float a, float b) { return a + b; }, [&](int slot) { return softmax.sum[slot]; },
      [&](int row, float sum) { lds.factor[row] = sum > 0 ? 1 / sum : 0; });
  tile.scale_output(lds.factor);
  tile.each_output([&](int row, auto visit) {
    if (!rows.valid(row, request)) return;
    char* out = static_cast<char*>(p.out) +
                ((request.qo_begin + rows.token(row)) * p.out_stride_token + rows.head(row) * p.out_stride_head) * 2;
    visit([&](int column, const auto& values) { store_elements<typename Tile::Element>(out + column * 2, values); });
  });
}

/// One query head's new tokens of one request. Grid: (query heads, 1, batch).
template <class V>
HEADTUNE_DEVICE void extend_request(const VerifyParams& p, const Request& request) {
  using Tile = tile::LdsTile<V, layout<V>.output_rows(), layout<V>.query_lds_columns()>;
  static_assert(Tile::LEGAL && V::BLOCK_H == 1, "rows, keys or columns do not split evenly over the waves");
  extern __shared__ __attribute__((aligned(1024))) char headtune_tiles[];  // Hopper's swizzle counts from 1024 bytes

  const Rows<V> rows = Rows<V>::of_head(blockIdx.x, 0, V::EXTEND_LEN);
  const int tiles = ceil_div(request.prefix_len, V::BLOCK_N);
  const Lds<V, Tile> lds(headtune_tiles);
  lds.clear();
  Tile tile(lds.query, lds.numerators, lds.exchange);
  tile.load_query([&](int row) {
    return rows.valid(row, request) ? tensor_row<2>(p.q, request.qo_begin + rows.token(row), p.q_stride_token,
                                                    rows.head(row), p.q_stride_head)
                                    : nullptr;
  });
  Softmax<V, Tile> softmax(lds, p.sm_scale * p.k_scale * 1.44269504f);
  if (tiles > 0) {
    const int end = request.prefix_len;
    Feed<V, Tile> feed(prefix_rows<V>(p, request, rows.kv_head, end), 0, tiles, lds);
    walk_tiles(feed, tile, softmax, tiles, end);
  }
  add_new_tokens(p, request, rows, lds, tile, softmax, tiles);
  write_output(p, request, rows, lds, tile, softmax);
}

}  // namespace lds_path
}  // namespace headtune
