// How a tile comes into LDS on AMD where nothing else is said (gfx950: lds_direct_cdna4.h): through registers.
#pragma once

#if !defined(__HIP__)
#error "AMD device code, for hipRTC or hipcc; headtune/tile/tile.h and lds_tile.h choose the family's file"
#endif

#include <headtune/tile/tile.h>

namespace headtune::tile {

/// The next tile waits in registers while the workgroup works on the one in LDS.
template <int COPIES, int /*RING*/>
struct Copier {
  static constexpr int AHEAD = 1;
  static constexpr bool BY_WAVE = false;

  U32x4 held[COPIES];

  HEADTUNE_DEVICE void copy(int step, char* /*destination*/, const char* source) {
    held[step] = load_stream<U32x4>(source);
  }
  HEADTUNE_DEVICE void close() {}

  /// Writes the held tile over the one in LDS, once nobody reads that one.
  template <class EachChunk>
  HEADTUNE_DEVICE void land(EachChunk each_chunk) {
    __syncthreads();
    each_chunk([&](int step, char* destination) { *reinterpret_cast<U32x4*>(destination) = held[step]; });
    __syncthreads();
  }
};

}  // namespace headtune::tile
