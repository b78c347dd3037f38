// extend_attention: the generic baseline that split-KV replaces, and the fallback where it cannot be used. One
// workgroup per request, query head and block of new tokens walks the whole prefix, then the new tokens. Same arguments
// as verify_shared_kv; workspace and split arguments are not read.
#pragma once

#include <headtune/extend_attention/extend_lds.h>
#include <headtune/extend_attention/launch.h>
#include <headtune/verify_shared_kv/merge_waves.h>
#include <headtune/verify_shared_kv/walk_prefix.h>

namespace headtune {

/// Writes a workgroup's rows to the output.
template <class Variant>
struct OutputWriter {
  using Element = typename tile::ElementOf<Variant::DTYPE>::type;
  const VerifyParams& p;
  const Request& request;
  const Rows<Variant>& rows;

  HEADTUNE_DEVICE void lse(int, float) const {}
  HEADTUNE_DEVICE void columns(int row, int column, const tile::F32x4& values) const {
    if (!rows.valid(row, request)) return;
    char* to =
        static_cast<char*>(p.out) +
        ((request.qo_begin + rows.token(row)) * p.out_stride_token + rows.head(row) * p.out_stride_head + column) * 2;
    tile::store_global(to, tile::U32x2{tile::pack_output<Element>(values[0], values[1]),
                                       tile::pack_output<Element>(values[2], values[3])});
  }
};

/// The new tokens, by the first row of waves: they follow the prefix, whose values alone are scaled by v_scale.
template <class Variant, class Shape>
HEADTUNE_DEVICE void walk_new_tokens(WaveState<Shape>& state, const Queries<Shape>& queries, const VerifyParams& p,
                                     const Request& request, const Rows<Variant>& rows, int first_block) {
  const auto visible = [&](int m, int i, int position) {
    const int row = (first_block + m) * 16 + tile::free_lanes * i + tile::free_index(tile::lane_index());
    return position < request.qo_len && (!Variant::IS_CAUSAL || position <= rows.first_row + row);
  };
  const KeyRange range{0, Shape::tile_keys, request.qo_len, 0};
  walk_keys(state, queries, new_token_rows<Variant>(p, request, rows.kv_head), range, p.sm_scale * 1.44269504f,
            visible);
}

/// Waves own keys. Grid: (query heads, query blocks, batch).
template <class Variant>
HEADTUNE_DEVICE void extend_rows(const VerifyParams& p, const Request& request) {
  constexpr int block = extend_query_block(Variant::EXTEND_LEN);
  using Shape = WaveShape<Variant, block>;
  const int first_token = blockIdx.y * block;
  if (first_token >= request.qo_len) return;
  const int count = Variant::EXTEND_LEN - first_token < block ? Variant::EXTEND_LEN - first_token : block;
  const Rows<Variant> rows = Rows<Variant>::of_head(blockIdx.x, first_token, count);
  const int key_warp = tile::wave_index() / Shape::row_warps, row_warp = tile::wave_index() % Shape::row_warps;

  Queries<Shape> queries;
  WaveState<Shape> state;
  walk_prefix(state, queries, p, request, rows, 0, request.prefix_len);
  state.scale_output(p.v_scale);
  if (key_warp == 0) {
    state.restart(p.sm_scale * 1.44269504f);
    walk_new_tokens(state, queries, p, request, rows, row_warp * Shape::blocks);
  }
  if constexpr (walk_uses_lds<Variant, Shape>) __syncthreads();
  merge_waves(state, tile::dynamic_lds(), 1.0f, OutputWriter<Variant>{p, request, rows});
}

/// Body of the kernel extend_attention. Grid: extend_launch.
template <class Variant>
HEADTUNE_DEVICE void extend_attention(const VerifyParams& p) {
  const Request request = Request::read(p, blockIdx.z);
  if (!request.has_token(0)) return;
  if constexpr (Variant::LOAD_PATH == 1)
    lds_path::extend_request<Variant>(p, request);
  else
    extend_rows<Variant>(p, request);
}

}  // namespace headtune
