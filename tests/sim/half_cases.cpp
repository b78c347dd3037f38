#include <algorithm>

#include "tests/sim/op_case.h"
#include "tests/sim/reference.h"

namespace headtune::sim {
namespace {

using namespace ref;

/// Results of halves are exact in f64, then rounded once. `Keep`: the destination's high half stays.
template <class F>
OpCase half_op(const char* text, F expect, double ulps = 0, bool keep = false) {
  OpCase c{text, Kindof::f16, Kindof::f16, [expect, keep](const Args& x) {
             const u32 code = to_half(expect(half(x.a), half(x.b), half(x.c), half(x.old)));
             return Result{code | (keep ? x.old & 0xffff0000 : 0)};
           }};
  c.ulps = ulps;
  return c;
}

double rounded(double x) { return half(to_half(x)); }

double nearest(double x) {
  const double down = std::floor(x);
  const double pick = x - down < 0.5 ? down : x - down > 0.5 ? down + 1 : std::fmod(down, 2) == 0 ? down : down + 1;
  return std::isfinite(x) ? std::copysign(pick, x) : x;
}

double fixed_up(double q, double den, double num) {
  const double sign = std::signbit(den) != std::signbit(num) ? -1.0 : 1.0;
  if (std::isnan(num) || std::isnan(den) || (num == 0 && den == 0) || (std::isinf(num) && std::isinf(den))) return NAN;
  if (den == 0 || std::isinf(num)) return sign * HUGE_VAL;
  if (num == 0 || std::isinf(den)) return sign * 0.0;
  return std::copysign(q, sign);
}

using D = double;

void add_arithmetic(std::vector<OpCase>& cases) {
  const auto add = [&](const char* text, auto f, double ulps = 0) { cases.push_back(half_op(text, f, ulps)); };
  const auto keep = [&](const char* text, auto f) { cases.push_back(half_op(text, f, 0, true)); };
  add("v_add_f16_e32 $d, $a, $b", [](D a, D b, D, D) { return a + b; });
  add("v_sub_f16_e32 $d, $a, $b", [](D a, D b, D, D) { return a - b; });
  add("v_subrev_f16_e32 $d, $a, $b", [](D a, D b, D, D) { return b - a; });
  add("v_mul_f16_e32 $d, $a, $b", [](D a, D b, D, D) { return a * b; });
  add("v_add_f16_e64 $d, -|$a|, $b", [](D a, D b, D, D) { return b - std::fabs(a); });
  add("v_add_f16_e64 $d, $a, $b clamp",
      [](D a, D b, D, D) { return std::isnan(a + b) ? 0 : std::clamp(a + b, 0.0, 1.0); });
  add("v_mul_f16_e64 $d, 1.0, $b", [](D, D b, D, D) { return b; });
  add("v_mac_f16_e32 $d, $a, $b", [](D a, D b, D, D d) { return rounded(a * b) + d; });
  add("v_madmk_f16 $d, $a, 0x4248, $b", [](D a, D b, D, D) { return rounded(a * half(0x4248)) + b; });
  add("v_madak_f16 $d, $a, $b, 0x4248", [](D a, D b, D, D) { return rounded(a * b) + half(0x4248); });
  keep("v_mad_f16 $d, $a, $b, $c", [](D a, D b, D c, D) { return rounded(a * b) + c; });
  add("v_mad_legacy_f16 $d, $a, $b, $c", [](D a, D b, D c, D) { return rounded(a * b) + c; });
  keep("v_fma_f16 $d, $a, $b, $c", [](D a, D b, D c, D) { return a * b + c; });
  add("v_fma_legacy_f16 $d, $a, $b, $c", [](D a, D b, D c, D) { return a * b + c; });
  keep("v_div_fixup_f16 $d, $a, $b, $c", [](D q, D d, D n, D) { return fixed_up(q, d, n); });
  add("v_div_fixup_legacy_f16 $d, $a, $b, $c", [](D q, D d, D n, D) { return fixed_up(q, d, n); });
  add("v_min_f16_e32 $d, $a, $b", [](D a, D b, D, D) { return min_num(a, b); });
  add("v_max_f16_e32 $d, $a, $b", [](D a, D b, D, D) { return max_num(a, b); });
  add("v_min3_f16 $d, $a, $b, $c", [](D a, D b, D c, D) { return min_num(min_num(a, b), c); });
  add("v_max3_f16 $d, $a, $b, $c", [](D a, D b, D c, D) { return max_num(max_num(a, b), c); });
  add("v_med3_f16 $d, $a, $b, $c", [](D a, D b, D c, D) { return med_num(a, b, c); });
  add("v_trunc_f16_e32 $d, $a", [](D a, D, D, D) { return std::trunc(a); });
  add("v_ceil_f16_e32 $d, $a", [](D a, D, D, D) { return std::ceil(a); });
  add("v_floor_f16_e32 $d, $a", [](D a, D, D, D) { return std::floor(a); });
  add("v_rndne_f16_e32 $d, $a", [](D a, D, D, D) { return nearest(a); });
  add("v_fract_f16_e32 $d, $a", [](D a, D, D, D) { return a - std::floor(a); });
  add(
      "v_exp_f16_e32 $d, $a", [](D a, D, D, D) { return std::exp2(a); }, 1);
  add(
      "v_log_f16_e32 $d, $a", [](D a, D, D, D) { return std::log2(a); }, 1);
  add(
      "v_rcp_f16_e32 $d, $a", [](D a, D, D, D) { return 1 / a; }, 1);
  add(
      "v_rsq_f16_e32 $d, $a", [](D a, D, D, D) { return 1 / std::sqrt(a); }, 1);
  add(
      "v_sqrt_f16_e32 $d, $a", [](D a, D, D, D) { return std::sqrt(a); }, 1);
  add(
      "v_sin_f16_e32 $d, $a",
      [](D a, D, D, D) { return std::isinf(a) ? NAN : std::sin(std::remainder(a, 1.0) * 6.283185307179586); }, 1);
  add(
      "v_cos_f16_e32 $d, $a",
      [](D a, D, D, D) { return std::isinf(a) ? NAN : std::sin((std::remainder(a, 1.0) + 0.25) * 6.283185307179586); },
      1);
}

}  // namespace

std::vector<OpCase> half_cases() {
  std::vector<OpCase> cases;
  add_arithmetic(cases);
  cases.push_back({"v_ldexp_f16_e32 $d, $a, $b", Kindof::bits, Kindof::f16, [](const Args& x) {
                     return Result{to_half(std::ldexp(half(x.a), static_cast<int>(sign_extended(x.b, 16))))};
                   }});
  const auto normalised = [](D x, int& e) {
    e = 0;
    if (!std::isfinite(x) || x == 0) return x;
    for (; std::fabs(x) >= 1; ++e) x /= 2;
    for (; std::fabs(x) < 0.5; --e) x *= 2;
    return x;
  };
  cases.push_back(half_op("v_frexp_mant_f16_e32 $d, $a", [normalised](D a, D, D, D) {
    int e;
    return normalised(a, e);
  }));
  cases.push_back({"v_frexp_exp_i16_f16_e32 $d, $a", Kindof::f16, Kindof::bits, [normalised](const Args& x) {
                     int e;
                     normalised(half(x.a), e);
                     return Result{static_cast<u64>(e) & 0xffff};
                   }});
  cases.push_back({"v_pack_b32_f16 $d, $a, $b", Kindof::bits, Kindof::bits,
                   [](const Args& x) { return Result{(x.a & 0xffff) | (x.b & 0xffff) << 16}; }});
  cases.push_back({"v_pack_b32_f16 $d, -$a, |$b| op_sel:[1,1,0]", Kindof::bits, Kindof::bits,
                   [](const Args& x) { return Result{((x.a >> 16 & 0xffff) ^ 0x8000) | (x.b & 0x7fff0000)}; }});
  cases.push_back({"v_fma_f16 $d, $a, $b, $c op_sel:[1,0,0,1]", Kindof::f16, Kindof::f16, [](const Args& x) {
                     const u64 code = to_half(half(x.a >> 16) * half(x.b) + half(x.c));
                     return Result{(x.old & 0xffff) | code << 16};
                   }});
  return cases;
}

}  // namespace headtune::sim
