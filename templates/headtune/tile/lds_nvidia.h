// PTX of the LDS (shared memory) path, sm_80 and newer: asynchronous copies, matrix loads, and what both matrix paths
// share.
#pragma once

#if !defined(__CUDACC__)
#error "NVIDIA device code, for NVRTC or nvcc; headtune/tile/tile.h and lds_tile.h choose the family's file"
#endif

#include <headtune/tile/tile.h>

namespace headtune::tile::nvidia {

HEADTUNE_DEVICE unsigned shared_address(const void* pointer) {
  return static_cast<unsigned>(__cvta_generic_to_shared(pointer));
}

/// Transposes the 8x8 matrix of 16-bit elements that a warp holds, two neighbours of a row per lane.
HEADTUNE_DEVICE unsigned transpose(unsigned matrix) {
  unsigned result;
  asm("movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;" : "=r"(result) : "r"(matrix));
  return result;
}

HEADTUNE_DEVICE void store_shared(unsigned address, unsigned value) {
  asm volatile("st.shared.b32 [%0], %1;" ::"r"(address), "r"(value) : "memory");
}

/// Four 8x8 matrices; lane l gives the address of row l % 8 of matrix l / 8.
HEADTUNE_DEVICE void load_matrices(unsigned (&m)[4], unsigned address) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(m[0]), "=r"(m[1]), "=r"(m[2]), "=r"(m[3])
               : "r"(address)
               : "memory");
}

HEADTUNE_DEVICE void load_matrices_transposed(unsigned (&m)[4], unsigned address) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(m[0]), "=r"(m[1]), "=r"(m[2]), "=r"(m[3])
               : "r"(address)
               : "memory");
}

/// Fills a ring of tiles by asynchronous copies, one group of copies per tile.
template <int COPIES, int RING>
struct Copier {
  static constexpr int AHEAD = RING - 1;  ///< tiles in flight besides the one in use
  static constexpr bool BY_WAVE = false;
  static_assert(RING >= 2, "cp.async needs a second tile to fill");

  HEADTUNE_DEVICE void copy(int /*step*/, char* destination, const char* source) {
    asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], 16;" ::"r"(shared_address(destination)), "l"(source)
                 : "memory");
  }
  HEADTUNE_DEVICE void close() { asm volatile("cp.async.commit_group;" ::: "memory"); }

  /// Afterwards the oldest tile in flight is readable by every thread, and the tile before it may be overwritten.
  template <class Write>
  HEADTUNE_DEVICE void land(Write /*write*/) {
    asm volatile("cp.async.wait_group %0;" ::"n"(AHEAD - 1) : "memory");
#if __CUDA_ARCH__ >= 900
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");  // wgmma reads through the asynchronous proxy
#endif
    __syncthreads();
  }
};

/// Which rows and keys the accumulators of a warp's score blocks (16 keys x 8 rows each) belong to: lane l holds keys
/// l / 4 and l / 4 + 8, rows 2 * (l % 4) and the next.
struct ScoreLanes {
  static HEADTUNE_DEVICE int lane() { return lane_index(); }
  static HEADTUNE_DEVICE int warp() { return thread_index() / wave_size; }
  static HEADTUNE_DEVICE int row(int slot) { return slot / 2 * 8 + 2 * (lane() % 4) + slot % 2; }
  static HEADTUNE_DEVICE int key(int element) { return element / 2 * 16 + element % 2 * 8 + lane() / 4; }
  static HEADTUNE_DEVICE bool leads() { return lane() < 4; }

  /// Numerators are rounded to 16 bit, not cut: their sum needs no correction.
  static HEADTUNE_DEVICE float cut(float x) { return x; }

  /// Reduces over the lanes that hold other keys of the same rows.
  template <class Reduce>
  static HEADTUNE_DEVICE float across_keys(float x, Reduce both) {
#pragma unroll
    for (int mask = 4; mask < 32; mask *= 2) x = both(x, __shfl_xor_sync(0xffffffffu, x, mask));
    return x;
  }
};

}  // namespace headtune::tile::nvidia

namespace headtune::tile {

using nvidia::Copier;

/// Barrier that tells every thread whether any thread said yes.
HEADTUNE_DEVICE bool barrier_any(bool yes, unsigned* /*votes*/, int /*turn*/) { return __syncthreads_or(yes) != 0; }

template <int N>
HEADTUNE_DEVICE void store_floats(float* destination, const float (&values)[N]) {
#pragma unroll
  for (int i = 0; i < N; ++i) destination[i] = values[i];
}

}  // namespace headtune::tile
