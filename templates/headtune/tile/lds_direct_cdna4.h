// gfx950: from global memory straight into LDS, 16 bytes a lane (global_load_lds_dwordx4). The wave says where in M0:
// lane l's bytes go to M0 + 16 l. vmcnt counts these instructions with all other vector memory, in order.
//
// Written as assembly: after the built-in function the compiler would wait for every such load before any read of LDS,
// since it cannot tell the tiles apart. It counts none of these, so a wait of its own for another load may be one for
// younger copies too.
#pragma once

#if !defined(__HIP__)
#error "AMD device code, for hipRTC or hipcc; headtune/tile/tile.h and lds_tile.h choose the family's file"
#endif

#include <headtune/tile/copier_cdna.h>

#if !__has_builtin(__builtin_amdgcn_ds_read_tr16_b64_v4i16)
#error "gfx950 device code, for a compiler that knows gfx950 (LLVM 20)"
#endif

namespace headtune::tile {

HEADTUNE_DEVICE unsigned lds_address(const char* lds) {
  return static_cast<unsigned>(
      reinterpret_cast<unsigned long long>((__attribute__((address_space(3))) const char*)lds));
}

/// Every lane's 16 bytes at `source` to `destination` + 16 * lane; `destination` is the same for the wave.
HEADTUNE_DEVICE void copy_to_lds(unsigned destination, const char* source) {
  // A wait state belongs between M0 and its use. The compiler keeps nothing in M0.
  asm volatile("s_mov_b32 m0, %0\n\ts_nop 0\n\tglobal_load_lds_dwordx4 %1, off"
               :
               : "s"(destination), "v"(source)
               : "memory");
}

/// Waits until all of the wave's loads have landed.
HEADTUNE_DEVICE void wait_for_copies() { asm volatile("s_waitcnt vmcnt(0)" : : : "memory"); }

/// The next tile is on its way into LDS while the workgroup works on the other one there.
template <int COPIES>
struct Copier<COPIES, 2> {
  static constexpr int AHEAD = 1;
  static constexpr bool BY_WAVE = true;

  HEADTUNE_DEVICE void copy(int /*step*/, char* destination, const char* source) const {
    copy_to_lds(lds_address(destination), source);
  }
  HEADTUNE_DEVICE void close() const {}

  /// A barrier alone would not wait for the other waves' loads: each waits for its own.
  template <class EachChunk>
  HEADTUNE_DEVICE void land(EachChunk) const {
    wait_for_copies();
    __syncthreads();
  }
};

}  // namespace headtune::tile
