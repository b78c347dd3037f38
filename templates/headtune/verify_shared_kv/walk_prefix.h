// A workgroup's walk over keys [begin, end) of a prefix, its waves owning keys of their own: straight into registers,
// or (NVIDIA) through a ring in LDS that each team of waves fills for itself.
#pragma once

#include <headtune/verify_shared_kv/wave_attention.h>
#if defined(__CUDACC__)
#include <headtune/verify_shared_kv/key_ring.h>
#endif

namespace headtune {

/// Loads Q and attends to the keys. Every thread of the workgroup must arrive. LDS may still be in use when it returns.
template <class Variant, class Shape>
HEADTUNE_DEVICE void walk_prefix(WaveState<Shape>& state, Queries<Shape>& queries, const VerifyParams& p,
                                 const Request& request, const Rows<Variant>& rows, int begin, int end) {
  constexpr float log2e = 1.44269504f;
  const int key_warp = tile::wave_index() / Shape::row_warps, row_warp = tile::wave_index() % Shape::row_warps;
  const float scale = p.sm_scale * p.k_scale * log2e;
  const PrefixRows<Variant> keys = prefix_rows<Variant>(p, request, rows.kv_head, end);
  const KeyRange range{begin + key_warp * Shape::tile_keys, Shape::key_warps * Shape::tile_keys, end, end};
  const auto visible = [end](int, int, int position) { return position < end; };
#if defined(__CUDACC__)
  if constexpr (Variant::LOAD_PATH == 2) {
    KeyRing<Variant, Shape> ring(keys, tile::dynamic_lds(), key_warp, row_warp * tile::wave_size + tile::lane_index());
    start_ring(ring, range);
    queries.load(p, request, rows, key_warp, row_warp);
    state.clear();
    walk_ring(state, queries, ring, range, scale, visible);
  } else
#endif
  {
    queries.load(p, request, rows, key_warp, row_warp);
    state.clear();
    walk_keys(state, queries, keys, range, scale, visible);
  }
}

/// Whether other waves may still read what the walk keeps in LDS.
template <class Variant, class Shape>
inline constexpr bool walk_uses_lds = Variant::LOAD_PATH == 2 || Shape::queries_in_lds;

}  // namespace headtune
