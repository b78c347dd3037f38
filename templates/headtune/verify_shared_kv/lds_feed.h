// How a split's tiles of keys come into LDS, a tile ahead of their use.
#pragma once

#include <headtune/tile/lds_stager.h>
#include <headtune/tile/lds_tile.h>
#include <headtune/tile/lds_widen.h>
#include <headtune/verify_shared_kv/key_rows.h>
#include <headtune/verify_shared_kv/lds_memory.h>

namespace headtune::lds_path {

template <class Tile, class Element, int COPIES, int RING>
struct CopierOf {
  static_assert(Element::bytes == 2, "an fp8 tile is widened on its way into the one tile in LDS: NUM_STAGES is 1");
  using Type = tile::Copier<COPIES, RING>;
};
template <class Tile, int COPIES>
struct CopierOf<Tile, tile::E4m3fn, COPIES, 1> {
  using Type = tile::WideningCopier<Tile, tile::E4m3fn, COPIES>;
};
template <class Tile, int COPIES>
struct CopierOf<Tile, tile::E4m3fnuz, COPIES, 1> {
  using Type = tile::WideningCopier<Tile, tile::E4m3fnuz, COPIES>;
};

/// Brings the split's tiles into LDS one after the other.
template <class V, class Tile>
struct Feed {
  static constexpr bool SEPARATE_VALUES = !shares_cache_row(V::HEAD_DIM, V::V_HEAD_DIM);
  static constexpr int KEY_BYTES = V::BLOCK_N * V::HEAD_DIM * 2;
  static constexpr int TILE_BYTES = layout<V>.tile_bytes();
  static constexpr int VALUES_OFFSET = SEPARATE_VALUES ? KEY_BYTES : 0;
  static constexpr int RING = layout<V>.ring();
  using Slot = typename PagedSlots<V>::Slot;
  using Element = typename PrefixRows<V>::Element;
  using Keys = tile::Stager<Tile::THREADS, V::BLOCK_N, V::HEAD_DIM, Element::bytes>;
  using Values = tile::Stager<Tile::THREADS, V::BLOCK_N, V::V_HEAD_DIM, Element::bytes>;
  static constexpr int PASSES = Keys::Shape::PASSES;
  static constexpr int COPIES = Keys::Shape::COPIES + (SEPARATE_VALUES ? Values::Shape::COPIES : 0);

  Keys keys;
  Values values;
  PrefixRows<V> rows;
  typename CopierOf<Tile, Element, COPIES, RING>::Type copier;
  char* ring;
  Slot next[PASSES];  ///< pool slots of the next tile's keys: loaded a tile ahead of the rows that they name
  int position;       ///< of the next tile's first key
  int left;           ///< tiles not yet started

  HEADTUNE_DEVICE Feed(const PrefixRows<V>& rows_of, int begin, int tiles, const Lds<V, Tile>& lds)
      : keys(tile::thread_index(), copier.BY_WAVE),
        values(tile::thread_index(), copier.BY_WAVE),
        rows(rows_of),
        ring(lds.stages),
        position(begin),
        left(tiles) {
    fetch_slots();
#pragma unroll
    for (int t = 0; t < copier.AHEAD; ++t) start(t);
  }

  HEADTUNE_DEVICE void fetch_slots() {
#pragma unroll
    for (int pass = 0; pass < PASSES; ++pass) {
      Slot slot[1];
      rows.slots.template load<false>(slot, position, keys.key + pass * Keys::Shape::KEYS_PER_PASS);
      next[pass] = slot[0];
    }
    position += V::BLOCK_N;
  }

  HEADTUNE_DEVICE char* stage(int tile) const { return ring + tile % RING * TILE_BYTES; }

  /// Calls copy(step, LDS address, global address) for all of this thread's chunks of a tile.
  template <class Copy>
  HEADTUNE_DEVICE void each_chunk(char* stage, Copy copy) const {
    keys.each([&](int pass) { return rows.keys.row(next[pass]); },
              [&](int step, int lds, const char* source) { copy(step, stage + lds, source); });
    if constexpr (SEPARATE_VALUES)
      values.each([&](int pass) { return rows.values.row(next[pass]); },
                  [&](int step, int lds, const char* source) {
                    copy(Keys::Shape::COPIES + step, stage + KEY_BYTES + lds, source);
                  });
  }

  HEADTUNE_DEVICE void start(int tile) {
    if (left > 0) {
      each_chunk(stage(tile), [&](int step, char* lds, const char* source) { copier.copy(step, lds, source); });
      fetch_slots();
    }
    --left;
    copier.close();
  }

  /// Work that may overlap with the products of tile `tile`.
  HEADTUNE_DEVICE void meanwhile(int tile) { start(tile + copier.AHEAD); }

  /// Waits for tile `tile`; the place of its predecessor is then free.
  HEADTUNE_DEVICE const char* land(int tile) {
    copier.land(
        [&](auto write) { each_chunk(stage(tile), [&](int step, char* lds, const char*) { write(step, lds); }); });
    return stage(tile);
  }
};

}  // namespace headtune::lds_path
