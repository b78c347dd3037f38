// How a tile of an fp8 prefix comes into LDS, on every architecture: as 16-bit elements, so that all that reads it is
// the same as for a 16-bit prefix.
#pragma once

#include <headtune/tile/fp8.h>

namespace headtune::tile {

/// The next tile waits in registers, eight codes a copy, and is widened on its way into the one tile in LDS.
template <class Tile, class Kv, int COPIES>
struct WideningCopier {
  static constexpr int AHEAD = 1;
  static constexpr bool BY_WAVE = false;

  U32x2 held[COPIES];

  HEADTUNE_DEVICE void copy(int step, char* /*destination*/, const char* source) {
    held[step] = load_stream<U32x2>(source);
  }
  HEADTUNE_DEVICE void close() {}

  /// Writes the held tile over the one in LDS, once nobody reads that one.
  template <class EachChunk>
  HEADTUNE_DEVICE void land(EachChunk each_chunk) {
    __syncthreads();
    each_chunk([&](int step, char* destination) {
      *reinterpret_cast<U32x4*>(destination) = widen<typename Tile::Element, Kv>(held[step][0], held[step][1]);
    });
    Tile::publish_lds();
    __syncthreads();
  }
};

}  // namespace headtune::tile
