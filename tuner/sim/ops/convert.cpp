// Conversions between integers, f16, bf16, f32 and f64.
#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include "tuner/sim/ops/apply.h"

namespace headtune::sim::HEADTUNE_SIM_ISA {
namespace {

using U = std::uint32_t;
using I = std::int32_t;

/// Towards zero, saturating; NaN is 0.
I to_i32(float x) {
  const float inside = x >= -0x1p31f && x < 0x1p31f ? x : 0.0f;
  return x >= 0x1p31f   ? std::numeric_limits<I>::max()
         : x < -0x1p31f ? std::numeric_limits<I>::min()
                        : static_cast<I>(inside);
}
U to_u32(float x) {
  const float inside = x > 0 && x < 0x1p32f ? x : 0.0f;
  // Through the signed range, which vectorises everywhere.
  const U low = inside >= 0x1p31f ? static_cast<U>(static_cast<I>(inside - 0x1p31f)) + 0x80000000
                                  : static_cast<U>(static_cast<I>(inside));
  return x >= 0x1p32f ? ~0u : low;
}
I to_i32(double x) {
  if (is_nan(x)) return 0;
  return x >= 0x1p31 ? std::numeric_limits<I>::max() : x <= -0x1p31 ? std::numeric_limits<I>::min() : static_cast<I>(x);
}
U to_u32(double x) {
  if (!(x > 0)) return 0;
  return x >= 0x1p32 ? ~0u : static_cast<U>(x);
}
float from_u32(U x) { return static_cast<float>(static_cast<double>(x)); }

i16 to_i16(f16 x) {
  return {is_nan(x.value) ? 0 : x.value >= 32767.0f ? 32767 : x.value <= -32768.0f ? -32768 : static_cast<I>(x.value)};
}
b16 to_u16(f16 x) { return {!(x.value > 0) ? 0u : x.value >= 65535.0f ? 65535u : static_cast<U>(x.value)}; }

/// [-1, 1] to a signed, [0, 1] to an unsigned 16-bit fraction; NaN is 0.
U to_snorm(float x) {
  const float inside = is_nan(x) ? 0.0f : x < -1 ? -1.0f : x > 1 ? 1.0f : x;
  return static_cast<U>(static_cast<I>(round_even(inside * 32767.0f))) & 0xffff;
}
U to_unorm(float x) {
  const float inside = !(x > 0) ? 0.0f : x > 1 ? 1.0f : x;
  return static_cast<U>(static_cast<I>(round_even(inside * 65535.0f)));
}

U to_u8(float x) { return (!(x > 0) ? 0 : x >= 255.0f ? 255 : static_cast<U>(round_even(x))); }
U pack_u8(float x, U byte, U into) {
  const U shift = (byte & 3) * 8;
  return (into & ~(0xffu << shift)) | to_u8(x) << shift;
}

U bf16_pair(float a, float b) { return f32_to_bf16(a) | f32_to_bf16(b) << 16; }
U f16_pair(float a, float b) { return f32_to_f16(a) | f32_to_f16(b) << 16; }

/// To a half, towards zero: the denormal and overflow cases fall out of truncating the magnitude.
U truncated_f16(float x) {
  const U bits = as_bits(x), magnitude = bits & 0x7fffffff, sign = bits >> 16 & 0x8000;
  const U normal = (magnitude - 0x38000000) >> 13;
  const U exponent = magnitude >> 23, shift = exponent < 88 ? 31 : 126 - exponent;  // denormal halves: below 2^-14
  const U denormal = shift > 24 ? 0 : ((magnitude & 0x7fffff) | 0x800000) >> shift;
  const U number = magnitude < 0x38800000    ? denormal
                   : magnitude >= 0x47800000 ? (magnitude == 0x7f800000 ? 0x7c00 : 0x7bff)
                                             : normal;
  return sign | (magnitude > 0x7f800000 ? 0x7e00 | (magnitude >> 13 & 0x3ff) : number);
}
U f16_pair_to_zero(float a, float b) { return truncated_f16(a) | truncated_f16(b) << 16; }

/// Stochastic rounding: random bits below the kept mantissa are added before truncation.
U stochastic_bf16(float x, U random) {
  const U bits = as_bits(x);
  if ((bits & 0x7f800000) == 0x7f800000) return f32_to_bf16(x);
  return (bits + (random >> 16)) >> 16;
}
U stochastic_f16(float x, U random) {
  const U bits = as_bits(x);
  if ((bits & 0x7f800000) == 0x7f800000) return f32_to_f16(x);
  return truncated_f16(as_float(bits + (random >> 19)));
}

float signed_nibble_fraction(U x) { return static_cast<float>(static_cast<I>(x << 28) >> 28) * 0.0625f; }

/// Results that land in one half of a register and keep the other.
template <auto F>
b16 low_half(float x, U random) {
  return {F(x, random)};
}

constexpr Class f64 = Class::valu_f64;

constexpr OpEntry table[] = {
    op<[](float a) { return to_i32(a); }>("v_cvt_i32_f32"),
    op<[](float a) { return to_u32(a); }>("v_cvt_u32_f32"),
    op<[](I a) { return static_cast<float>(a); }>("v_cvt_f32_i32"),
    op<from_u32>("v_cvt_f32_u32"),
    op<[](double a) { return to_i32(a); }>("v_cvt_i32_f64", f64),
    op<[](double a) { return to_u32(a); }>("v_cvt_u32_f64", f64),
    op<[](I a) { return static_cast<double>(a); }>("v_cvt_f64_i32", f64),
    op<[](U a) { return static_cast<double>(a); }>("v_cvt_f64_u32", f64),
    op<[](double a) { return static_cast<float>(a); }>("v_cvt_f32_f64", f64),
    op<[](float a) { return static_cast<double>(a); }>("v_cvt_f64_f32", f64),
    op<[](float a) { return f16{a}; }>("v_cvt_f16_f32"),
    op<[](f16 a) { return a.value; }>("v_cvt_f32_f16"),
    op<[](b16 a) { return bf16_to_f32(a.value); }>("v_cvt_f32_bf16"),
    op<[](float a) { return to_i32(std::floor(a + 0.5f)); }>("v_cvt_rpi_i32_f32"),
    op<[](float a) { return to_i32(std::floor(a)); }>("v_cvt_flr_i32_f32"),
    op<signed_nibble_fraction>("v_cvt_off_f32_i4"),
    op<[](U a) { return from_u32(a & 0xff); }>("v_cvt_f32_ubyte0"),
    op<[](U a) { return from_u32(a >> 8 & 0xff); }>("v_cvt_f32_ubyte1"),
    op<[](U a) { return from_u32(a >> 16 & 0xff); }>("v_cvt_f32_ubyte2"),
    op<[](U a) { return from_u32(a >> 24); }>("v_cvt_f32_ubyte3"),
    op<[](b16 a) { return f16{from_u32(a.value)}; }>("v_cvt_f16_u16"),
    op<[](i16 a) { return f16{static_cast<float>(a.value)}; }>("v_cvt_f16_i16"),
    op<to_u16>("v_cvt_u16_f16"),
    op<to_i16>("v_cvt_i16_f16"),
    op<[](f16 a) { return b16{to_snorm(a.value)}; }>("v_cvt_norm_i16_f16"),
    op<[](f16 a) { return b16{to_unorm(a.value)}; }>("v_cvt_norm_u16_f16"),
    op<[](float a, float b) { return to_snorm(a) | to_snorm(b) << 16; }>("v_cvt_pknorm_i16_f32"),
    op<[](float a, float b) { return to_unorm(a) | to_unorm(b) << 16; }>("v_cvt_pknorm_u16_f32"),
    op<[](f16 a, f16 b) { return to_snorm(a.value) | to_snorm(b.value) << 16; }>("v_cvt_pknorm_i16_f16"),
    op<[](f16 a, f16 b) { return to_unorm(a.value) | to_unorm(b.value) << 16; }>("v_cvt_pknorm_u16_f16"),
    op<f16_pair_to_zero>("v_cvt_pkrtz_f16_f32"),
    op<f16_pair>("v_cvt_pk_f16_f32"),
    op<bf16_pair>("v_cvt_pk_bf16_f32"),
    op<[](U a, U b) { return std::min(a, 0xffffu) | std::min(b, 0xffffu) << 16; }>("v_cvt_pk_u16_u32"),
    op<[](I a, I b) {
      const I low = std::min(std::max(a, -0x8000), 0x7fff), high = std::min(std::max(b, -0x8000), 0x7fff);
      return (static_cast<U>(low) & 0xffff) | static_cast<U>(high) << 16;
    }>("v_cvt_pk_i16_i32"),
    op<pack_u8>("v_cvt_pk_u8_f32"),
    op<low_half<stochastic_f16>>("v_cvt_sr_f16_f32", Class::valu, keeps_high),
    op<low_half<stochastic_bf16>>("v_cvt_sr_bf16_f32", Class::valu, keeps_high),
};

}  // namespace

std::span<const OpEntry> convert_ops() { return table; }

}  // namespace headtune::sim::HEADTUNE_SIM_ISA
