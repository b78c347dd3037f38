// Asynchronous copies from global memory to LDS (NVIDIA cp.async): bytes in flight cost no registers.
#pragma once

#include <headtune/tile/tile.h>

namespace headtune::tile {

#if defined(__CUDACC__)

inline constexpr bool has_async_copy = true;

/// An LDS address as the copy instructions take it.
HEADTUNE_DEVICE unsigned lds_address(const void* pointer) {
  return static_cast<unsigned>(__cvta_generic_to_shared(pointer));
}
/// 16 bytes, past L1.
HEADTUNE_DEVICE void copy_async(unsigned to, const void* from) {
  asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], 16;" ::"r"(to), "l"(from) : "memory");
}
/// Closes a group of copies.
HEADTUNE_DEVICE void commit_copies() { asm volatile("cp.async.commit_group;" ::: "memory"); }
/// Waits until all but this thread's `pending` youngest groups have arrived.
template <int pending>
HEADTUNE_DEVICE void wait_copies() {
  asm volatile("cp.async.wait_group %0;" ::"n"(pending) : "memory");
}
/// A barrier of the `waves` waves that share number `team`.
template <int waves>
HEADTUNE_DEVICE void team_barrier(int team) {
  if constexpr (waves == 1)
    __syncwarp();
  else
    asm volatile("bar.sync %0, %1;" ::"r"(team + 1), "n"(waves * wave_size) : "memory");
}

#else

inline constexpr bool has_async_copy = false;

#endif

}  // namespace headtune::tile
