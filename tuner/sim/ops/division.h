// The steps of IEEE division: v_div_scale, v_div_fmas and v_div_fixup, for f32 and f64.
#pragma once

#include <cmath>
#include <limits>

#include "tuner/sim/ops/apply.h"

namespace headtune::sim::HEADTUNE_SIM_ISA {

/// Constants of one format; exponents are the biased fields.
template <class T>
struct Format;
template <>
struct Format<float> {
  static constexpr int mantissa = 23, scale = 64, near_overflow = 96, underflow = -150, bias = 127;
  static constexpr float normal = 0x1p-126f;
  static int exponent(float x) { return as_bits(x) >> 23 & 0xff; }
  static float default_nan() { return as_float(0xffc00000); }
};
template <>
struct Format<double> {
  static constexpr int mantissa = 52, scale = 128, near_overflow = 768, underflow = -1075, bias = 1023;
  static constexpr double normal = 0x1p-1022;
  static int exponent(double x) { return static_cast<int>(as_bits(x) >> 52 & 0x7ff); }
  static double default_nan() { return as_double(0xfff8000000000000); }
};

template <class T>
struct Scaled {
  T value;
  bool flag;  ///< v_div_fmas must undo the scaling of one side
};

/// S0 is the numerator or the denominator; S1 the denominator, S2 the numerator.
template <class T>
Scaled<T> div_scale(T s0, T s1, T s2) {
  using F = Format<T>;
  const auto up = [&] { return std::ldexp(s0, F::scale); };
  const bool tiny_reciprocal = std::fabs(T(1) / s1) < F::normal;
  const bool tiny_quotient = std::fabs(s2 / s1) < F::normal;
  if (s2 == 0 || s1 == 0) return {quiet(std::numeric_limits<T>::quiet_NaN()), false};
  if (F::exponent(s2) - F::exponent(s1) >= F::near_overflow) return {s0 == s1 ? up() : s0, true};
  if (std::fabs(s1) < F::normal) return {up(), false};
  // The ISA document says "up" here, which would overflow; only "down" agrees with what v_div_fmas undoes.
  if (tiny_reciprocal && tiny_quotient) return {s0 == s1 ? std::ldexp(s0, -F::scale) : s0, true};
  if (tiny_reciprocal) return {std::ldexp(s0, -F::scale), false};
  if (tiny_quotient) return {s0 == s2 ? up() : s0, true};
  if (F::exponent(s2) <= F::mantissa + (F::mantissa == 52)) return {up(), false};
  return {s0, false};
}

/// fma, times the power of two that undoes div_scale's one-sided scaling; the quotient estimate s2 tells the direction.
inline float div_fmas(float s0, float s1, float s2, bool scaled) {
  if (!scaled) return std::fma(s0, s1, s2);
  const double exact = static_cast<double>(s0) * s1 + s2;
  return static_cast<float>(std::ldexp(exact, Format<float>::exponent(s2) > 127 ? 64 : -64));
}
inline double div_fmas(double s0, double s1, double s2, bool scaled) {
  const double sum = std::fma(s0, s1, s2);
  return scaled ? std::ldexp(sum, Format<double>::exponent(s2) > 1023 ? 128 : -128) : sum;
}

/// Special cases of quotient s0 of s2 / s1.
template <class T>
T div_fixup(T s0, T s1, T s2) {
  using F = Format<T>;
  const T sign = std::signbit(s1) != std::signbit(s2) ? T(-1) : T(1);
  if (is_nan(s2)) return quiet(s2);
  if (is_nan(s1)) return quiet(s1);
  if ((s1 == 0 && s2 == 0) || (std::isinf(s1) && std::isinf(s2))) return F::default_nan();
  if (s1 == 0 || std::isinf(s2)) return sign * std::numeric_limits<T>::infinity();
  if (std::isinf(s1) || s2 == 0) return sign * T(0);
  if (F::exponent(s2) - F::exponent(s1) < F::underflow) return sign * T(0);
  // Estimates that overflowed leave a NaN behind (infinity - infinity): the quotient of two numbers is then infinite.
  if (is_nan(s0)) return sign * std::numeric_limits<T>::infinity();
  return std::copysign(s0, sign);
}

/// vdst, sdst = div_scale(src0, src1, src2)
template <class T>
void div_scale_handler(Wave& wave, const Inst& inst) {
  Values<T> a_buffer, b_buffer, c_buffer, value;
  Values<std::uint32_t> flags;
  const T* a = fetch<T>(wave, inst, 2, a_buffer);
  const T* b = fetch<T>(wave, inst, 3, b_buffer);
  const T* c = fetch<T>(wave, inst, 4, c_buffer);
  for (int lane = 0; lane < kLanes; ++lane) {
    const Scaled<T> scaled = div_scale(a[lane], b[lane], c[lane]);
    value.lane[lane] = scaled.value;
    flags.lane[lane] = scaled.flag;
  }
  finish<T>(wave, inst, value);
  wave.set_pair(inst.op[1].index, pack_mask(flags.lane) & wave.exec());
}

/// vdst = div_fmas(src0, src1, src2) with vcc
template <class T>
void div_fmas_handler(Wave& wave, const Inst& inst) {
  Values<T> a_buffer, b_buffer, c_buffer, value;
  const T* a = fetch<T>(wave, inst, 1, a_buffer);
  const T* b = fetch<T>(wave, inst, 2, b_buffer);
  const T* c = fetch<T>(wave, inst, 3, c_buffer);
  const std::uint64_t vcc = wave.vcc();
  for (int lane = 0; lane < kLanes; ++lane) value.lane[lane] = div_fmas(a[lane], b[lane], c[lane], vcc >> lane & 1);
  finish<T>(wave, inst, value);
}

}  // namespace headtune::sim::HEADTUNE_SIM_ISA
