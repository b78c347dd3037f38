// Vector ALU on f64.
#include <cmath>
#include <span>

#include "tuner/sim/ops/apply.h"
#include "tuner/sim/ops/division.h"
#include "tuner/sim/ops/extremes.h"

namespace headtune::sim::HEADTUNE_SIM_ISA {
namespace {

double mantissa(double x) {
  int exponent = 0;
  return std::isfinite(x) ? std::frexp(x, &exponent) : x;
}
std::int32_t exponent(double x) {
  int exponent = 0;
  if (std::isfinite(x)) std::frexp(x, &exponent);
  return exponent;
}

template <bool Ieee>
double min_f64(double a, double b) {
  return minimum_number<Ieee>(a, b);
}
template <bool Ieee>
double max_f64(double a, double b) {
  return maximum_number<Ieee>(a, b);
}

/// The first 1280 bits of 2 / pi after the binary point, most significant word first.
constexpr std::uint32_t two_over_pi[40] = {
    0xa2f9836e, 0x4e441529, 0xfc2757d1, 0xf534ddc0, 0xdb629599, 0x3c439041, 0xfe5163ab, 0xdebbc561,
    0xb7246e3a, 0x424dd2e0, 0x06492eea, 0x09d1921c, 0xfe1deb1c, 0xb129a73e, 0xe88235f5, 0x2ebb4484,
    0xe99c7026, 0xb45f7e41, 0x3991d639, 0x835339f4, 0x9c845f8b, 0xbdf9283b, 0x1ff897ff, 0xde05980f,
    0xef2f118b, 0x5a0a6d1f, 0x6d367ecf, 0x27cb09b7, 0x4f463f66, 0x9e5fea2d, 0x7527bac7, 0xebe5f17b,
    0x3d0739f7, 0x8a5292ea, 0x6bfb5fb1, 0x1f8d5d08, 0x56033046, 0xfc7b6bab, 0xf0cfbc20, 0x9af4361d,
};

/// 53 bits of 2 / pi from bit `shift` on, as an integer.
std::uint64_t bits_of_two_over_pi(int shift) {
  std::uint64_t bits = 0;
  for (int n = 0; n < 53; ++n) {
    const int at = shift + n;
    const std::uint64_t bit = at < 1201 ? two_over_pi[at / 32] >> (31 - at % 32) & 1 : 0;
    bits = bits << 1 | bit;
  }
  return bits;
}

/// The part of 2 / pi that matters for reducing an argument as large as `x`: segment `index` of 53 bits.
double trig_preop(double x, std::uint32_t index) {
  const int biased = Format<double>::exponent(x);
  const int shift = static_cast<int>(index & 31) * 53 + (biased > 1077 ? biased - 1077 : 0);
  const int scale = -53 - shift + (biased >= 1968 ? 128 : 0);
  return std::ldexp(static_cast<double>(bits_of_two_over_pi(shift)), scale);
}

constexpr Class f64 = Class::valu_f64;

constexpr OpEntry table[] = {
    op<[](double a, double b) { return a + b; }>("v_add_f64", f64),
    op<[](double a, double b) { return a * b; }>("v_mul_f64", f64),
    op<[](double a, double b, double c) { return std::fma(a, b, c); }>("v_fma_f64", f64),
    accumulating<[](double a, double b, double c) { return std::fma(a, b, c); }>("v_fmac_f64", f64),
    ieee_op<min_f64<true>, min_f64<false>>("v_min_f64", f64),
    ieee_op<max_f64<true>, max_f64<false>>("v_max_f64", f64),
    op<[](double a) { return std::trunc(a); }>("v_trunc_f64", f64),
    op<[](double a) { return std::ceil(a); }>("v_ceil_f64", f64),
    op<[](double a) { return std::floor(a); }>("v_floor_f64", f64),
    op<[](double a) { return round_even(a); }>("v_rndne_f64", f64),
    op<[](double a) { return a - std::floor(a); }>("v_fract_f64", f64),
    op<[](double a, std::int32_t b) { return std::ldexp(a, b); }>("v_ldexp_f64", f64),
    op<mantissa>("v_frexp_mant_f64", f64),
    op<exponent>("v_frexp_exp_i32_f64", f64),
    op<[](double a) { return 1.0 / a; }>("v_rcp_f64", Class::trans),
    op<[](double a) { return std::sqrt(a); }>("v_sqrt_f64", Class::trans),
    op<[](double a) { return 1.0 / std::sqrt(a); }>("v_rsq_f64", Class::trans),
    op<trig_preop>("v_trig_preop_f64", f64),
    {"v_div_scale_f64", div_scale_handler<double>, f64, 2, 0, {Type::f64, Type::b64, Type::f64, Type::f64, Type::f64}},
    {"v_div_fmas_f64", div_fmas_handler<double>, f64, 1, reads_vcc, {Type::f64, Type::f64, Type::f64, Type::f64}},
    op<div_fixup<double>>("v_div_fixup_f64", f64),
};

}  // namespace

std::span<const OpEntry> real64_ops() { return table; }

}  // namespace headtune::sim::HEADTUNE_SIM_ISA
