// PTX of the LDS (shared memory) path, sm_80 and newer: asynchronous copies, matrix loads, and what both matrix paths share.
#pragma once

#include <headtune/config.h>
#include <headtune/tile/macros.h>

namespace headtune::tile::nvidia {

HEADTUNE_DEVICE unsigned shared_address(const void* pointer) {
  return static_cast<unsigned>(__cvta_generic_to_shared(pointer));
}

HEADTUNE_DEVICE float exp2(float x) {
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

HEADTUNE_DEVICE float log2(float x) {
  float y;
  asm("lg2.approx.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

HEADTUNE_DEVICE float shuffle_xor(float x, int mask) { return __shfl_xor_sync(0xffffffffu, x, mask); }

/// Two floats rounded to 16 bit, `low` in the low half.
template <DType T>
HEADTUNE_DEVICE unsigned pack(float low, float high) {
  unsigned packed;
  if constexpr (T == DType::bf16)
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(packed) : "f"(high), "f"(low));
  else
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(packed) : "f"(high), "f"(low));
  return packed;
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

/// d[16][8] += a[16][16] * b[16][8].
template <DType T>
HEADTUNE_DEVICE void mma(float (&d)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) {
  if constexpr (T == DType::bf16)
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
                 "{%0, %1, %2, %3};"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
  else
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
                 "{%0, %1, %2, %3};"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

/// Fills a ring of tiles by asynchronous copies, one group of copies per tile.
template <int COPIES, int RING>
struct Copier {
  static constexpr int AHEAD = RING - 1;  ///< tiles in flight besides the one in use
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
  static HEADTUNE_DEVICE int lane() { return static_cast<int>(threadIdx.x) % 32; }
  static HEADTUNE_DEVICE int warp() { return static_cast<int>(threadIdx.x) / 32; }
  static HEADTUNE_DEVICE int row(int slot) { return slot / 2 * 8 + 2 * (lane() % 4) + slot % 2; }
  static HEADTUNE_DEVICE int key(int element) { return element / 2 * 16 + element % 2 * 8 + lane() / 4; }
  static HEADTUNE_DEVICE bool leads() { return lane() < 4; }

  /// Reduces over the lanes that hold other keys of the same rows.
  template <class Reduce>
  static HEADTUNE_DEVICE float across_keys(float x, Reduce both) {
#pragma unroll
    for (int mask = 4; mask < 32; mask *= 2) x = both(x, shuffle_xor(x, mask));
    return x;
  }
};

/// Barrier of the workgroup.
HEADTUNE_DEVICE void barrier() { __syncthreads(); }

/// Barrier that tells every thread whether any thread said yes.
HEADTUNE_DEVICE bool barrier_any(bool yes, unsigned* /*votes*/, int /*turn*/) { return __syncthreads_or(yes) != 0; }

template <int N>
HEADTUNE_DEVICE void store_floats(float* destination, const float (&values)[N]) {
#pragma unroll
  for (int i = 0; i < N; ++i) destination[i] = values[i];
}

/// Copies the query rows into their panels; rows without an address are zero.
template <class Panels, int ROWS, int COLUMNS, int THREADS, class RowAddress>
HEADTUNE_DEVICE void load_query(char* destination, RowAddress address) {
  constexpr int CHUNKS = COLUMNS / 8;
  for (int i = static_cast<int>(threadIdx.x); i < ROWS * CHUNKS; i += THREADS) {
    const int row = i / CHUNKS, chunk = i % CHUNKS;
    const void* source = address(row);
    uint4 value = make_uint4(0, 0, 0, 0);
    if (source != nullptr) value = static_cast<const uint4*>(source)[chunk];
    *reinterpret_cast<uint4*>(destination + Panels::offset(row, chunk)) = value;
  }
}

}  // namespace headtune::tile::nvidia
