#include <algorithm>

#include "tests/sim/op_case.h"
#include "tests/sim/reference.h"

namespace headtune::sim {
namespace {

using namespace ref;
using ld = long double;
using exact = __float128;  // 113 bits of mantissa: products of two f64 are exact

template <class T>
struct Real {
  static constexpr Kindof kind = sizeof(T) == 4 ? Kindof::f32 : Kindof::f64;
  static T of(u64 bits) {
    if constexpr (sizeof(T) == 4)
      return f32(bits);
    else
      return f64(bits);
  }
};

/// A case on T: `expect` takes the lane's three values (and the old destination) and returns a real.
template <class T, class F>
OpCase real(const char* text, F expect, double ulps = 0) {
  OpCase c{text, Real<T>::kind, Real<T>::kind, [expect](const Args& x) {
             return Result{bits(
                 static_cast<T>(expect(Real<T>::of(x.a), Real<T>::of(x.b), Real<T>::of(x.c), Real<T>::of(x.old))))};
           }};
  c.ulps = ulps;
  c.wide_a = c.wide_b = c.wide_c = c.wide_d = sizeof(T) == 8;
  return c;
}

template <class T>
T clamped(T x) {
  return std::isnan(x) ? T(0) : x < 0 ? T(0) : x > 1 ? T(1) : x;
}

/// Nearest integer, ties to even, from the two neighbours.
template <class T>
T nearest(T x) {
  if (std::isnan(x) || std::isinf(x) || x == 0) return x;
  const T down = std::floor(x), up = std::ceil(x);
  const T to_down = x - down, to_up = up - x;
  const T pick = to_down < to_up ? down : to_down > to_up ? up : std::fmod(down, T(2)) == 0 ? down : up;
  return std::copysign(pick, x);
}

template <class T>
T mantissa(T x) {
  if (!std::isfinite(x) || x == 0) return x;
  while (std::fabs(x) >= 1) x /= 2;
  while (std::fabs(x) < T(0.5)) x *= 2;
  return x;
}
template <class T>
int exponent(T x) {
  if (!std::isfinite(x) || x == 0) return 0;
  int e = 0;
  for (; std::fabs(x) >= 1; ++e) x /= 2;
  for (; std::fabs(x) < T(0.5); --e) x *= 2;
  return e;
}

template <class T>
void add_common(std::vector<OpCase>& cases, const char* s) {
  static std::vector<std::string> texts(0);
  texts.reserve(400);
  const auto name = [&](const std::string& text) {
    std::string out = text;
    out.replace(out.find('@'), 1, s);
    texts.push_back(out);
    return texts.back().c_str();
  };
  const auto add = [&](const char* text, auto f, double ulps = 0) { cases.push_back(real<T>(name(text), f, ulps)); };
  add("v_add_@ $d, $a, $b", [](T a, T b, T, T) { return exact(a) + exact(b); });
  add("v_mul_@ $d, $a, $b", [](T a, T b, T, T) { return exact(a) * exact(b); });
  add("v_add_@ $d, -$a, |$b|", [](T a, T b, T, T) { return exact(std::fabs(b)) - exact(a); });
  add("v_add_@ $d, $a, -|$b| clamp",
      [](T a, T b, T, T) { return clamped(static_cast<T>(exact(a) - exact(std::fabs(b)))); });
  add("v_mul_@ $d, $a, $b mul:2", [](T a, T b, T, T) { return static_cast<T>(exact(a) * exact(b)) * 2; });
  add("v_mul_@ $d, $a, $b mul:4", [](T a, T b, T, T) { return static_cast<T>(exact(a) * exact(b)) * 4; });
  add("v_mul_@ $d, $a, $b div:2", [](T a, T b, T, T) { return static_cast<T>(exact(a) * exact(b)) / 2; });
  add("v_fma_@ $d, $a, $b, $c", [](T a, T b, T c, T) { return std::fma(a, b, c); });
  add("v_fma_@ $d, $a, -$b, |$c|", [](T a, T b, T c, T) { return std::fma(a, -b, std::fabs(c)); });
  add("v_fma_@ $d, $a, 2.0, -0.5", [](T a, T, T, T) { return std::fma(a, T(2), T(-0.5)); });
  add("v_fmac_@ $d, $a, $b", [](T a, T b, T, T d) { return std::fma(a, b, d); });
  add("v_min_@ $d, $a, $b", [](T a, T b, T, T) { return min_num(a, b); });
  add("v_max_@ $d, $a, $b", [](T a, T b, T, T) { return max_num(a, b); });
  add("v_trunc_@ $d, $a", [](T a, T, T, T) { return std::signbit(a) ? std::ceil(a) : std::floor(a); });
  add("v_ceil_@ $d, $a", [](T a, T, T, T) { return std::ceil(a); });
  add("v_floor_@ $d, $a", [](T a, T, T, T) { return std::floor(a); });
  add("v_rndne_@ $d, $a", [](T a, T, T, T) { return nearest(a); });
  add("v_fract_@ $d, $a", [](T a, T, T, T) { return a - std::floor(a); });
  add("v_frexp_mant_@ $d, $a", [](T a, T, T, T) { return mantissa(a); });
}

/// One instruction whose result or operand is an integer.
template <class T, class F>
OpCase to_integer(const char* text, F expect) {
  OpCase c{text, Real<T>::kind, Kindof::bits,
           [expect](const Args& x) { return Result{u64{static_cast<u32>(expect(Real<T>::of(x.a)))}}; }};
  c.wide_a = sizeof(T) == 8;
  return c;
}

template <class T>
T fixed_up(T q, T den, T num) {
  const bool negative = std::signbit(den) != std::signbit(num);
  const T nan = std::numeric_limits<T>::quiet_NaN(), inf = std::numeric_limits<T>::infinity();
  if (std::isnan(num) || std::isnan(den)) return nan;
  if ((num == 0 && den == 0) || (std::isinf(num) && std::isinf(den))) return nan;
  if (den == 0 || std::isinf(num)) return negative ? -inf : inf;
  if (num == 0 || std::isinf(den)) return negative ? -T(0) : T(0);
  // The exponent fields differ by more than the smallest denormal can show: the quotient rounds to 0.
  const int least = std::numeric_limits<T>::min_exponent - 1;
  const auto field = [&](T x) { return std::fabs(x) < std::numeric_limits<T>::min() ? least - 1 : std::ilogb(x); };
  if (field(num) - field(den) < (sizeof(T) == 4 ? -150 : -1075)) return negative ? -T(0) : T(0);
  if (std::isnan(q)) return negative ? -inf : inf;
  return negative ? -std::fabs(q) : std::fabs(q);
}

void add_f32(std::vector<OpCase>& cases) {
  using T = float;
  const auto add = [&](const char* text, auto f, double ulps = 0) { cases.push_back(real<T>(text, f, ulps)); };
  add("v_sub_f32_e32 $d, $a, $b", [](T a, T b, T, T) { return exact(a) - exact(b); });
  add("v_subrev_f32_e32 $d, $a, $b", [](T a, T b, T, T) { return exact(b) - exact(a); });
  add("v_mul_legacy_f32 $d, $a, $b", [](T a, T b, T, T) { return a == 0 || b == 0 ? exact(0) : exact(a) * b; });
  add("v_fmamk_f32 $d, $a, 0x40490fdb, $b", [](T a, T b, T, T) { return std::fma(a, 3.14159274f, b); });
  add("v_fmaak_f32 $d, $a, $b, 0x40490fdb", [](T a, T b, T, T) { return std::fma(a, b, 3.14159274f); });
  add("v_mac_f32_e32 $d, $a, $b", [](T a, T b, T, T d) { return exact(static_cast<T>(exact(a) * b)) + d; });
  add("v_mad_f32 $d, $a, $b, $c", [](T a, T b, T c, T) { return exact(static_cast<T>(exact(a) * b)) + c; });
  add("v_madmk_f32 $d, $a, 0x40490fdb, $b",
      [](T a, T b, T, T) { return exact(static_cast<T>(exact(a) * 3.14159274f)) + b; });
  add("v_madak_f32 $d, $a, $b, 0x40490fdb",
      [](T a, T b, T, T) { return exact(static_cast<T>(exact(a) * b)) + 3.14159274f; });
  add("v_mad_legacy_f32 $d, $a, $b, $c",
      [](T a, T b, T c, T) { return a == 0 || b == 0 ? exact(0) + c : exact(static_cast<T>(exact(a) * b)) + c; });
  add("v_min3_f32 $d, $a, $b, $c", [](T a, T b, T c, T) { return min_num(min_num(a, b), c); });
  add("v_max3_f32 $d, $a, $b, $c", [](T a, T b, T c, T) { return max_num(max_num(a, b), c); });
  add("v_med3_f32 $d, $a, $b, $c", [](T a, T b, T c, T) { return med_num(a, b, c); });
  const auto any_nan = [](T a, T b, T c) { return std::isnan(a) || std::isnan(b) || std::isnan(c); };
  add("v_minimum3_f32 $d, $a, $b, $c",
      [any_nan](T a, T b, T c, T) { return any_nan(a, b, c) ? T(NAN) : min_num(min_num(a, b), c); });
  add("v_maximum3_f32 $d, $a, $b, $c",
      [any_nan](T a, T b, T c, T) { return any_nan(a, b, c) ? T(NAN) : max_num(max_num(a, b), c); });
  // Transcendental: 1 ulp, denormals flushed on both sides.
  const auto flush = [](auto x) { return std::fabs(x) < 0x1p-126 ? std::copysign(decltype(x)(0), x) : x; };
  add(
      "v_exp_f32_e32 $d, $a", [flush](T a, T, T, T) { return flush(std::exp2(double(a))); }, 1);
  add(
      "v_log_f32_e32 $d, $a", [flush](T a, T, T, T) { return std::log2(double(flush(a))); }, 1);
  add(
      "v_exp_legacy_f32 $d, $a", [flush](T a, T, T, T) { return flush(std::exp2(double(a))); }, 1);
  add(
      "v_log_legacy_f32 $d, $a", [flush](T a, T, T, T) { return std::log2(double(flush(a))); }, 1);
  add(
      "v_rcp_f32_e32 $d, $a", [flush](T a, T, T, T) { return flush(1.0 / double(flush(a))); }, 1);
  add(
      "v_rcp_iflag_f32_e32 $d, $a", [flush](T a, T, T, T) { return flush(1.0 / double(flush(a))); }, 1);
  add(
      "v_rsq_f32_e32 $d, $a", [flush](T a, T, T, T) { return 1.0 / std::sqrt(double(flush(a))); }, 1);
  add(
      "v_sqrt_f32_e32 $d, $a", [flush](T a, T, T, T) { return std::sqrt(double(flush(a))); }, 1);
  // From the nearest half turn on, so that zeros are exact.
  const auto turn = [flush](T a, double phase) {
    const double t = std::remainder(double(flush(a)), 1.0) + phase, half = std::rint(2 * t);
    const double sine = std::sin((t - half / 2) * 6.283185307179586);
    return std::isinf(a) ? NAN : std::fmod(half, 2) != 0 ? -sine : sine;
  };
  add(
      "v_sin_f32_e32 $d, $a", [turn](T a, T, T, T) { return turn(a, 0.0); }, 4);
  add(
      "v_cos_f32_e32 $d, $a", [turn](T a, T, T, T) { return turn(a, 0.25); }, 4);
  add("v_div_fixup_f32 $d, $a, $b, $c", [](T q, T d, T n, T) { return fixed_up(q, d, n); });
  cases.push_back(to_integer<T>("v_frexp_exp_i32_f32_e32 $d, $a", [](T a) { return exponent(a); }));
  cases.push_back({"v_ldexp_f32 $d, $a, $b", Kindof::bits, Kindof::f32, [](const Args& x) {
                     const int by = static_cast<i32>(x.b);
                     return Result{bits(std::ldexp(f32(x.a), by))};
                   }});
}

void add_cube(std::vector<OpCase>& cases) {
  using T = float;
  // Faces by the largest magnitude; ties go to z, then y; a NaN is never the largest.
  const auto face = [](T x, T y, T z) {
    const T a = std::fabs(x), b = std::fabs(y), c = std::fabs(z);
    return c >= a && c >= b ? 2 : b >= a ? 1 : 0;
  };
  const auto add = [&](const char* text, auto f) {
    cases.push_back(real<T>(text, [f, face](T x, T y, T z, T) { return f(face(x, y, z), x, y, z); }));
  };
  add("v_cubeid_f32 $d, $a, $b, $c", [](int n, T x, T y, T z) {
    return T(2 * n + ((n == 0 ? x : n == 1 ? y : z) < 0));
  });
  add("v_cubema_f32 $d, $a, $b, $c", [](int n, T x, T y, T z) { return 2 * (n == 0 ? x : n == 1 ? y : z); });
  add("v_cubesc_f32 $d, $a, $b, $c", [](int n, T x, T, T z) {
    return n == 2 ? (z < 0 ? -x : x) : n == 1 ? x : (x < 0 ? z : -z);
  });
  add("v_cubetc_f32 $d, $a, $b, $c", [](int n, T, T y, T z) { return n == 1 ? (y < 0 ? -z : z) : -y; });
}

}  // namespace

std::vector<OpCase> real_cases() {
  std::vector<OpCase> cases;
  add_common<float>(cases, "f32");
  add_f32(cases);
  add_cube(cases);
  return cases;
}

std::vector<OpCase> real64_cases() {
  std::vector<OpCase> cases;
  add_common<double>(cases, "f64");
  using T = double;
  cases.push_back(real<T>(
      "v_rcp_f64_e32 $d, $a", [](T a, T, T, T) { return 1 / ld(a); }, 1));
  cases.push_back(real<T>(
      "v_sqrt_f64_e32 $d, $a", [](T a, T, T, T) { return std::sqrt(ld(a)); }, 1));
  cases.push_back(real<T>(
      "v_rsq_f64_e32 $d, $a", [](T a, T, T, T) { return 1 / std::sqrt(ld(a)); }, 2));
  cases.push_back(real<T>("v_div_fixup_f64 $d, $a, $b, $c", [](T q, T d, T n, T) { return fixed_up(q, d, n); }));
  cases.push_back(to_integer<T>("v_frexp_exp_i32_f64_e32 $d, $a", [](T a) { return exponent(a); }));
  OpCase ldexp{"v_ldexp_f64 $d, $a, $b", Kindof::bits, Kindof::f64,
               [](const Args& x) { return Result{bits(std::ldexp(f64(x.a), static_cast<i32>(x.b)))}; }};
  ldexp.wide_a = ldexp.wide_d = true;
  cases.push_back(ldexp);
  return cases;
}

}  // namespace headtune::sim
