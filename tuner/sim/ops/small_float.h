// Floats of 4 to 8 bits: one description for all of them, decoded and encoded by arithmetic on their values.
#pragma once

#include <cmath>
#include <limits>

#include "tuner/sim/ops/float_bits.h"

namespace headtune::sim::HEADTUNE_SIM_ISA {

struct SmallFloat {
  int exponent;  ///< field widths
  int mantissa;
  int bias;
  bool fnuz;        ///< the code of -0 is NaN; no other NaN, no infinity
  bool infinity;    ///< the top exponent holds infinity and NaNs
  bool top_is_nan;  ///< only the all-ones code is NaN (e4m3fn); otherwise, without `infinity`, every code is a number

  int sign_bit() const { return exponent + mantissa; }
  std::uint32_t codes() const { return 1u << sign_bit(); }  ///< of one sign
  /// Code of the largest finite magnitude.
  std::uint32_t largest() const {
    if (infinity) return (((1u << exponent) - 1) << mantissa) - 1;
    return codes() - (top_is_nan ? 2 : 1);
  }
};

inline constexpr SmallFloat e4m3fn{4, 3, 7, false, false, true};
inline constexpr SmallFloat e5m2{5, 2, 15, false, true, false};
inline constexpr SmallFloat e4m3fnuz{4, 3, 8, true, false, false};
inline constexpr SmallFloat e5m2fnuz{5, 2, 16, true, false, false};
inline constexpr SmallFloat e2m1{2, 1, 1, false, false, false};
inline constexpr SmallFloat e2m3{2, 3, 1, false, false, false};
inline constexpr SmallFloat e3m2{3, 2, 3, false, false, false};

/// Exact power of two, for exponents of normal floats.
inline float power_of_two(int exponent) { return as_float(static_cast<std::uint32_t>(exponent + 127) << 23); }

inline float decode_small(const SmallFloat& f, std::uint32_t code) {
  const std::uint32_t magnitude = code & (f.codes() - 1);
  const bool negative = code >> f.sign_bit() & 1;
  constexpr float nan = std::numeric_limits<float>::quiet_NaN();
  if (f.fnuz && negative && magnitude == 0) return nan;
  if (magnitude > f.largest()) {
    if (f.infinity && magnitude == f.largest() + 1) return negative ? -HUGE_VALF : HUGE_VALF;
    return nan;
  }
  const int exponent = static_cast<int>(magnitude >> f.mantissa);
  const auto fraction = static_cast<float>(magnitude & ((1u << f.mantissa) - 1));
  const float one = static_cast<float>(1u << f.mantissa);
  const float value = exponent == 0 ? fraction * power_of_two(1 - f.bias - f.mantissa)
                                    : (one + fraction) * power_of_two(exponent - f.bias - f.mantissa);
  return negative ? -value : value;
}

/// What a NaN or an infinity becomes, or an overflow that does not clamp.
inline std::uint32_t special_code(const SmallFloat& f, bool negative, bool nan) {
  const std::uint32_t sign = negative ? f.codes() : 0;
  if (f.fnuz) return f.codes();
  if (f.infinity) return sign | (f.largest() + (nan ? 3 : 1));
  return sign | (f.top_is_nan ? f.codes() - 1 : f.largest());
}

/// Code of a magnitude that is `steps` of the grid at the exponent of `value`; carries move into the exponent.
inline std::uint32_t code_of(const SmallFloat& f, float steps, int exponent) {
  const int lowest = 1 - f.bias;
  const auto count = static_cast<std::uint32_t>(steps);
  return count + (static_cast<std::uint32_t>(exponent - lowest) << f.mantissa);
}

/// Steps of the format's grid in |value|, unrounded, and the grid's exponent.
inline float grid_steps(const SmallFloat& f, float magnitude, int& exponent) {
  const int lowest = 1 - f.bias;
  const int own = static_cast<int>(as_bits(magnitude) >> 23) - 127;
  exponent = own < lowest ? lowest : own;
  const int scale = f.mantissa - exponent;  // magnitude * 2^scale, in two factors that are normal floats
  return magnitude * power_of_two(scale / 2) * power_of_two(scale - scale / 2);
}

inline std::uint32_t finish_code(const SmallFloat& f, float value, float steps, int exponent, bool clamps) {
  const bool negative = std::signbit(value);
  const std::uint32_t code = code_of(f, steps, exponent);
  if (code > f.largest()) return clamps ? (negative ? f.codes() : 0) | f.largest() : special_code(f, negative, false);
  if (f.fnuz && code == 0) return 0;  // no negative zero
  return (negative ? f.codes() : 0) | code;
}

/// Nearest even. `clamps`: overflow gives the largest finite value, otherwise infinity or NaN.
inline std::uint32_t encode_small(const SmallFloat& f, float value, bool clamps) {
  if (is_nan(value) || std::isinf(value)) return special_code(f, std::signbit(value), is_nan(value));
  int exponent = 0;
  const float steps = grid_steps(f, std::fabs(value), exponent);
  return finish_code(f, value, round_even(steps), exponent, clamps);
}

/// Rounds up with the probability of the part cut off: the top bits of `random` are added below the last kept bit.
inline std::uint32_t encode_small_stochastic(const SmallFloat& f, float value, std::uint32_t random, bool clamps) {
  if (is_nan(value) || std::isinf(value)) return special_code(f, std::signbit(value), is_nan(value));
  int exponent = 0;
  const float steps = grid_steps(f, std::fabs(value), exponent);
  const int bits = 23 - f.mantissa;  // random bits that matter: those of an f32 mantissa that are cut off
  const double fraction = static_cast<double>(random >> (32 - bits)) / static_cast<double>(1u << bits);
  return finish_code(f, value, static_cast<float>(std::floor(steps + fraction)), exponent, clamps);
}

}  // namespace headtune::sim::HEADTUNE_SIM_ISA
