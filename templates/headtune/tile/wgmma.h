// Hopper's warpgroup matrix instruction: d[64][N] += a[64][16] * b[16][N], both operands in LDS panels (lds_layout.h)
// named by descriptors. N counts rows of queries here. PTX ISA, "Asynchronous warpgroup level matrix instructions".
#pragma once

#if !defined(__CUDACC__)
#error "NVIDIA device code, for NVRTC or nvcc; headtune/tile/tile.h and lds_tile.h choose the family's file"
#endif

#include <headtune/tile/element.h>
#include <headtune/tile/macros.h>

namespace headtune::tile {

constexpr HEADTUNE_HOST_DEVICE bool wgmma_rows(int n) {
  return n == 8 || n == 16 || n == 24 || n == 32 || n == 48 || n == 64;
}

/// Descriptor of a panel with 128-byte rows: start address, byte distance of 8-row groups (1024), 128-byte swizzle.
/// depth_major: the product's depth runs along the panel row, so a step of 16 adds 32 bytes.
HEADTUNE_DEVICE unsigned long long depth_major(unsigned address) {
  return (1ull << 62) | (64ull << 32) | (1ull << 16) | ((address & 0x3ffff) >> 4);
}

/// row_major: the product's depth runs across panel rows (V: keys), so a step of 16 adds 2048 bytes. One panel is
/// exactly the 64 columns of one instruction, hence no second (leading) distance.
HEADTUNE_DEVICE unsigned long long row_major(unsigned address) { return depth_major(address); }

/// Keeps the compiler from moving accumulator accesses across the asynchronous products.
template <int N>
HEADTUNE_DEVICE void wgmma_pin(float (&d)[N]) {
#pragma unroll
  for (float& x : d) asm volatile("" : "+f"(x)::"memory");
}

template <int N>
HEADTUNE_DEVICE void wgmma_begin(float (&d)[N]) {
  wgmma_pin(d);
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}

HEADTUNE_DEVICE void wgmma_commit() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }

/// Waits for every product issued so far.
template <int N>
HEADTUNE_DEVICE void wgmma_wait(float (&d)[N]) {
  asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
  wgmma_pin(d);
}

template <class Element, int N>
struct Wgmma;

// One specialisation per N and type: the instruction names every accumulator register.
#define HEADTUNE_D4(i) "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3])
#define HEADTUNE_WGMMA(TYPE, PTX_TYPE, N, REGS, A, B, SCALE, TRANSPOSE, ...)                                        \
  template <>                                                                                                       \
  struct Wgmma<TYPE, N> {                                                                                           \
    template <int A_ROW_MAJOR>                                                                                      \
    static HEADTUNE_DEVICE void multiply(float (&d)[N / 2], unsigned long long a, unsigned long long b, bool add) { \
      asm volatile("{ .reg .pred p; setp.ne.b32 p, %" #SCALE ", 0; wgmma.mma_async.sync.aligned.m64n" #N            \
                   "k16.f32." PTX_TYPE "." PTX_TYPE " {" REGS "}, %" #A ", %" #B ", p, 1, 1, %" #TRANSPOSE ", 0; }" \
                   : __VA_ARGS__                                                                                    \
                   : "l"(a), "l"(b), "r"(static_cast<int>(add)), "n"(A_ROW_MAJOR));                                 \
    }                                                                                                               \
  };
#define HEADTUNE_R4 "%0, %1, %2, %3"
#define HEADTUNE_R8 HEADTUNE_R4 ", %4, %5, %6, %7"
#define HEADTUNE_R12 HEADTUNE_R8 ", %8, %9, %10, %11"
#define HEADTUNE_R16 HEADTUNE_R12 ", %12, %13, %14, %15"
#define HEADTUNE_R24 HEADTUNE_R16 ", %16, %17, %18, %19, %20, %21, %22, %23"
#define HEADTUNE_R32 HEADTUNE_R24 ", %24, %25, %26, %27, %28, %29, %30, %31"
#define HEADTUNE_WGMMA_ALL(TYPE, PTX_TYPE)                                                                         \
  HEADTUNE_WGMMA(TYPE, PTX_TYPE, 8, HEADTUNE_R4, 4, 5, 6, 7, HEADTUNE_D4(0))                                       \
  HEADTUNE_WGMMA(TYPE, PTX_TYPE, 16, HEADTUNE_R8, 8, 9, 10, 11, HEADTUNE_D4(0), HEADTUNE_D4(4))                    \
  HEADTUNE_WGMMA(TYPE, PTX_TYPE, 24, HEADTUNE_R12, 12, 13, 14, 15, HEADTUNE_D4(0), HEADTUNE_D4(4), HEADTUNE_D4(8)) \
  HEADTUNE_WGMMA(TYPE, PTX_TYPE, 32, HEADTUNE_R16, 16, 17, 18, 19, HEADTUNE_D4(0), HEADTUNE_D4(4), HEADTUNE_D4(8), \
                 HEADTUNE_D4(12))                                                                                  \
  HEADTUNE_WGMMA(TYPE, PTX_TYPE, 48, HEADTUNE_R24, 24, 25, 26, 27, HEADTUNE_D4(0), HEADTUNE_D4(4), HEADTUNE_D4(8), \
                 HEADTUNE_D4(12), HEADTUNE_D4(16), HEADTUNE_D4(20))                                                \
  HEADTUNE_WGMMA(TYPE, PTX_TYPE, 64, HEADTUNE_R32, 32, 33, 34, 35, HEADTUNE_D4(0), HEADTUNE_D4(4), HEADTUNE_D4(8), \
                 HEADTUNE_D4(12), HEADTUNE_D4(16), HEADTUNE_D4(20), HEADTUNE_D4(24), HEADTUNE_D4(28))
HEADTUNE_WGMMA_ALL(Bf16, "bf16")
HEADTUNE_WGMMA_ALL(Fp16, "f16")
#undef HEADTUNE_WGMMA_ALL
#undef HEADTUNE_R32
#undef HEADTUNE_R24
#undef HEADTUNE_R16
#undef HEADTUNE_R12
#undef HEADTUNE_R8
#undef HEADTUNE_R4
#undef HEADTUNE_WGMMA
#undef HEADTUNE_D4

}  // namespace headtune::tile
