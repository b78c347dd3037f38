// 8-bit floats. The reference enumerates the codes of the format and takes the nearest.
#include <algorithm>

#include "tests/sim/op_case.h"
#include "tests/sim/reference.h"

namespace headtune::sim {
namespace {

using namespace ref;

enum class Format { e4m3fn, e5m2, e4m3fnuz, e5m2fnuz };

double value_of(Format f, u32 code) {
  const bool wide = f == Format::e5m2 || f == Format::e5m2fnuz, fnuz = f == Format::e4m3fnuz || f == Format::e5m2fnuz;
  const int mantissa = wide ? 2 : 3, bias = (wide ? 15 : 7) + fnuz;
  if (fnuz && code == 0x80) return NAN;
  if (f == Format::e4m3fn && (code & 0x7f) == 0x7f) return NAN;
  if (f == Format::e5m2) return ieee(code, 5, 2);
  const u32 e = (code & 0x7f) >> mantissa, m = code & ((1u << mantissa) - 1);
  const double fraction = m / std::pow(2.0, mantissa), sign = code & 0x80 ? -1.0 : 1.0;
  return sign * (e == 0 ? std::ldexp(fraction, 1 - bias) : std::ldexp(1 + fraction, int(e) - bias));
}

u32 largest(Format f) { return f == Format::e4m3fn ? 0x7e : f == Format::e5m2 ? 0x7b : 0x7f; }

u32 overflowed(Format f, bool negative, bool nan) {
  if (f == Format::e4m3fnuz || f == Format::e5m2fnuz) return 0x80;
  const u32 sign = negative ? 0x80 : 0;
  return sign | (f == Format::e4m3fn ? 0x7f : nan ? 0x7e : 0x7c);
}

/// The code below a magnitude, and whether to round up: `up(distance below, gap)`.
template <class Up>
u32 encode(Format f, double x, Up up) {
  const bool negative = std::signbit(x);
  if (!std::isfinite(x)) return overflowed(f, negative, std::isnan(x));
  const double magnitude = std::fabs(x);
  u32 code = 0;
  while (code < largest(f) && value_of(f, code + 1) <= magnitude) ++code;
  const double top = value_of(f, largest(f)),
               gap = code == largest(f) ? top - value_of(f, code - 1) : value_of(f, code + 1) - value_of(f, code);
  if (magnitude - value_of(f, code) >= gap) return overflowed(f, negative, false);
  code += up((magnitude - value_of(f, code)) / gap, code);
  if (code > largest(f)) return overflowed(f, negative, false);
  if (code == 0 && (f == Format::e4m3fnuz || f == Format::e5m2fnuz)) return 0;
  return (negative ? 0x80 : 0) | code;
}

u32 nearest(Format f, double x) {
  return encode(f, x, [](double part, u32 code) { return part > 0.5 || (part == 0.5 && (code & 1)); });
}
u32 stochastic(Format f, double x, u32 random, int random_bits) {
  const double fraction = static_cast<double>(random >> (32 - random_bits)) / std::pow(2.0, random_bits);
  return encode(f, x, [fraction](double part, u32) { return part + fraction >= 1; });
}

void add(std::vector<OpCase>& cases, const char* arch, Format narrow, Format wide) {
  for (const bool is_wide : {false, true}) {
    const Format f = is_wide ? wide : narrow;
    const auto push = [&](const char* fp8, const char* bf8, Kindof sources, Kindof result, bool wide_d, auto expect) {
      OpCase c{is_wide ? bf8 : fp8, sources, result, expect};
      c.arch = arch;
      c.wide_d = wide_d;
      cases.push_back(c);
    };
    push("v_cvt_f32_fp8_e32 $d, $a", "v_cvt_f32_bf8_e32 $d, $a", Kindof::bits, Kindof::f32, false,
         [f](const Args& x) { return Result{bits(float(value_of(f, x.a & 255)))}; });
    push("v_cvt_f32_fp8_sdwa $d, $a dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:BYTE_2",
         "v_cvt_f32_bf8_sdwa $d, $a dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:BYTE_2", Kindof::bits, Kindof::f32,
         false, [f](const Args& x) { return Result{bits(float(value_of(f, x.a >> 16 & 255)))}; });
    push("v_cvt_pk_f32_fp8_e32 $d, $a", "v_cvt_pk_f32_bf8_e32 $d, $a", Kindof::bits, Kindof::f32, true,
         [f](const Args& x) {
           return Result{bits(float(value_of(f, x.a & 255))) | bits(float(value_of(f, x.a >> 8 & 255))) << 32};
         });
    push(
        "v_cvt_pk_fp8_f32 $d, $a, $b", "v_cvt_pk_bf8_f32 $d, $a, $b", Kindof::f32, Kindof::bits, false,
        [f](const Args& x) { return Result{nearest(f, f32(x.a)) | nearest(f, f32(x.b)) << 8 | (x.old & 0xffff0000)}; });
    push("v_cvt_pk_fp8_f32 $d, $a, $b op_sel:[0,0,1]", "v_cvt_pk_bf8_f32 $d, $a, $b op_sel:[0,0,1]", Kindof::f32,
         Kindof::bits, false, [f](const Args& x) {
           return Result{u64{nearest(f, f32(x.a)) | nearest(f, f32(x.b)) << 8} << 16 | (x.old & 0xffff)};
         });
    push("v_cvt_sr_fp8_f32 $d, $a, $b op_sel:[0,0,1,0]", "v_cvt_sr_bf8_f32 $d, $a, $b op_sel:[0,0,1,0]", Kindof::f32,
         Kindof::bits, false, [f, is_wide](const Args& x) {
           const u32 code = stochastic(f, f32(x.a), static_cast<u32>(x.b), is_wide ? 21 : 20);
           return Result{(x.old & 0xffff00ff) | code << 8};
         });
  }
}

constexpr double e2m1[] = {0, 0.5, 1, 1.5, 2, 3, 4, 6};
double fp4(u64 code) { return code & 8 ? -e2m1[code & 7] : e2m1[code & 7]; }
/// Nearest of the sixteen, ties to the even code; everything beyond 6 is 6.
u32 to_fp4(double x) {
  const u32 sign = std::signbit(x) ? 8 : 0;
  if (!(std::fabs(x) <= 6)) return sign | 7;
  u32 best = 0;
  for (u32 code = 1; code < 8; ++code) {
    const double here = std::fabs(std::fabs(x) - e2m1[code]), there = std::fabs(std::fabs(x) - e2m1[best]);
    if (here < there || (here == there && code % 2 == 0)) best = code;
  }
  return sign | best;
}

int scale(u64 x) { return static_cast<int>(field(x, 23, 8)) - 127; }

/// gfx950's conversions with a shared scale.
void add_scaled(std::vector<OpCase>& cases) {
  const auto push = [&](const char* text, Kindof sources, Kindof result, bool wide_d, auto expect) {
    OpCase c{text, sources, result, expect};
    c.wide_d = wide_d;
    cases.push_back(c);
  };
  const auto scaled = [](double x, int by) { return bits(static_cast<float>(std::ldexp(x, by))); };
  push("v_cvt_scalef32_pk_f32_fp8 $d, $a, $b op_sel:[1,0,0]", Kindof::bits, Kindof::f32, true, [scaled](const Args& x) {
    const auto one = [&](int at) { return scaled(value_of(Format::e4m3fn, x.a >> at & 255), scale(x.b)); };
    return Result{one(16) | one(24) << 32};
  });
  push("v_cvt_scalef32_pk_f32_fp4 $d, $a, $b op_sel:[0,1,0]", Kindof::bits, Kindof::f32, true, [scaled](const Args& x) {
    return Result{scaled(fp4(x.a >> 8 & 15), scale(x.b)) | scaled(fp4(x.a >> 12 & 15), scale(x.b)) << 32};
  });
  push("v_cvt_scalef32_f32_bf8 $d, $a, $b op_sel:[1,0,0]", Kindof::bits, Kindof::f32, false,
       [scaled](const Args& x) { return Result{scaled(value_of(Format::e5m2, x.a >> 16 & 255), scale(x.b))}; });
  push("v_cvt_scalef32_f16_fp8 $d, $a, $b op_sel:[1,0,1]", Kindof::bits, Kindof::f16, false, [](const Args& x) {
    const u64 code = to_half(std::ldexp(value_of(Format::e4m3fn, x.a >> 16 & 255), scale(x.b)));
    return Result{(x.old & 0xffff) | code << 16};
  });
  const auto pair = [](const Args& x, Format format, int at, auto to) {
    const auto one = [&](int byte) { return u64{to(std::ldexp(value_of(format, x.a >> byte & 255), scale(x.b)))}; };
    return Result{one(at) | one(at + 8) << 16};
  };
  const auto half_of = [](double x) { return to_half(static_cast<float>(x)); };
  const auto bfloat_of = [](double x) { return to_bfloat(static_cast<float>(x)); };
  push("v_cvt_scalef32_pk_f16_fp8 $d, $a, $b", Kindof::bits, Kindof::f16, false,
       [=](const Args& x) { return pair(x, Format::e4m3fn, 0, half_of); });
  push("v_cvt_scalef32_pk_bf16_fp8 $d, $a, $b", Kindof::bits, Kindof::bf16, false,
       [=](const Args& x) { return pair(x, Format::e4m3fn, 0, bfloat_of); });
  push("v_cvt_scalef32_pk_bf16_fp8 $d, $a, $b op_sel:[1,0,0]", Kindof::bits, Kindof::bf16, false,
       [=](const Args& x) { return pair(x, Format::e4m3fn, 16, bfloat_of); });
  push("v_cvt_scalef32_pk_bf16_fp8 $d, $a, 1.0 op_sel:[1,0,0]", Kindof::bits, Kindof::bf16, false, [=](const Args& x) {
    return pair({x.a, 0x3f800000}, Format::e4m3fn, 16, bfloat_of);
  });
  push("v_cvt_scalef32_pk_bf16_bf8 $d, $a, $b", Kindof::bits, Kindof::bf16, false,
       [=](const Args& x) { return pair(x, Format::e5m2, 0, bfloat_of); });
  push("v_cvt_scalef32_pk_fp4_f32 $d, $a, $b, $c op_sel:[0,0,0,1]", Kindof::f32, Kindof::bits, false,
       [](const Args& x) {
         const auto one = [&](u64 v) { return to_fp4(std::ldexp(double(f32(v)), -scale(x.c))); };
         return Result{(x.old & 0xff00ffff) | u64{one(x.a) | one(x.b) << 4} << 16};
       });
  push("v_cvt_scalef32_pk_fp8_f32 $d, $a, $b, $c", Kindof::f32, Kindof::bits, false, [](const Args& x) {
    const auto one = [&](u64 v) { return nearest(Format::e4m3fn, std::ldexp(double(f32(v)), -scale(x.c))); };
    return Result{(x.old & 0xffff0000) | one(x.a) | one(x.b) << 8};
  });
}

}  // namespace

std::vector<OpCase> small_float_cases() {
  std::vector<OpCase> cases;
  add(cases, "gfx942", Format::e4m3fnuz, Format::e5m2fnuz);
  add(cases, "gfx950", Format::e4m3fn, Format::e5m2);
  add_scaled(cases);
  // Stochastic rounding to 16 bits: the random bits are added below the kept mantissa.
  cases.push_back({"v_cvt_sr_bf16_f32 $d, $a, $b", Kindof::f32, Kindof::bits, [](const Args& x) {
                     const u32 code = static_cast<u32>(x.a);
                     const bool finite = std::isfinite(f32(code));
                     const u32 kept = finite ? static_cast<u32>((u64{code} + (static_cast<u32>(x.b) >> 16)) >> 16)
                                             : to_bfloat(f32(code));
                     const u32 result = std::isnan(f32(code)) ? (code >> 16 | 0x40) : kept;
                     return Result{(x.old & 0xffff0000) | (result & 0xffff)};
                   }});
  return cases;
}

}  // namespace headtune::sim
