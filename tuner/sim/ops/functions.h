// The transcendental functions of the ALU, from sums and products only, so that every computer gets the same bits.
// They are computed in f64 to about 1e-11 and rounded once; the hardware promises 1 ulp of f32.
#pragma once

#include <cmath>
#include <limits>

#include "tuner/sim/ops/float_bits.h"

namespace headtune::sim::HEADTUNE_SIM_ISA {

/// f32 denormals read and written as zero: these instructions flush them whatever MODE says.
inline float without_denormal(float x) { return std::fabs(x) < 0x1p-126f ? std::copysign(0.0f, x) : x; }

/// 2^x for |x| <= 1100 or so.
inline double exp2_exact(double x) {
  const double whole = std::floor(x + 0.5);
  const double t = (x - whole) * 0.693147180559945309417;  // |t| <= 0.3466: ten terms leave 2e-13
  double sum = 1.0 / 3628800.0;
  sum = sum * t + 1.0 / 362880.0;
  sum = sum * t + 1.0 / 40320.0;
  sum = sum * t + 1.0 / 5040.0;
  sum = sum * t + 1.0 / 720.0;
  sum = sum * t + 1.0 / 120.0;
  sum = sum * t + 1.0 / 24.0;
  sum = sum * t + 1.0 / 6.0;
  sum = sum * t + 0.5;
  sum = sum * t + 1.0;
  sum = sum * t + 1.0;
  return sum * as_double(static_cast<std::uint64_t>(static_cast<std::int64_t>(static_cast<std::int32_t>(whole)) + 1023)
                         << 52);
}

inline float exp2_f32(float x) {
  const float bounded = x < -200.0f ? -200.0f : x > 200.0f ? 200.0f : x;
  const float result = without_denormal(static_cast<float>(exp2_exact(is_nan(x) ? 0.0f : bounded)));
  return is_nan(x) ? quiet(x) : result;
}

/// log2 of a positive normal double.
inline double log2_exact(double x) {
  const std::uint64_t bits = as_bits(x);
  // Splits at sqrt(1/2), so that the mantissa lies in [0.707, 1.414).
  const std::uint64_t shifted = bits - 0x3fe6a09e667f3bcd;
  const auto exponent = static_cast<std::int32_t>(static_cast<std::int32_t>(shifted >> 32) >> 20);
  const double mantissa = as_double(bits - (static_cast<std::uint64_t>(static_cast<std::int64_t>(exponent)) << 52));
  const double s = (mantissa - 1.0) / (mantissa + 1.0), z = s * s;  // ln m = 2 atanh s
  double sum = 1.0 / 17.0;
  sum = sum * z + 1.0 / 15.0;
  sum = sum * z + 1.0 / 13.0;
  sum = sum * z + 1.0 / 11.0;
  sum = sum * z + 1.0 / 9.0;
  sum = sum * z + 1.0 / 7.0;
  sum = sum * z + 1.0 / 5.0;
  sum = sum * z + 1.0 / 3.0;
  sum = sum * z + 1.0;
  return exponent + sum * s * 2.88539008177792681472;  // 2 / ln 2
}

inline float log2_f32(float x) {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  const float flushed = without_denormal(x);
  const bool ordinary = flushed > 0 && flushed < infinity;
  const auto result = static_cast<float>(log2_exact(ordinary ? flushed : 1.0f));
  const float special = flushed == 0 ? -infinity : flushed < 0 ? std::numeric_limits<float>::quiet_NaN() : x;
  return ordinary ? result : special;
}

/// sin(2 pi x) for |x| <= 0.5: folded to a quarter turn, then the series to the 19th power.
inline double sin_turn(double x) {
  const double folded = std::fabs(x) > 0.25 ? std::copysign(0.5, x) - x : x;
  const double y = folded * 6.28318530717958647693, z = y * y;
  double sum = -1.0 / 121645100408832000.0;
  sum = sum * z + 1.0 / 355687428096000.0;
  sum = sum * z - 1.0 / 1307674368000.0;
  sum = sum * z + 1.0 / 6227020800.0;
  sum = sum * z - 1.0 / 39916800.0;
  sum = sum * z + 1.0 / 362880.0;
  sum = sum * z - 1.0 / 5040.0;
  sum = sum * z + 1.0 / 120.0;
  sum = sum * z - 1.0 / 6.0;
  sum = sum * z + 1.0;
  return sum * y;
}

/// Sine of x turns, shifted by `phase`; NaN for an infinity.
inline float sin_f32(float x, double phase) {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  const double whole = without_denormal(x);
  const double turns = whole - std::floor(whole + 0.5) + phase;  // reduced first: a large x would swallow the phase
  const double rest = turns - std::floor(turns + 0.5);
  const bool ordinary = std::fabs(x) < infinity;
  const auto result = static_cast<float>(sin_turn(ordinary ? rest : 0.0));
  return ordinary ? result : is_nan(x) ? quiet(x) : std::numeric_limits<float>::quiet_NaN();
}

}  // namespace headtune::sim::HEADTUNE_SIM_ISA
