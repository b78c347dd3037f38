#include <algorithm>

#include "tests/sim/op_case.h"
#include "tests/sim/reference.h"

namespace headtune::sim {
namespace {

using namespace ref;

/// Half `n` of a word, unsigned, signed and as a number.
u32 U(u64 x, int n) { return field(x, 16 * n, 16); }
i64 S(u64 x, int n) { return sign_extended(x >> (16 * n), 16); }
double H(u64 x, int n) { return half(x >> (16 * n)); }
float F(u64 x, int n) { return f32(x >> (32 * n)); }

/// Both halves of an integer result.
template <class Fn>
OpCase both(const char* text, Fn f) {
  return {text, Kindof::bits, Kindof::bits, [f](const Args& x) {
            return Result{(static_cast<u64>(f(x, 0)) & 0xffff) | (static_cast<u64>(f(x, 1)) & 0xffff) << 16};
          }};
}
template <class Fn>
OpCase both_f16(const char* text, Fn f) {
  return {text, Kindof::f16, Kindof::f16,
          [f](const Args& x) { return Result{u64{to_half(f(x, 0))} | u64{to_half(f(x, 1))} << 16}; }};
}
template <class Fn>
OpCase both_f32(const char* text, Fn f) {
  OpCase c{text, Kindof::f32, Kindof::f32, [f](const Args& x) { return Result{bits(f(x, 0)) | bits(f(x, 1)) << 32}; }};
  c.wide_a = c.wide_b = c.wide_c = c.wide_d = true;
  return c;
}

void add_integers(std::vector<OpCase>& cases) {
  const auto add = [&](const char* text, auto f) { cases.push_back(both(text, f)); };
  const auto limit = [](i64 x, i64 low, i64 high) { return std::clamp(x, low, high); };
  add("v_pk_add_i16 $d, $a, $b", [](const Args& x, int n) { return S(x.a, n) + S(x.b, n); });
  add("v_pk_sub_i16 $d, $a, $b", [](const Args& x, int n) { return S(x.a, n) - S(x.b, n); });
  add("v_pk_add_u16 $d, $a, $b", [](const Args& x, int n) { return U(x.a, n) + U(x.b, n); });
  add("v_pk_sub_u16 $d, $a, $b", [](const Args& x, int n) { return U(x.a, n) - U(x.b, n); });
  add("v_pk_add_i16 $d, $a, $b clamp",
      [limit](const Args& x, int n) { return limit(S(x.a, n) + S(x.b, n), -32768, 32767); });
  add("v_pk_sub_u16 $d, $a, $b clamp",
      [limit](const Args& x, int n) { return limit(i64{U(x.a, n)} - U(x.b, n), 0, 65535); });
  add("v_pk_mul_lo_u16 $d, $a, $b", [](const Args& x, int n) { return U(x.a, n) * U(x.b, n); });
  add("v_pk_mad_i16 $d, $a, $b, $c", [](const Args& x, int n) { return S(x.a, n) * S(x.b, n) + S(x.c, n); });
  add("v_pk_mad_u16 $d, $a, $b, $c", [](const Args& x, int n) { return U(x.a, n) * U(x.b, n) + U(x.c, n); });
  add("v_pk_mad_u16 $d, $a, $b, $c clamp",
      [limit](const Args& x, int n) { return limit(i64{U(x.a, n)} * U(x.b, n) + U(x.c, n), 0, 65535); });
  add("v_pk_max_i16 $d, $a, $b", [](const Args& x, int n) { return std::max(S(x.a, n), S(x.b, n)); });
  add("v_pk_min_i16 $d, $a, $b", [](const Args& x, int n) { return std::min(S(x.a, n), S(x.b, n)); });
  add("v_pk_max_u16 $d, $a, $b", [](const Args& x, int n) { return std::max(U(x.a, n), U(x.b, n)); });
  add("v_pk_min_u16 $d, $a, $b", [](const Args& x, int n) { return std::min(U(x.a, n), U(x.b, n)); });
  add("v_pk_lshlrev_b16 $d, $a, $b", [](const Args& x, int n) { return U(x.b, n) << (U(x.a, n) % 16); });
  add("v_pk_lshrrev_b16 $d, $a, $b", [](const Args& x, int n) { return U(x.b, n) >> (U(x.a, n) % 16); });
  add("v_pk_ashrrev_i16 $d, $a, $b", [](const Args& x, int n) { return S(x.b, n) >> (U(x.a, n) % 16); });
  // Selectors: the low result takes a's high half, the high result b's low half; a small constant fills both halves.
  add("v_pk_add_u16 $d, $a, $b op_sel:[1,0] op_sel_hi:[1,0]", [](const Args& x, int) { return U(x.a, 1) + U(x.b, 0); });
  add("v_pk_add_u16 $d, $a, -1", [](const Args& x, int n) { return U(x.a, n) - 1; });
}

void add_f16(std::vector<OpCase>& cases) {
  const auto add = [&](const char* text, auto f) { cases.push_back(both_f16(text, f)); };
  add("v_pk_fma_f16 $d, $a, $b, $c", [](const Args& x, int n) { return H(x.a, n) * H(x.b, n) + H(x.c, n); });
  add("v_pk_fmac_f16 $d, $a, $b", [](const Args& x, int n) { return H(x.a, n) * H(x.b, n) + H(x.old, n); });
  add("v_pk_add_f16 $d, $a, $b", [](const Args& x, int n) { return H(x.a, n) + H(x.b, n); });
  add("v_pk_mul_f16 $d, $a, $b", [](const Args& x, int n) { return H(x.a, n) * H(x.b, n); });
  add("v_pk_add_f16 $d, $a, $b neg_lo:[1,0] neg_hi:[0,1]",
      [](const Args& x, int n) { return n == 0 ? H(x.b, 0) - H(x.a, 0) : H(x.a, 1) - H(x.b, 1); });
  add("v_pk_mul_f16 $d, $a, 2.0 op_sel_hi:[1,0]", [](const Args& x, int n) { return H(x.a, n) * 2; });
  add("v_pk_fma_f16 $d, $a, $b, $c op_sel:[0,1,1] op_sel_hi:[0,1,0]",
      [](const Args& x, int n) { return H(x.a, 0) * H(x.b, 1) + H(x.c, 1 - n); });
  add("v_pk_min_f16 $d, $a, $b", [](const Args& x, int n) { return min_num(H(x.a, n), H(x.b, n)); });
  add("v_pk_max_f16 $d, $a, $b", [](const Args& x, int n) { return max_num(H(x.a, n), H(x.b, n)); });
  const auto nan3 = [](const Args& x, int n) {
    return std::isnan(H(x.a, n)) || std::isnan(H(x.b, n)) || std::isnan(H(x.c, n));
  };
  add("v_pk_minimum3_f16 $d, $a, $b, $c",
      [nan3](const Args& x, int n) { return nan3(x, n) ? NAN : min_num(min_num(H(x.a, n), H(x.b, n)), H(x.c, n)); });
  add("v_pk_maximum3_f16 $d, $a, $b, $c",
      [nan3](const Args& x, int n) { return nan3(x, n) ? NAN : max_num(max_num(H(x.a, n), H(x.b, n)), H(x.c, n)); });
}

void add_f32(std::vector<OpCase>& cases) {
  const auto add = [&](const char* text, auto f) { cases.push_back(both_f32(text, f)); };
  add("v_pk_fma_f32 $d, $a, $b, $c", [](const Args& x, int n) { return std::fma(F(x.a, n), F(x.b, n), F(x.c, n)); });
  add("v_pk_mul_f32 $d, $a, $b", [](const Args& x, int n) { return F(x.a, n) * F(x.b, n); });
  add("v_pk_add_f32 $d, $a, $b", [](const Args& x, int n) { return F(x.a, n) + F(x.b, n); });
  add("v_pk_mul_f32 $d, $a, $b op_sel_hi:[1,0]", [](const Args& x, int n) { return F(x.a, n) * F(x.b, 0); });
  add("v_pk_add_f32 $d, $a, $b op_sel:[1,1] op_sel_hi:[0,1] neg_lo:[0,1] neg_hi:[0,1]",
      [](const Args& x, int n) { return F(x.a, 1 - n) - F(x.b, 1); });
  add("v_pk_mul_f32 $d, $a, 0.5 op_sel_hi:[1,0]", [](const Args& x, int n) { return F(x.a, n) * 0.5f; });
  OpCase move{"v_pk_mov_b32 $d, $a, $b op_sel:[1,0]", Kindof::bits, Kindof::bits,
              [](const Args& x) { return Result{x.a >> 32 | (x.b & 0xffffffff) << 32}; }};
  move.wide_a = move.wide_b = move.wide_d = true;
  cases.push_back(move);
}

/// v_fma_mix: source n is f32 or the chosen half of an f16 pair.
void add_mixed(std::vector<OpCase>& cases) {
  const auto mixed = [](const Args& x) { return std::fma(float(H(x.a, 0)), float(H(x.b, 1)), f32(x.c)); };
  for (const char* name : {"fma", "mad"}) {
    const bool fma = name[0] == 'f';
    cases.push_back({fma ? "v_fma_mix_f32 $d, $a, $b, $c op_sel:[0,1,0] op_sel_hi:[1,1,0]"
                         : "v_mad_mix_f32 $d, $a, $b, $c op_sel:[0,1,0] op_sel_hi:[1,1,0]",
                     Kindof::bits, Kindof::f32, [mixed](const Args& x) { return Result{bits(mixed(x))}; }});
    cases.push_back({fma ? "v_fma_mixlo_f16 $d, $a, $b, $c op_sel:[0,1,0] op_sel_hi:[1,1,0]"
                         : "v_mad_mixlo_f16 $d, $a, $b, $c op_sel:[0,1,0] op_sel_hi:[1,1,0]",
                     Kindof::bits, Kindof::f16,
                     [mixed](const Args& x) { return Result{to_half(mixed(x)) | (x.old & 0xffff0000)}; }});
    cases.push_back({fma ? "v_fma_mixhi_f16 $d, $a, $b, $c op_sel:[0,1,0] op_sel_hi:[1,1,0]"
                         : "v_mad_mixhi_f16 $d, $a, $b, $c op_sel:[0,1,0] op_sel_hi:[1,1,0]",
                     Kindof::bits, Kindof::f16,
                     [mixed](const Args& x) { return Result{u64{to_half(mixed(x))} << 16 | (x.old & 0xffff)}; }});
  }
  cases.push_back({"v_fma_mix_f32 $d, -$a, |$b|, 1.0", Kindof::f32, Kindof::f32,
                   [](const Args& x) { return Result{bits(std::fma(-f32(x.a), std::fabs(f32(x.b)), 1.0f))}; }});
}

void add_dots(std::vector<OpCase>& cases) {
  const auto floats = [&](const char* text, Kindof kind, bool accumulates, auto element) {
    cases.push_back({text, kind, Kindof::f32, [element, accumulates](const Args& x) {
                       float sum = f32(accumulates ? x.old : x.c);
                       for (int n = 0; n < 2; ++n)
                         sum = std::fma(float(element(x.a >> 16 * n)), float(element(x.b >> 16 * n)), sum);
                       return Result{bits(sum)};
                     }});
  };
  floats("v_dot2_f32_f16 $d, $a, $b, $c", Kindof::f16, false, half);
  floats("v_dot2c_f32_f16_e32 $d, $a, $b", Kindof::f16, true, half);
  floats("v_dot2_f32_bf16 $d, $a, $b, $c", Kindof::bf16, false, bfloat);
  floats("v_dot2c_f32_bf16_e32 $d, $a, $b", Kindof::bf16, true, bfloat);
  const auto integers = [&](const char* text, int width, bool is_signed, bool accumulates, bool clamp) {
    cases.push_back({text, Kindof::bits, Kindof::bits, [=](const Args& x) {
                       const u64 c = accumulates ? x.old : x.c;
                       i64 sum = is_signed ? static_cast<i32>(c) : static_cast<i64>(static_cast<u32>(c));
                       for (int low = 0; low < 32; low += width)
                         sum += is_signed ? sign_extended(x.a >> low, width) * sign_extended(x.b >> low, width)
                                          : i64{field(x.a, low, width)} * field(x.b, low, width);
                       if (clamp)
                         sum = is_signed ? std::clamp<i64>(sum, -0x80000000ll, 0x7fffffff)
                                         : std::clamp<i64>(sum, 0, 0xffffffff);
                       return Result{static_cast<u32>(sum)};
                     }});
  };
  integers("v_dot2_i32_i16 $d, $a, $b, $c", 16, true, false, false);
  integers("v_dot2_u32_u16 $d, $a, $b, $c", 16, false, false, false);
  integers("v_dot2_i32_i16 $d, $a, $b, $c clamp", 16, true, false, true);
  integers("v_dot2c_i32_i16_e32 $d, $a, $b", 16, true, true, false);
  integers("v_dot4_i32_i8 $d, $a, $b, $c", 8, true, false, false);
  integers("v_dot4_u32_u8 $d, $a, $b, $c clamp", 8, false, false, true);
  integers("v_dot4c_i32_i8_e32 $d, $a, $b", 8, true, true, false);
  integers("v_dot8_i32_i4 $d, $a, $b, $c", 4, true, false, false);
  integers("v_dot8_u32_u4 $d, $a, $b, $c", 4, false, false, false);
  integers("v_dot8c_i32_i4_e32 $d, $a, $b", 4, true, true, false);
}

}  // namespace

std::vector<OpCase> packed_cases() {
  std::vector<OpCase> cases;
  add_integers(cases);
  add_f16(cases);
  add_f32(cases);
  add_mixed(cases);
  add_dots(cases);
  return cases;
}

}  // namespace headtune::sim
