// Arithmetic for the references: slow, scalar, by value rather than by bits, independent of the handlers' code.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace headtune::sim::ref {

using u32 = std::uint32_t;
using i32 = std::int32_t;
using u64 = std::uint64_t;
using i64 = std::int64_t;

inline float f32(u64 bits) { return std::bit_cast<float>(static_cast<u32>(bits)); }
inline double f64(u64 bits) { return std::bit_cast<double>(bits); }
inline u64 bits(float x) { return std::bit_cast<u32>(x); }
inline u64 bits(double x) { return std::bit_cast<u64>(x); }

/// Value of a binary float of `exponent` and `mantissa` bits with infinities and NaNs (IEEE layout).
inline double ieee(u32 code, int exponent, int mantissa) {
  const int bias = (1 << (exponent - 1)) - 1;
  const u32 e = code >> mantissa & ((1u << exponent) - 1), m = code & ((1u << mantissa) - 1);
  const double sign = code >> (exponent + mantissa) & 1 ? -1.0 : 1.0;
  if (e == (1u << exponent) - 1) return m ? std::numeric_limits<double>::quiet_NaN() : sign * HUGE_VAL;
  const double fraction = m / std::pow(2.0, mantissa);
  return sign * (e == 0 ? fraction * std::pow(2.0, 1 - bias) : (1 + fraction) * std::pow(2.0, int(e) - bias));
}

/// A signalling NaN stays one, so that minimum and maximum see it.
inline double half(u64 code) {
  const bool signalling = (code & 0x7e00) == 0x7c00 && (code & 0x1ff) != 0;
  return signalling ? f64(0x7ff4000000000000) : ieee(static_cast<u32>(code & 0xffff), 5, 10);
}
inline double bfloat(u64 code) { return f32((code & 0xffff) << 16); }

/// Nearest half to an exact value, ties to even, by searching the ordered codes.
inline u32 to_half(double x) {
  const u32 sign = std::signbit(x) ? 0x8000 : 0;
  if (std::isnan(x)) return 0x7e00;
  const double magnitude = std::fabs(x);
  if (magnitude >= 65520.0) return sign | 0x7c00;
  u32 low = 0, high = 0x7bff;  // largest code whose value is at most the magnitude
  while (low < high) {
    const u32 middle = (low + high + 1) / 2;
    if (half(middle) <= magnitude)
      low = middle;
    else
      high = middle - 1;
  }
  if (low == 0x7bff) return sign | low;
  const double below = magnitude - half(low), above = half(low + 1) - magnitude;
  const bool up = above < below || (above == below && (low & 1));
  return sign | (low + up);
}

inline u32 to_bfloat(double x) {
  if (std::isnan(x)) return 0x7fc0;
  const float single = static_cast<float>(x);  // the references convert f32 values only
  const u32 code = static_cast<u32>(bits(single));
  const float down = f32(code & 0xffff0000);
  const float up = f32((code & 0xffff0000) + 0x10000);
  if (std::isinf(single) || down == single) return code >> 16;
  const double below = std::fabs(double(single) - down),
               above = std::isinf(up) ? std::fabs(std::ldexp(1.0, 128) - std::fabs(double(single)))
                                      : std::fabs(double(up) - single);
  const bool round_up = above < below || (above == below && (code >> 16 & 1));
  return (code >> 16) + round_up;
}

inline bool signalling(float x) { return std::isnan(x) && (bits(x) & 0x400000) == 0; }
inline bool signalling(double x) { return std::isnan(x) && (bits(x) & 0x8000000000000) == 0; }

/// IEEE 754-2008 minNum and maxNum with ordered zeros, on values; a signalling NaN makes NaN.
template <class T>
T min_num(T a, T b) {
  if (signalling(a) || signalling(b)) return std::numeric_limits<T>::quiet_NaN();
  if (std::isnan(a)) return b;
  if (std::isnan(b)) return a;
  if (a == 0 && b == 0) return std::signbit(a) ? a : b;
  return a < b ? a : b;
}
template <class T>
T max_num(T a, T b) {
  if (signalling(a) || signalling(b)) return std::numeric_limits<T>::quiet_NaN();
  if (std::isnan(a)) return b;
  if (std::isnan(b)) return a;
  if (a == 0 && b == 0) return std::signbit(a) ? b : a;
  return a > b ? a : b;
}
/// The middle of three numbers by sorting; with a NaN among them, the minimum of all.
template <class T>
T med_num(T a, T b, T c) {
  if (std::isnan(a) || std::isnan(b) || std::isnan(c)) return min_num(min_num(a, b), c);
  return max_num(min_num(a, b), min_num(max_num(a, b), c));
}

/// Bit n of a word, and a field of it.
inline u32 bit(u64 x, int n) { return static_cast<u32>(x >> n & 1); }
inline u32 field(u64 x, int low, int width) { return static_cast<u32>(x >> low & ((u64{1} << width) - 1)); }
inline i64 sign_extended(u64 x, int width) {
  const u64 low = x & ((u64{1} << width) - 1);
  return bit(x, width - 1) ? static_cast<i64>(low) - (i64{1} << width) : static_cast<i64>(low);
}

}  // namespace headtune::sim::ref
