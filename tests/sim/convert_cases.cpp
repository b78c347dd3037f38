#include <algorithm>

#include "tests/sim/op_case.h"
#include "tests/sim/reference.h"

namespace headtune::sim {
namespace {

using namespace ref;

/// Towards zero into [low, high]; NaN is 0.
i64 saturated(double x, double low, double high) {
  if (std::isnan(x)) return 0;
  return static_cast<i64>(std::trunc(std::clamp(x, low, high)));
}
i64 even(double x) {
  const double down = std::floor(x);
  return static_cast<i64>(x - down > 0.5 || (x - down == 0.5 && std::fmod(down, 2) != 0) ? down + 1 : down);
}
u32 snorm(double x) {
  return std::isnan(x) ? 0 : static_cast<u32>(even(static_cast<float>(std::clamp(x, -1.0, 1.0)) * 32767.0f)) & 0xffff;
}
u32 unorm(double x) {
  return std::isnan(x) ? 0 : static_cast<u32>(even(static_cast<float>(std::clamp(x, 0.0, 1.0)) * 65535.0f));
}

/// A half at most as large in magnitude.
u32 half_to_zero(float x) {
  u32 code = to_half(x);
  if (std::isnan(x) || std::isinf(x)) return code;
  if (std::fabs(half(code)) > std::fabs(double(x))) --code;
  return code;
}

}  // namespace

std::vector<OpCase> convert_cases() {
  std::vector<OpCase> cases;
  const auto from_f32 = [&](const char* text, Kindof result, auto f) {
    cases.push_back({text, Kindof::f32, result,
                     [f](const Args& x) { return Result{static_cast<u64>(f(f32(x.a), f32(x.b))) & 0xffffffff}; }});
  };
  const auto from_bits = [&](const char* text, Kindof result, auto f) {
    cases.push_back(
        {text, Kindof::bits, result, [f](const Args& x) { return Result{static_cast<u64>(f(x)) & 0xffffffff}; }});
  };
  const auto from_f16 = [&](const char* text, auto f) {
    cases.push_back({text, Kindof::f16, Kindof::bits,
                     [f](const Args& x) { return Result{static_cast<u64>(f(half(x.a), half(x.b))) & 0xffffffff}; }});
  };
  from_f32("v_cvt_i32_f32_e32 $d, $a", Kindof::bits, [](float a, float) { return saturated(a, -0x1p31, 0x1p31 - 1); });
  from_f32("v_cvt_u32_f32_e32 $d, $a", Kindof::bits, [](float a, float) { return saturated(a, 0, 0x1p32 - 1); });
  from_f32("v_cvt_rpi_i32_f32_e32 $d, $a", Kindof::bits,
           [](float a, float) { return saturated(std::floor(a + 0.5f), -0x1p31, 0x1p31 - 1); });
  from_f32("v_cvt_flr_i32_f32_e32 $d, $a", Kindof::bits,
           [](float a, float) { return saturated(std::floor(a), -0x1p31, 0x1p31 - 1); });
  from_f32("v_cvt_f16_f32_e32 $d, $a", Kindof::f16, [](float a, float) { return to_half(a); });
  from_f32("v_cvt_pk_bf16_f32 $d, $a, $b", Kindof::bf16,
           [](float a, float b) { return u64{to_bfloat(a)} | u64{to_bfloat(b)} << 16; });
  from_f32("v_cvt_pk_f16_f32 $d, $a, $b", Kindof::f16,
           [](float a, float b) { return u64{to_half(a)} | u64{to_half(b)} << 16; });
  from_f32("v_cvt_pkrtz_f16_f32_e32 $d, $a, $b", Kindof::f16,
           [](float a, float b) { return u64{half_to_zero(a)} | u64{half_to_zero(b)} << 16; });
  from_f32("v_cvt_pknorm_i16_f32 $d, $a, $b", Kindof::bits,
           [](float a, float b) { return snorm(a) | u64{snorm(b)} << 16; });
  from_f32("v_cvt_pknorm_u16_f32 $d, $a, $b", Kindof::bits,
           [](float a, float b) { return unorm(a) | u64{unorm(b)} << 16; });
  from_f16("v_cvt_pknorm_i16_f16 $d, $a, $b", [](double a, double b) { return snorm(a) | u64{snorm(b)} << 16; });
  from_f16("v_cvt_pknorm_u16_f16 $d, $a, $b", [](double a, double b) { return unorm(a) | u64{unorm(b)} << 16; });
  from_f16("v_cvt_norm_i16_f16_e32 $d, $a", [](double a, double) { return snorm(a); });
  from_f16("v_cvt_norm_u16_f16_e32 $d, $a", [](double a, double) { return unorm(a); });
  from_f16("v_cvt_u16_f16_e32 $d, $a", [](double a, double) { return saturated(a, 0, 65535); });
  from_f16("v_cvt_i16_f16_e32 $d, $a", [](double a, double) { return saturated(a, -32768, 32767) & 0xffff; });
  cases.push_back({"v_cvt_f32_f16_e32 $d, $a", Kindof::f16, Kindof::f32,
                   [](const Args& x) { return Result{bits(static_cast<float>(half(x.a)))}; }});
  cases.push_back({"v_cvt_f32_f16_sdwa $d, $a dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:WORD_1", Kindof::f16,
                   Kindof::f32, [](const Args& x) { return Result{bits(static_cast<float>(half(x.a >> 16)))}; }});
  cases.push_back({"v_cvt_f32_bf16_e32 $d, $a", Kindof::bf16, Kindof::f32,
                   [](const Args& x) { return Result{bits(static_cast<float>(bfloat(x.a)))}; }});
  from_bits("v_cvt_f32_i32_e32 $d, $a", Kindof::f32,
            [](const Args& x) { return bits(static_cast<float>(static_cast<i32>(x.a))); });
  from_bits("v_cvt_f32_u32_e32 $d, $a", Kindof::f32,
            [](const Args& x) { return bits(static_cast<float>(static_cast<u32>(x.a))); });
  from_bits("v_cvt_off_f32_i4_e32 $d, $a", Kindof::f32,
            [](const Args& x) { return bits(static_cast<float>(sign_extended(x.a, 4)) / 16.0f); });
  from_bits("v_cvt_f32_ubyte0_e32 $d, $a", Kindof::f32, [](const Args& x) { return bits(float(field(x.a, 0, 8))); });
  from_bits("v_cvt_f32_ubyte1_e32 $d, $a", Kindof::f32, [](const Args& x) { return bits(float(field(x.a, 8, 8))); });
  from_bits("v_cvt_f32_ubyte2_e32 $d, $a", Kindof::f32, [](const Args& x) { return bits(float(field(x.a, 16, 8))); });
  from_bits("v_cvt_f32_ubyte3_e32 $d, $a", Kindof::f32, [](const Args& x) { return bits(float(field(x.a, 24, 8))); });
  from_bits("v_cvt_f16_u16_e32 $d, $a", Kindof::f16, [](const Args& x) { return to_half(double(x.a & 0xffff)); });
  from_bits("v_cvt_f16_i16_e32 $d, $a", Kindof::f16,
            [](const Args& x) { return to_half(double(sign_extended(x.a, 16))); });
  from_bits("v_cvt_pk_u16_u32 $d, $a, $b", Kindof::bits, [](const Args& x) {
    return std::min<u64>(static_cast<u32>(x.a), 65535) | std::min<u64>(static_cast<u32>(x.b), 65535) << 16;
  });
  from_bits("v_cvt_pk_i16_i32 $d, $a, $b", Kindof::bits, [](const Args& x) {
    const i64 a = std::clamp<i64>(static_cast<i32>(x.a), -32768, 32767),
              b = std::clamp<i64>(static_cast<i32>(x.b), -32768, 32767);
    return (a & 0xffff) | (b & 0xffff) << 16;
  });
  from_bits("v_cvt_pk_u8_f32 $d, $a, $b, $c", Kindof::bits, [](const Args& x) {
    const int at = 8 * static_cast<int>(x.b % 4);
    const double a = f32(x.a);
    const u64 byte = std::isnan(a) ? 0 : static_cast<u64>(even(std::clamp(a, 0.0, 255.0)));
    return (x.c & ~(u64{255} << at)) | byte << at;
  });

  const auto wide = [&](const char* text, Kindof sources, Kindof result, bool a, bool d, auto f) {
    OpCase c{text, sources, result, [f](const Args& x) { return Result{static_cast<u64>(f(x))}; }};
    c.wide_a = a;
    c.wide_d = d;
    cases.push_back(c);
  };
  wide("v_cvt_i32_f64_e32 $d, $a", Kindof::f64, Kindof::bits, true, false,
       [](const Args& x) { return static_cast<u32>(saturated(f64(x.a), -0x1p31, 0x1p31 - 1)); });
  wide("v_cvt_u32_f64_e32 $d, $a", Kindof::f64, Kindof::bits, true, false,
       [](const Args& x) { return static_cast<u32>(saturated(f64(x.a), 0, 0x1p32 - 1)); });
  wide("v_cvt_f64_i32_e32 $d, $a", Kindof::bits, Kindof::f64, false, true,
       [](const Args& x) { return bits(static_cast<double>(static_cast<i32>(x.a))); });
  wide("v_cvt_f64_u32_e32 $d, $a", Kindof::bits, Kindof::f64, false, true,
       [](const Args& x) { return bits(static_cast<double>(static_cast<u32>(x.a))); });
  wide("v_cvt_f32_f64_e32 $d, $a", Kindof::f64, Kindof::f32, true, false,
       [](const Args& x) { return bits(static_cast<float>(f64(x.a))); });
  wide("v_cvt_f64_f32_e32 $d, $a", Kindof::f32, Kindof::f64, false, true,
       [](const Args& x) { return bits(static_cast<double>(f32(x.a))); });
  return cases;
}

}  // namespace headtune::sim
