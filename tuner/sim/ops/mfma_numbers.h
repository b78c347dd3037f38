// Number formats of the matrix instructions, widened to f32 64 lanes at a time.
#pragma once

#include <cstdint>
#include <cstring>

#include "tuner/sim/ops/operands.h"

namespace headtune::sim::HEADTUNE_SIM_ISA {

enum class Format : std::uint8_t { f64, f32, xf32, f16, bf16, e4m3fn, e5m2, e4m3fnuz, e5m2fnuz, e2m3, e3m2, e2m1, i8 };

/// A float of sign, `exponent` and `mantissa` bits. `nan` tells which encodings are not numbers.
struct Encoding {
  int exponent, mantissa, bias;
  enum { ieee, none, all_ones, minus_zero } nan;
};

inline constexpr Encoding kF16{5, 10, 15, Encoding::ieee};
inline constexpr Encoding kE4m3fn{4, 3, 7, Encoding::all_ones};
inline constexpr Encoding kE5m2{5, 2, 15, Encoding::ieee};
inline constexpr Encoding kE4m3fnuz{4, 3, 8, Encoding::minus_zero};
inline constexpr Encoding kE5m2fnuz{5, 2, 16, Encoding::minus_zero};
inline constexpr Encoding kE2m3{2, 3, 1, Encoding::none};
inline constexpr Encoding kE3m2{3, 2, 3, Encoding::none};
inline constexpr Encoding kE2m1{2, 1, 1, Encoding::none};

/// Bits per element.
constexpr int width(Format format) {
  switch (format) {
    case Format::f64:
      return 64;
    case Format::f32:
    case Format::xf32:
      return 32;
    case Format::f16:
    case Format::bf16:
      return 16;
    case Format::e2m3:
    case Format::e3m2:
      return 6;
    case Format::e2m1:
      return 4;
    default:
      return 8;
  }
}

constexpr bool is_16_bit(Format format) { return width(format) == 16; }

/// Exact value of the low bits of `code`; written so that a loop over lanes vectorises.
template <Encoding F>
inline float widen(std::uint32_t code) {
  constexpr std::uint32_t magnitude_bits = (1u << (F.exponent + F.mantissa)) - 1;
  const std::uint32_t magnitude = code & magnitude_bits;
  const std::uint32_t sign = (code >> (F.exponent + F.mantissa) & 1) << 31;
  // Re-bias the exponent; a denormal is its mantissa times the smallest step.
  std::uint32_t bits = (magnitude << (23 - F.mantissa)) + ((127u - F.bias) << 23);
  constexpr std::uint32_t step = (127u + 1 - F.bias - F.mantissa) << 23;
  float smallest;
  std::memcpy(&smallest, &step, 4);
  const float denormal = static_cast<float>(static_cast<std::int32_t>(magnitude)) * smallest;
  std::uint32_t denormal_bits;
  std::memcpy(&denormal_bits, &denormal, 4);
  bits = magnitude >> F.mantissa ? bits : denormal_bits;
  if constexpr (F.nan == Encoding::ieee) {
    constexpr std::uint32_t top = ((1u << F.exponent) - 1) << F.mantissa;
    bits = magnitude >= top ? 0x7f800000 | (magnitude << (23 - F.mantissa)) : bits;
  } else if constexpr (F.nan == Encoding::all_ones) {
    bits = magnitude == magnitude_bits ? 0x7fc00000 : bits;
  } else if constexpr (F.nan == Encoding::minus_zero) {
    bits = (magnitude == 0 && sign) ? 0x7fc00000 : bits;
  }
  bits |= sign;
  float value;
  std::memcpy(&value, &bits, 4);
  return value;
}

/// f32 rounded to the 10 mantissa bits of xf32, to nearest even.
inline std::uint32_t round_xf32(std::uint32_t bits) {
  const bool finite = (bits & 0x7f800000) != 0x7f800000;
  const std::uint32_t rounded = (bits + 0xfff + (bits >> 13 & 1)) & ~0x1fffu;
  return finite ? rounded : bits;
}

/// A denormal f32 becomes a zero of its sign.
inline std::uint32_t flush_f32(std::uint32_t bits) { return bits & 0x7f800000 ? bits : bits & 0x80000000; }

/// Element `element` of a lane's packed operand, which starts at vector register `index`, in all 64 lanes.
/// `flush`: denormal inputs count as zero (f16 and bf16 of gfx90a).
void widen_element(const Wave& wave, int index, Format format, int element, bool flush, float* to);

/// The same for i8.
void widen_element(const Wave& wave, int index, int element, std::int32_t* to);

}  // namespace headtune::sim::HEADTUNE_SIM_ISA
