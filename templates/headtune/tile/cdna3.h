// gfx90a and gfx942: MFMA 16x16x16, 16 keys per step of the second product; no bf16 conversion instruction.
#pragma once

#include <headtune/tile/cdna.h>

namespace headtune::tile {

inline constexpr int score_tiles = 1;  // score accumulators per key step

/// See cdna4.h; the compiler is left alone here.
HEADTUNE_DEVICE const char* pinned(const char* lds) { return lds; }
template <int COUNT>
HEADTUNE_DEVICE void lds_reads_next() {}
template <int COUNT>
HEADTUNE_DEVICE void products_next() {}

/// Probabilities are cut to 16 bits, not rounded: one v_perm_b32 per pair. Multiplying them by the mean of what the
/// cut takes away keeps sums unbiased: 2^-8 * 0.7213 (bf16), 2^-11 * 0.7213 (fp16) of a value with a log-uniform
/// mantissa. log2 of that factor joins the exponent's offset and costs nothing.
template <class T>
constexpr float pack_bias = 0.00405964f;
template <>
inline constexpr float pack_bias<Fp16> = 0.00050804f;

template <class T>
HEADTUNE_DEVICE unsigned pack_probabilities(float lo, float hi);
template <>
HEADTUNE_DEVICE unsigned pack_probabilities<Bf16>(float lo, float hi) {
  return __builtin_amdgcn_perm(bits(hi), bits(lo), 0x07060302u);
}
template <>
HEADTUNE_DEVICE unsigned pack_probabilities<Fp16>(float lo, float hi) {
  return __builtin_bit_cast(unsigned, __builtin_amdgcn_cvt_pkrtz(lo, hi));
}

/// Codes that the hardware converts: gfx942 speaks FNUZ, gfx90a no 8-bit floats at all.
template <class Kv>
inline constexpr bool converts_fp8 = false;
template <class T, int half>
HEADTUNE_DEVICE unsigned convert_fp8(unsigned codes);
#if defined(__gfx942__)
template <>
inline constexpr bool converts_fp8<E4m3fnuz> = true;
/// No number is lost to the cut to 16 bits.
template <class T, int half>
HEADTUNE_DEVICE unsigned convert_fp8(unsigned codes) {
  const F32x2 wide = __builtin_amdgcn_cvt_pk_f32_fp8(static_cast<int>(codes), half == 1);
  return pack_probabilities<T>(wide.x, wide.y);
}
#endif

template <class T>
HEADTUNE_DEVICE F32x4 mfma(U32x2 a, U32x2 b, F32x4 c);
template <>
HEADTUNE_DEVICE F32x4 mfma<Bf16>(U32x2 a, U32x2 b, F32x4 c) {
  return __builtin_amdgcn_mfma_f32_16x16x16bf16_1k(__builtin_bit_cast(I16x4, a), __builtin_bit_cast(I16x4, b), c, 0, 0,
                                                   0);
}
template <>
HEADTUNE_DEVICE F32x4 mfma<Fp16>(U32x2 a, U32x2 b, F32x4 c) {
  return __builtin_amdgcn_mfma_f32_16x16x16f16(__builtin_bit_cast(F16x4, a), __builtin_bit_cast(F16x4, b), c, 0, 0, 0);
}

/// Adds the products of 32 dims (16 bytes of each lane) to the scores of 16 keys and 16 rows.
template <class T>
HEADTUNE_DEVICE void mma_scores(F32x4& scores, U32x4 keys, const U32x4 (&queries)[rows_per_lane]) {
  scores = mfma<T>(keys.xy, queries[0].xy, scores);
  scores = mfma<T>(keys.zw, queries[0].zw, scores);
}

/// Adds probabilities times values of one key step to 16 columns of 16 rows.
template <class T>
HEADTUNE_DEVICE void mma_values(F32x4& output, const unsigned (&values)[2], const unsigned (&probabilities)[2]) {
  output = mfma<T>(U32x2{values[0], values[1]}, U32x2{probabilities[0], probabilities[1]}, output);
}

}  // namespace headtune::tile
