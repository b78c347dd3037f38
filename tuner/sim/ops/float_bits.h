// Conversions between f32 and the 16-bit formats, as branch-free bit arithmetic that vectorises.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

#include "tuner/sim/ops/operands.h"

namespace headtune::sim::HEADTUNE_SIM_ISA {

inline float as_float(std::uint32_t bits) { return std::bit_cast<float>(bits); }
inline std::uint32_t as_bits(float value) { return std::bit_cast<std::uint32_t>(value); }
inline double as_double(std::uint64_t bits) { return std::bit_cast<double>(bits); }
inline std::uint64_t as_bits(double value) { return std::bit_cast<std::uint64_t>(value); }

/// The low 16 bits as an IEEE half.
inline float f16_to_f32(std::uint32_t half) {
  const std::uint32_t magnitude = (half & 0x7fff) << 13;
  const std::uint32_t sign = (half & 0x8000) << 16;
  const std::uint32_t finite = as_bits(as_float(magnitude) * 0x1p112f);  // moves the exponent bias from 15 to 127
  const std::uint32_t special = magnitude | 0x7f800000;
  return as_float(sign | ((half & 0x7c00) == 0x7c00 ? special : finite));
}

/// Nearest even; the host must be in its default rounding mode.
inline std::uint32_t f32_to_f16(float value) {
  const std::uint32_t bits = as_bits(value);
  const std::uint32_t sign = bits >> 16 & 0x8000;
  const std::uint32_t magnitude = bits & 0x7fffffff;
  std::uint32_t normal = (magnitude + 0xfff + (magnitude >> 13 & 1) - 0x38000000) >> 13;
  normal = magnitude >= 0x477ff000 ? 0x7c00 : normal;
  // Adding 0.5 leaves a half's denormal grid (2^-24) as the float's last bit.
  const std::uint32_t denormal = as_bits(as_float(magnitude) + 0.5f) - 0x3f000000;
  const std::uint32_t nan = 0x7e00 | (magnitude >> 13 & 0x3ff);
  const std::uint32_t number = magnitude < 0x38800000 ? denormal : normal;
  return sign | (magnitude > 0x7f800000 ? nan : number);
}

inline float bf16_to_f32(std::uint32_t bits) { return as_float(bits << 16); }

/// Nearest even.
inline std::uint32_t f32_to_bf16(float value) {
  const std::uint32_t bits = as_bits(value);
  const std::uint32_t rounded = (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
  const std::uint32_t nan = bits >> 16 | 0x40;
  return (bits & 0x7fffffff) > 0x7f800000 ? nan : rounded;
}

/// f32 to half in any rounding mode of the MODE register (0 nearest even, 1 up, 2 down, 3 to zero); not vectorised.
std::uint32_t f32_to_f16_rounded(float value, int rounding);

/// An f32 that rounds to the right half although the exact sum a * b + c has more bits: the product of two halves is
/// exact, and the sum is rounded to odd, which a second rounding cannot spoil.
inline float fma_for_f16(float a, float b, float c) {
  const float product = a * b;
  const float sum = product + c;
  const float part = sum - product;
  const float error = (product - (sum - part)) + (c - part);
  const std::uint32_t bits = as_bits(sum);
  const bool inexact = error != 0 && (bits & 1) == 0 && (bits & 0x7f800000) != 0x7f800000;
  const std::uint32_t away = ((as_bits(error) ^ bits) >> 31) == 0 ? 1u : ~0u;
  return as_float(inexact ? bits + away : bits);
}

/// To the nearest integer, ties to even, in whatever rounding mode the host is.
template <class T>
inline T round_even(T x) {
  const T whole = std::trunc(x);
  const T rest = std::fabs(x - whole);
  const bool odd = whole * T(0.5) != std::trunc(whole * T(0.5));
  const bool away = rest > T(0.5) || (rest == T(0.5) && odd);
  return std::copysign(std::fabs(whole) + (away ? T(1) : T(0)), x);
}

inline bool is_nan(float value) { return value != value; }
inline bool is_nan(double value) { return value != value; }
inline bool is_signalling(float value) { return is_nan(value) && (as_bits(value) & 0x400000) == 0; }
inline bool is_signalling(double value) { return is_nan(value) && (as_bits(value) & 0x8000000000000) == 0; }
inline float quiet(float value) { return as_float(as_bits(value) | 0x400000); }
inline double quiet(double value) { return as_double(as_bits(value) | 0x8000000000000); }

}  // namespace headtune::sim::HEADTUNE_SIM_ISA
