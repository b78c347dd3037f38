// Vector ALU on f32.
#include <cmath>
#include <span>

#include "tuner/sim/ops/apply.h"
#include "tuner/sim/ops/division.h"
#include "tuner/sim/ops/extremes.h"

namespace headtune::sim::HEADTUNE_SIM_ISA {
namespace {

/// x * 2^e, rounded once: the product is exact in f64 for every exponent that matters.
float scaled(float x, std::int32_t exponent) {
  const std::int32_t e = exponent < -400 ? -400 : exponent > 400 ? 400 : exponent;
  return static_cast<float>(x * as_double(static_cast<std::uint64_t>(e + 1023) << 52));
}

float mantissa(float x) {
  int exponent = 0;
  return std::isfinite(x) ? std::frexp(x, &exponent) : x;
}
std::int32_t exponent(float x) {
  int exponent = 0;
  if (std::isfinite(x)) std::frexp(x, &exponent);
  return exponent;
}

float legacy_product(float a, float b) { return a == 0 || b == 0 ? 0.0f : a * b; }

// Cube map coordinates: the face is that of the largest component, z before y before x.
bool face_z(float x, float y, float z) { return std::fabs(z) >= std::fabs(x) && std::fabs(z) >= std::fabs(y); }
bool face_y(float x, float y) { return std::fabs(y) >= std::fabs(x); }
float cube_id(float x, float y, float z) {
  if (face_z(x, y, z)) return z < 0 ? 5.0f : 4.0f;
  if (face_y(x, y)) return y < 0 ? 3.0f : 2.0f;
  return x < 0 ? 1.0f : 0.0f;
}
float cube_s(float x, float y, float z) {
  if (face_z(x, y, z)) return z < 0 ? -x : x;
  if (face_y(x, y)) return x;
  return x < 0 ? z : -z;
}
float cube_t(float x, float y, float z) {
  if (face_z(x, y, z)) return -y;
  if (face_y(x, y)) return y < 0 ? -z : z;
  return -y;
}
float cube_major(float x, float y, float z) { return 2.0f * (face_z(x, y, z) ? z : face_y(x, y) ? y : x); }

template <bool Ieee>
float min_f32(float a, float b) {
  return minimum_number<Ieee>(a, b);
}
template <bool Ieee>
float max_f32(float a, float b) {
  return maximum_number<Ieee>(a, b);
}
template <bool Ieee>
float min3_f32(float a, float b, float c) {
  return min3<Ieee>(a, b, c);
}
template <bool Ieee>
float max3_f32(float a, float b, float c) {
  return max3<Ieee>(a, b, c);
}
template <bool Ieee>
float med3_f32(float a, float b, float c) {
  return median<Ieee>(a, b, c);
}

constexpr OpEntry table[] = {
    op<[](float a, float b) { return a + b; }>("v_add_f32"),
    op<[](float a, float b) { return a - b; }>("v_sub_f32"),
    op<[](float a, float b) { return b - a; }>("v_subrev_f32"),
    op<[](float a, float b) { return a * b; }>("v_mul_f32"),
    op<legacy_product>("v_mul_legacy_f32"),
    op<[](float a, float b, float c) { return std::fma(a, b, c); }>("v_fma_f32"),
    accumulating<[](float a, float b, float c) { return std::fma(a, b, c); }>("v_fmac_f32"),
    op<[](float a, float b, float c) { return std::fma(a, b, c); }>("v_fmamk_f32"),
    op<[](float a, float b, float c) { return std::fma(a, b, c); }>("v_fmaak_f32"),
    accumulating<[](float a, float b, float c) { return a * b + c; }>("v_mac_f32"),
    op<[](float a, float b, float c) { return a * b + c; }>("v_mad_f32"),
    op<[](float a, float b, float c) { return a * b + c; }>("v_madmk_f32"),
    op<[](float a, float b, float c) { return a * b + c; }>("v_madak_f32"),
    op<[](float a, float b, float c) { return legacy_product(a, b) + c; }>("v_mad_legacy_f32"),
    ieee_op<min_f32<true>, min_f32<false>>("v_min_f32"),
    ieee_op<max_f32<true>, max_f32<false>>("v_max_f32"),
    ieee_op<min3_f32<true>, min3_f32<false>>("v_min3_f32"),
    ieee_op<max3_f32<true>, max3_f32<false>>("v_max3_f32"),
    ieee_op<med3_f32<true>, med3_f32<false>>("v_med3_f32"),
    op<[](float a, float b, float c) { return minimum(minimum(a, b), c); }>("v_minimum3_f32"),
    op<[](float a, float b, float c) { return maximum(maximum(a, b), c); }>("v_maximum3_f32"),
    op<[](float a) { return std::trunc(a); }>("v_trunc_f32"),
    op<[](float a) { return std::ceil(a); }>("v_ceil_f32"),
    op<[](float a) { return std::floor(a); }>("v_floor_f32"),
    op<[](float a) { return round_even(a); }>("v_rndne_f32"),
    op<[](float a) { return a - std::floor(a); }>("v_fract_f32"),
    op<[](float a, std::int32_t b) { return scaled(a, b); }>("v_ldexp_f32"),
    op<mantissa>("v_frexp_mant_f32"),
    op<exponent>("v_frexp_exp_i32_f32"),
    op<cube_id>("v_cubeid_f32"),
    op<cube_s>("v_cubesc_f32"),
    op<cube_t>("v_cubetc_f32"),
    op<cube_major>("v_cubema_f32"),
    {"v_div_scale_f32",
     div_scale_handler<float>,
     Class::valu,
     2,
     0,
     {Type::f32, Type::b64, Type::f32, Type::f32, Type::f32}},
    {"v_div_fmas_f32",
     div_fmas_handler<float>,
     Class::valu,
     1,
     reads_vcc,
     {Type::f32, Type::f32, Type::f32, Type::f32}},
    op<div_fixup<float>>("v_div_fixup_f32"),
};

}  // namespace

std::span<const OpEntry> real_ops() { return table; }

}  // namespace headtune::sim::HEADTUNE_SIM_ISA
