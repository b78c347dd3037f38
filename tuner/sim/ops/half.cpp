// Vector ALU on f16. Sums and products of halves are exact enough in f32 to be rounded twice without harm (24 >= 2 * 11
// + 2).
#include <cmath>
#include <limits>
#include <span>

#include "tuner/sim/ops/apply.h"
#include "tuner/sim/ops/extremes.h"

namespace headtune::sim::HEADTUNE_SIM_ISA {
namespace {

f16 fused(f16 a, f16 b, f16 c) { return {fma_for_f16(a.value, b.value, c.value)}; }
/// Unfused: the product is rounded to a half first.
f16 unfused(f16 a, f16 b, f16 c) { return {f16_to_f32(f32_to_f16(a.value * b.value)) + c.value}; }

f16 scaled(f16 x, i16 exponent) {
  const int e = exponent.value < -60 ? -60 : exponent.value > 60 ? 60 : exponent.value;
  return {x.value * as_float(static_cast<std::uint32_t>(e + 127) << 23)};
}
f16 mantissa(f16 x) {
  int exponent = 0;
  return {std::isfinite(x.value) ? std::frexp(x.value, &exponent) : x.value};
}
i16 exponent(f16 x) {
  int exponent = 0;
  if (std::isfinite(x.value)) std::frexp(x.value, &exponent);
  return {exponent};
}

f16 fixed_up(f16 s0, f16 s1, f16 s2) {
  const float a = s0.value, b = s1.value, c = s2.value;
  const float sign = std::signbit(b) != std::signbit(c) ? -1.0f : 1.0f;
  if (is_nan(c)) return {quiet(c)};
  if (is_nan(b)) return {quiet(b)};
  if ((b == 0 && c == 0) || (std::isinf(b) && std::isinf(c))) return {as_float(0xffc00000)};
  if (b == 0 || std::isinf(c)) return {sign * std::numeric_limits<float>::infinity()};
  if (std::isinf(b) || c == 0) return {sign * 0.0f};
  return {std::copysign(a, sign)};
}

/// A signalling half becomes a quiet one on the way to f32 and back, so the IEEE bit makes no difference but which NaN
/// wins.
template <bool Ieee>
f16 min_f16(f16 a, f16 b) {
  return {minimum_number<Ieee>(a.value, b.value)};
}
template <bool Ieee>
f16 max_f16(f16 a, f16 b) {
  return {maximum_number<Ieee>(a.value, b.value)};
}
template <bool Ieee>
f16 min3_f16(f16 a, f16 b, f16 c) {
  return {min3<Ieee>(a.value, b.value, c.value)};
}
template <bool Ieee>
f16 max3_f16(f16 a, f16 b, f16 c) {
  return {max3<Ieee>(a.value, b.value, c.value)};
}
template <bool Ieee>
f16 med3_f16(f16 a, f16 b, f16 c) {
  return {median<Ieee>(a.value, b.value, c.value)};
}

/// Raw bits of a half with its sign modifiers.
std::uint32_t bits(std::uint32_t raw, const Operand& operand) {
  return (raw & (operand.abs ? 0x7fffu : 0xffffu)) ^ (operand.neg ? 0x8000u : 0u);
}

/// Two halves in one register: no arithmetic, so NaNs and denormals stay as they are.
void pack(Wave& wave, const Inst& inst) {
  Values<std::uint32_t> low, high;
  fetch_shorts(wave, inst, 1, false, low);
  fetch_shorts(wave, inst, 2, false, high);
  Lanes out;
  for (int lane = 0; lane < kLanes; ++lane)
    out.word[lane] = bits(low.lane[lane], inst.op[1]) | bits(high.lane[lane], inst.op[2]) << 16;
  store(wave.v[inst.op[0].index], out.word, wave.exec());
}

constexpr Class valu = Class::valu;

constexpr OpEntry table[] = {
    op<[](f16 a, f16 b) { return f16{a.value + b.value}; }>("v_add_f16"),
    op<[](f16 a, f16 b) { return f16{a.value - b.value}; }>("v_sub_f16"),
    op<[](f16 a, f16 b) { return f16{b.value - a.value}; }>("v_subrev_f16"),
    op<[](f16 a, f16 b) { return f16{a.value * b.value}; }>("v_mul_f16"),
    accumulating<unfused>("v_mac_f16"),
    op<unfused>("v_madmk_f16"),
    op<unfused>("v_madak_f16"),
    op<unfused>("v_mad_f16", valu, keeps_high),
    op<unfused>("v_mad_legacy_f16"),
    op<fused>("v_fma_f16", valu, keeps_high),
    op<fused>("v_fma_legacy_f16"),
    op<fixed_up>("v_div_fixup_f16", valu, keeps_high),
    op<fixed_up>("v_div_fixup_legacy_f16"),
    ieee_op<min_f16<true>, min_f16<false>>("v_min_f16"),
    ieee_op<max_f16<true>, max_f16<false>>("v_max_f16"),
    ieee_op<min3_f16<true>, min3_f16<false>>("v_min3_f16"),
    ieee_op<max3_f16<true>, max3_f16<false>>("v_max3_f16"),
    ieee_op<med3_f16<true>, med3_f16<false>>("v_med3_f16"),
    op<scaled>("v_ldexp_f16"),
    op<mantissa>("v_frexp_mant_f16"),
    op<exponent>("v_frexp_exp_i16_f16"),
    op<[](f16 a) { return f16{std::trunc(a.value)}; }>("v_trunc_f16"),
    op<[](f16 a) { return f16{std::ceil(a.value)}; }>("v_ceil_f16"),
    op<[](f16 a) { return f16{std::floor(a.value)}; }>("v_floor_f16"),
    op<[](f16 a) { return f16{round_even(a.value)}; }>("v_rndne_f16"),
    op<[](f16 a) { return f16{a.value - std::floor(a.value)}; }>("v_fract_f16"),
    {"v_pack_b32_f16", pack, valu, 1, 0, {Type::b32, Type::f16, Type::f16}},
};

}  // namespace

std::span<const OpEntry> half_ops() { return table; }

}  // namespace headtune::sim::HEADTUNE_SIM_ISA
