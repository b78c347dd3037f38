// gfx950: MFMA 16x16x32, 32 keys per step of the second product; converts to bf16 in hardware.
#pragma once

#include <headtune/tile/cdna.h>

#if !__has_builtin(__builtin_amdgcn_mfma_f32_16x16x32_bf16)
#error "gfx950 device code, for a compiler that knows gfx950 (LLVM 20)"
#endif

namespace headtune::tile {

using Bf16x2 = __bf16 __attribute__((ext_vector_type(2)));
using Bf16x8 = __bf16 __attribute__((ext_vector_type(8)));
using F16x8 = _Float16 __attribute__((ext_vector_type(8)));

inline constexpr int score_tiles = 2;

/// An LDS address in a register of its own, so that constants added to it become offsets of instructions (below 64
/// KiB). The compiler, left alone, folds them with the place of the region and keeps one register for every sum.
HEADTUNE_DEVICE const char* pinned(const char* lds) {
  auto local = (__attribute__((address_space(3))) const char*)lds;
  asm("" : "+v"(local));
  return (const char*)local;
}

/// Behind a block of LDS reads and products, in which order they are to be issued: the compiler, left alone, reads just
/// before use to save registers.
template <int COUNT>
HEADTUNE_DEVICE void lds_reads_next() {
  __builtin_amdgcn_sched_group_barrier(0x100, COUNT, 0);
}
template <int COUNT>
HEADTUNE_DEVICE void products_next() {
  __builtin_amdgcn_sched_group_barrier(0x008, COUNT, 0);
}

/// See cdna3.h; bf16 is rounded here, fp16 cut.
template <class T>
constexpr float pack_bias = 0.0f;
template <>
inline constexpr float pack_bias<Fp16> = 0.00050804f;

template <class T>
HEADTUNE_DEVICE unsigned pack_probabilities(float lo, float hi);
template <>
HEADTUNE_DEVICE unsigned pack_probabilities<Bf16>(float lo, float hi) {
  return __builtin_bit_cast(unsigned, __builtin_convertvector((F32x2{lo, hi}), Bf16x2));
}
template <>
HEADTUNE_DEVICE unsigned pack_probabilities<Fp16>(float lo, float hi) {
  return __builtin_bit_cast(unsigned, __builtin_amdgcn_cvt_pkrtz(lo, hi));
}

/// Codes that the hardware converts: OCP.
template <class Kv>
inline constexpr bool converts_fp8 = false;
template <>
inline constexpr bool converts_fp8<E4m3fn> = true;

/// Bytes 2 * half and 2 * half + 1.
template <class T, int half>
HEADTUNE_DEVICE unsigned convert_fp8(unsigned codes) {
  if constexpr (ones<T> == ones<Fp16>)
    return __builtin_bit_cast(unsigned, __builtin_amdgcn_cvt_scalef32_pk_f16_fp8(codes, 1.0f, half == 1));
  else
    return __builtin_bit_cast(unsigned, __builtin_amdgcn_cvt_scalef32_pk_bf16_fp8(codes, 1.0f, half == 1));
}

template <class T>
HEADTUNE_DEVICE F32x4 mfma(U32x4 a, U32x4 b, F32x4 c);
template <>
HEADTUNE_DEVICE F32x4 mfma<Bf16>(U32x4 a, U32x4 b, F32x4 c) {
  return __builtin_amdgcn_mfma_f32_16x16x32_bf16(__builtin_bit_cast(Bf16x8, a), __builtin_bit_cast(Bf16x8, b), c, 0, 0,
                                                 0);
}
template <>
HEADTUNE_DEVICE F32x4 mfma<Fp16>(U32x4 a, U32x4 b, F32x4 c) {
  return __builtin_amdgcn_mfma_f32_16x16x32_f16(__builtin_bit_cast(F16x8, a), __builtin_bit_cast(F16x8, b), c, 0, 0, 0);
}

/// Adds the products of 32 dims (16 bytes of each lane) to the scores of 16 keys and 16 rows.
template <class T>
HEADTUNE_DEVICE void mma_scores(F32x4& scores, U32x4 keys, const U32x4 (&queries)[rows_per_lane]) {
  scores = mfma<T>(keys, queries[0], scores);
}

/// Adds probabilities times values of one key step to 16 columns of 16 rows.
template <class T>
HEADTUNE_DEVICE void mma_values(F32x4& output, const unsigned (&values)[4], const unsigned (&probabilities)[4]) {
  output = mfma<T>(U32x4{values[0], values[1], values[2], values[3]},
                   U32x4{probabilities[0], probabilities[1], probabilities[2], probabilities[3]}, output);
}

}  // namespace headtune::tile
