#include <algorithm>

#include "tests/sim/op_case.h"
#include "tests/sim/reference.h"

namespace headtune::sim {
namespace {

using namespace ref;

template <class F>
OpCase bits_case(const char* text, F expect) {
  return {text, Kindof::bits, Kindof::bits,
          [expect](const Args& x) { return Result{u64{static_cast<u32>(expect(x))}}; }};
}
template <class F>
OpCase half_case(const char* text, F expect) {
  return {text, Kindof::bits, Kindof::bits,
          [expect](const Args& x) { return Result{u64{static_cast<u32>(expect(x)) & 0xffff}}; }};
}
template <class F>
OpCase keeping_case(const char* text, F expect) {
  return {text, Kindof::bits, Kindof::bits, [expect](const Args& x) {
            return Result{u64{(static_cast<u32>(expect(x)) & 0xffff) | (static_cast<u32>(x.old) & 0xffff0000)}};
          }};
}

u32 A(const Args& x) { return static_cast<u32>(x.a); }
u32 B(const Args& x) { return static_cast<u32>(x.b); }
u32 C(const Args& x) { return static_cast<u32>(x.c); }
i64 sA(const Args& x) { return static_cast<i32>(x.a); }
i64 sB(const Args& x) { return static_cast<i32>(x.b); }
i64 sC(const Args& x) { return static_cast<i32>(x.c); }
i64 hA(const Args& x) { return sign_extended(x.a, 16); }
i64 hB(const Args& x) { return sign_extended(x.b, 16); }
i64 hC(const Args& x) { return sign_extended(x.c, 16); }
u32 uA(const Args& x) { return A(x) & 0xffff; }
u32 uB(const Args& x) { return B(x) & 0xffff; }
u32 uC(const Args& x) { return C(x) & 0xffff; }

i64 limited(i64 x, i64 low, i64 high) { return std::clamp(x, low, high); }
constexpr i64 i32_min = -0x80000000ll, i32_max = 0x7fffffff, u32_max = 0xffffffff;

i64 middle(i64 a, i64 b, i64 c) {
  i64 x[] = {a, b, c};
  std::sort(x, x + 3);
  return x[1];
}

int first_from_top(u32 x) {
  for (int i = 0; i < 32; ++i)
    if (bit(x, 31 - i)) return i;
  return -1;
}

u32 byte_permute(u32 high, u32 low, u32 select) {
  const u64 data = u64{high} << 32 | low;
  if (select >= 13) return 0xff;
  if (select == 12) return 0;
  if (select >= 8) return bit(data, 16 * (static_cast<int>(select) - 8) + 15) ? 0xff : 0;
  return field(data, 8 * static_cast<int>(select), 8);
}

u32 sad(u32 a, u32 b, int width, bool masked = false) {
  u32 sum = 0;
  for (int low = 0; low < 32; low += width) {
    const i64 x = field(a, low, width), y = field(b, low, width);
    if (!masked || y != 0) sum += static_cast<u32>(std::abs(x - y));
  }
  return sum;
}

OpCase wide(OpCase c, bool a, bool b, bool third, bool d) {
  c.wide_a = a;
  c.wide_b = b;
  c.wide_c = third;
  c.wide_d = d;
  return c;
}
template <class F>
OpCase wide_case(const char* text, F expect, bool a, bool b, bool c) {
  return wide(
      {text, Kindof::bits, Kindof::bits, [expect](const Args& x) { return Result{static_cast<u64>(expect(x))}; }}, a, b,
      c, true);
}

u32 truth_table(u32 a, u32 b, u32 c, u32 table) {
  u32 out = 0;
  for (int n = 0; n < 32; ++n) out |= bit(table, static_cast<int>(bit(a, n) * 4 + bit(b, n) * 2 + bit(c, n))) << n;
  return out;
}

void add_moves(std::vector<OpCase>& cases) {
  for (const char* text :
       {"v_mov_b32_e32 $d, $a", "v_accvgpr_read_b32 $d, $a", "v_accvgpr_write_b32 $d, $a", "v_accvgpr_mov_b32 $d, $a"})
    cases.push_back(bits_case(text, [](const Args& x) { return A(x); }));
  cases.push_back(wide_case(
      "v_mov_b64_e32 $d, $a", [](const Args& x) { return x.a; }, true, false, false));
  cases.push_back(bits_case("v_cndmask_b32_e64 $d, $a, $b, $n", [](const Args& x) { return x.carry ? B(x) : A(x); }));
  cases.push_back(bits_case("v_mov_b32_e32 $d, 0x12345678", [](const Args&) { return 0x12345678; }));
  cases.push_back(bits_case("v_mov_b32_e32 $d, -16", [](const Args&) { return -16; }));
  cases.push_back(bits_case("v_mov_b32_e32 $d, 0.15915494", [](const Args&) { return 0x3e22f983; }));
}

void add_bits(std::vector<OpCase>& cases) {
  const auto add = [&](const char* text, auto expect) { cases.push_back(bits_case(text, expect)); };
  add("v_not_b32_e32 $d, $a", [](const Args& x) { return ~A(x); });
  add("v_bfrev_b32_e32 $d, $a", [](const Args& x) {
    u32 out = 0;
    for (int n = 0; n < 32; ++n) out |= bit(x.a, n) << (31 - n);
    return out;
  });
  add("v_ffbh_u32_e32 $d, $a", [](const Args& x) { return first_from_top(A(x)); });
  add("v_ffbl_b32_e32 $d, $a", [](const Args& x) {
    for (int i = 0; i < 32; ++i)
      if (bit(x.a, i)) return i;
    return -1;
  });
  add("v_ffbh_i32_e32 $d, $a", [](const Args& x) {
    for (int i = 1; i < 32; ++i)
      if (bit(x.a, 31 - i) != bit(x.a, 31)) return i;
    return -1;
  });
  add("v_prng_b32_e32 $d, $a", [](const Args& x) { return A(x) * 2 ^ (bit(x.a, 31) ? 197 : 0); });
  add("v_and_b32_e32 $d, $a, $b", [](const Args& x) { return A(x) & B(x); });
  add("v_or_b32_e32 $d, $a, $b", [](const Args& x) { return A(x) | B(x); });
  add("v_xor_b32_e32 $d, $a, $b", [](const Args& x) { return A(x) ^ B(x); });
  add("v_xnor_b32_e32 $d, $a, $b", [](const Args& x) { return ~(A(x) ^ B(x)); });
  add("v_lshrrev_b32_e32 $d, $a, $b", [](const Args& x) { return B(x) >> (A(x) % 32); });
  add("v_ashrrev_i32_e32 $d, $a, $b", [](const Args& x) { return sB(x) >> (A(x) % 32); });
  add("v_lshlrev_b32_e32 $d, $a, $b", [](const Args& x) { return u64{B(x)} << (A(x) % 32); });
  add("v_bfe_u32 $d, $a, $b, $c", [](const Args& x) { return (A(x) >> (B(x) % 32)) & ((u64{1} << (C(x) % 32)) - 1); });
  add("v_bfe_i32 $d, $a, $b, $c", [](const Args& x) -> i64 {
    const int width = static_cast<int>(C(x) % 32);
    return width == 0 ? 0 : sign_extended(static_cast<u64>(sA(x) >> (B(x) % 32)), width);
  });
  add("v_bfi_b32 $d, $a, $b, $c", [](const Args& x) { return (A(x) & B(x)) | (~A(x) & C(x)); });
  add("v_bfm_b32 $d, $a, $b", [](const Args& x) { return ((u64{1} << (A(x) % 32)) - 1) << (B(x) % 32); });
  add("v_alignbit_b32 $d, $a, $b, $c", [](const Args& x) { return (u64{A(x)} << 32 | B(x)) >> (C(x) % 32); });
  add("v_alignbyte_b32 $d, $a, $b, $c", [](const Args& x) { return (u64{A(x)} << 32 | B(x)) >> (8 * (C(x) % 4)); });
  add("v_perm_b32 $d, $a, $b, $c", [](const Args& x) {
    u32 out = 0;
    for (int n = 0; n < 4; ++n) out |= byte_permute(A(x), B(x), field(x.c, 8 * n, 8)) << (8 * n);
    return out;
  });
  add("v_bcnt_u32_b32 $d, $a, $b", [](const Args& x) {
    u32 sum = B(x);
    for (int n = 0; n < 32; ++n) sum += bit(x.a, n);
    return sum;
  });
  add("v_bitop3_b32 $d, $a, $b, $c bitop3:0x6a", [](const Args& x) { return truth_table(A(x), B(x), C(x), 0x6a); });
  add("v_lerp_u8 $d, $a, $b, $c", [](const Args& x) {
    u32 out = 0;
    for (int n = 0; n < 32; n += 8) out |= ((field(x.a, n, 8) + field(x.b, n, 8) + bit(x.c, n)) / 2) << n;
    return out;
  });
  add("v_sad_u8 $d, $a, $b, $c", [](const Args& x) { return sad(A(x), B(x), 8) + C(x); });
  add("v_sad_hi_u8 $d, $a, $b, $c", [](const Args& x) { return (u64{sad(A(x), B(x), 8)} << 16) + C(x); });
  add("v_sad_u16 $d, $a, $b, $c", [](const Args& x) { return sad(A(x), B(x), 16) + C(x); });
  add("v_sad_u32 $d, $a, $b, $c", [](const Args& x) { return sad(A(x), B(x), 32) + C(x); });
  add("v_msad_u8 $d, $a, $b, $c", [](const Args& x) { return sad(A(x), B(x), 8, true) + C(x); });
}

void add_arithmetic(std::vector<OpCase>& cases) {
  const auto add = [&](const char* text, auto expect) { cases.push_back(bits_case(text, expect)); };
  add("v_min_i32_e32 $d, $a, $b", [](const Args& x) { return std::min(sA(x), sB(x)); });
  add("v_max_i32_e32 $d, $a, $b", [](const Args& x) { return std::max(sA(x), sB(x)); });
  add("v_min_u32_e32 $d, $a, $b", [](const Args& x) { return std::min(A(x), B(x)); });
  add("v_max_u32_e32 $d, $a, $b", [](const Args& x) { return std::max(A(x), B(x)); });
  add("v_add_u32_e32 $d, $a, $b", [](const Args& x) { return A(x) + B(x); });
  add("v_sub_u32_e32 $d, $a, $b", [](const Args& x) { return A(x) - B(x); });
  add("v_subrev_u32_e32 $d, $a, $b", [](const Args& x) { return B(x) - A(x); });
  add("v_add_u32_e64 $d, $a, $b clamp", [](const Args& x) { return limited(i64{A(x)} + B(x), 0, u32_max); });
  add("v_sub_u32_e64 $d, $a, $b clamp", [](const Args& x) { return limited(i64{A(x)} - B(x), 0, u32_max); });
  add("v_subrev_u32_e64 $d, $a, $b clamp", [](const Args& x) { return limited(i64{B(x)} - A(x), 0, u32_max); });
  add("v_add_i32 $d, $a, $b", [](const Args& x) { return sA(x) + sB(x); });
  add("v_sub_i32 $d, $a, $b", [](const Args& x) { return sA(x) - sB(x); });
  add("v_add_i32 $d, $a, $b clamp", [](const Args& x) { return limited(sA(x) + sB(x), i32_min, i32_max); });
  add("v_sub_i32 $d, $a, $b clamp", [](const Args& x) { return limited(sA(x) - sB(x), i32_min, i32_max); });
  add("v_mul_lo_u32 $d, $a, $b", [](const Args& x) { return u64{A(x)} * B(x); });
  add("v_mul_hi_u32 $d, $a, $b", [](const Args& x) { return u64{A(x)} * B(x) >> 32; });
  add("v_mul_hi_i32 $d, $a, $b", [](const Args& x) { return sA(x) * sB(x) >> 32; });
  add("v_mul_i32_i24_e32 $d, $a, $b", [](const Args& x) { return sign_extended(x.a, 24) * sign_extended(x.b, 24); });
  add("v_mul_hi_i32_i24_e32 $d, $a, $b",
      [](const Args& x) { return sign_extended(x.a, 24) * sign_extended(x.b, 24) >> 32; });
  add("v_mul_u32_u24_e32 $d, $a, $b", [](const Args& x) { return u64{field(x.a, 0, 24)} * field(x.b, 0, 24); });
  add("v_mul_hi_u32_u24_e32 $d, $a, $b",
      [](const Args& x) { return u64{field(x.a, 0, 24)} * field(x.b, 0, 24) >> 32; });
  add("v_mad_i32_i24 $d, $a, $b, $c",
      [](const Args& x) { return sign_extended(x.a, 24) * sign_extended(x.b, 24) + sC(x); });
  add("v_mad_i32_i24 $d, $a, $b, $c clamp",
      [](const Args& x) { return limited(sign_extended(x.a, 24) * sign_extended(x.b, 24) + sC(x), i32_min, i32_max); });
  add("v_mad_u32_u24 $d, $a, $b, $c", [](const Args& x) { return u64{field(x.a, 0, 24)} * field(x.b, 0, 24) + C(x); });
  add("v_mad_u32_u24 $d, $a, $b, $c clamp",
      [](const Args& x) { return limited(i64{field(x.a, 0, 24)} * field(x.b, 0, 24) + C(x), 0, u32_max); });
  add("v_lshl_add_u32 $d, $a, $b, $c", [](const Args& x) { return (u64{A(x)} << (B(x) % 32)) + C(x); });
  add("v_add_lshl_u32 $d, $a, $b, $c", [](const Args& x) { return (u64{A(x)} + B(x)) << (C(x) % 32); });
  add("v_add3_u32 $d, $a, $b, $c", [](const Args& x) { return u64{A(x)} + B(x) + C(x); });
  add("v_lshl_or_b32 $d, $a, $b, $c", [](const Args& x) { return (u64{A(x)} << (B(x) % 32)) | C(x); });
  add("v_and_or_b32 $d, $a, $b, $c", [](const Args& x) { return (A(x) & B(x)) | C(x); });
  add("v_or3_b32 $d, $a, $b, $c", [](const Args& x) { return A(x) | B(x) | C(x); });
  add("v_xad_u32 $d, $a, $b, $c", [](const Args& x) { return (A(x) ^ B(x)) + C(x); });
  add("v_min3_i32 $d, $a, $b, $c", [](const Args& x) { return std::min({sA(x), sB(x), sC(x)}); });
  add("v_min3_u32 $d, $a, $b, $c", [](const Args& x) { return std::min({A(x), B(x), C(x)}); });
  add("v_max3_i32 $d, $a, $b, $c", [](const Args& x) { return std::max({sA(x), sB(x), sC(x)}); });
  add("v_max3_u32 $d, $a, $b, $c", [](const Args& x) { return std::max({A(x), B(x), C(x)}); });
  add("v_med3_i32 $d, $a, $b, $c", [](const Args& x) { return middle(sA(x), sB(x), sC(x)); });
  add("v_med3_u32 $d, $a, $b, $c", [](const Args& x) { return middle(A(x), B(x), C(x)); });
  add("v_mad_u32_u16 $d, $a, $b, $c", [](const Args& x) { return u64{uA(x)} * uB(x) + C(x); });
  add("v_mad_i32_i16 $d, $a, $b, $c", [](const Args& x) { return hA(x) * hB(x) + sC(x); });
}

void add_halves(std::vector<OpCase>& cases) {
  const auto add = [&](const char* text, auto expect) { cases.push_back(half_case(text, expect)); };
  const auto keep = [&](const char* text, auto expect) { cases.push_back(keeping_case(text, expect)); };
  add("v_add_u16_e32 $d, $a, $b", [](const Args& x) { return A(x) + B(x); });
  add("v_sub_u16_e32 $d, $a, $b", [](const Args& x) { return A(x) - B(x); });
  add("v_subrev_u16_e32 $d, $a, $b", [](const Args& x) { return B(x) - A(x); });
  add("v_add_u16_e64 $d, $a, $b clamp", [](const Args& x) { return limited(uA(x) + uB(x), 0, 65535); });
  add("v_sub_u16_e64 $d, $a, $b clamp", [](const Args& x) { return limited(i64{uA(x)} - uB(x), 0, 65535); });
  add("v_subrev_u16_e64 $d, $a, $b clamp", [](const Args& x) { return limited(i64{uB(x)} - uA(x), 0, 65535); });
  add("v_add_i16 $d, $a, $b", [](const Args& x) { return hA(x) + hB(x); });
  add("v_sub_i16 $d, $a, $b", [](const Args& x) { return hA(x) - hB(x); });
  add("v_add_i16 $d, $a, $b clamp", [](const Args& x) { return limited(hA(x) + hB(x), -32768, 32767); });
  add("v_sub_i16 $d, $a, $b clamp", [](const Args& x) { return limited(hA(x) - hB(x), -32768, 32767); });
  add("v_add_i16 $d, $a, $b op_sel:[1,1,0]", [](const Args& x) { return (A(x) >> 16) + (B(x) >> 16); });
  add("v_mul_lo_u16_e32 $d, $a, $b", [](const Args& x) { return uA(x) * uB(x); });
  add("v_lshlrev_b16_e32 $d, $a, $b", [](const Args& x) { return uB(x) << (A(x) % 16); });
  add("v_lshrrev_b16_e32 $d, $a, $b", [](const Args& x) { return uB(x) >> (A(x) % 16); });
  add("v_ashrrev_i16_e32 $d, $a, $b", [](const Args& x) { return hB(x) >> (A(x) % 16); });
  add("v_max_u16_e32 $d, $a, $b", [](const Args& x) { return std::max(uA(x), uB(x)); });
  add("v_max_i16_e32 $d, $a, $b", [](const Args& x) { return std::max(hA(x), hB(x)); });
  add("v_min_u16_e32 $d, $a, $b", [](const Args& x) { return std::min(uA(x), uB(x)); });
  add("v_min_i16_e32 $d, $a, $b", [](const Args& x) { return std::min(hA(x), hB(x)); });
  add("v_min3_u16 $d, $a, $b, $c", [](const Args& x) { return std::min({uA(x), uB(x), uC(x)}); });
  add("v_min3_i16 $d, $a, $b, $c", [](const Args& x) { return std::min({hA(x), hB(x), hC(x)}); });
  add("v_max3_u16 $d, $a, $b, $c", [](const Args& x) { return std::max({uA(x), uB(x), uC(x)}); });
  add("v_max3_i16 $d, $a, $b, $c", [](const Args& x) { return std::max({hA(x), hB(x), hC(x)}); });
  add("v_med3_u16 $d, $a, $b, $c", [](const Args& x) { return middle(uA(x), uB(x), uC(x)); });
  add("v_med3_i16 $d, $a, $b, $c", [](const Args& x) { return middle(hA(x), hB(x), hC(x)); });
  add("v_mad_legacy_u16 $d, $a, $b, $c", [](const Args& x) { return uA(x) * uB(x) + uC(x); });
  add("v_mad_legacy_i16 $d, $a, $b, $c", [](const Args& x) { return hA(x) * hB(x) + hC(x); });
  add("v_bitop3_b16 $d, $a, $b, $c bitop3:0x1b", [](const Args& x) { return truth_table(A(x), B(x), C(x), 0x1b); });
  keep("v_mad_u16 $d, $a, $b, $c", [](const Args& x) { return uA(x) * uB(x) + uC(x); });
  keep("v_mad_i16 $d, $a, $b, $c", [](const Args& x) { return hA(x) * hB(x) + hC(x); });
  keep("v_mad_u16 $d, $a, $b, $c clamp", [](const Args& x) { return limited(i64{uA(x)} * uB(x) + uC(x), 0, 65535); });
  keep("v_mad_i16 $d, $a, $b, $c clamp", [](const Args& x) { return limited(hA(x) * hB(x) + hC(x), -32768, 32767); });
  add("v_sat_pk_u8_i16_e32 $d, $a",
      [](const Args& x) { return limited(hA(x), 0, 255) | limited(sign_extended(x.a >> 16, 16), 0, 255) << 8; });
  keep("v_ashr_pk_i8_i32 $d, $a, $b, $c", [](const Args& x) {
    const int by = static_cast<int>(C(x) % 32);
    return (limited(sA(x) >> by, -128, 127) & 255) | (limited(sB(x) >> by, -128, 127) & 255) << 8;
  });
  keep("v_ashr_pk_u8_i32 $d, $a, $b, $c", [](const Args& x) {
    const int by = static_cast<int>(C(x) % 32);
    return limited(sA(x) >> by, 0, 255) | limited(sB(x) >> by, 0, 255) << 8;
  });
}

}  // namespace

std::vector<OpCase> integer_cases() {
  std::vector<OpCase> cases;
  add_moves(cases);
  add_bits(cases);
  add_arithmetic(cases);
  add_halves(cases);
  cases.push_back(wide_case(
      "v_lshlrev_b64 $d, $a, $b", [](const Args& x) { return x.b << (A(x) % 64); }, false, true, false));
  cases.push_back(wide_case(
      "v_lshrrev_b64 $d, $a, $b", [](const Args& x) { return x.b >> (A(x) % 64); }, false, true, false));
  cases.push_back(wide_case(
      "v_ashrrev_i64 $d, $a, $b", [](const Args& x) { return static_cast<i64>(x.b) >> (A(x) % 64); }, false, true,
      false));
  cases.push_back(wide_case(
      "v_lshl_add_u64 $d, $a, $b, $c", [](const Args& x) { return (x.a << (B(x) % 8)) + x.c; }, true, false, true));
  return cases;
}

std::vector<OpCase> carry_cases() {
  std::vector<OpCase> cases;
  const auto add = [&](const char* text, auto sum) {
    cases.push_back({text, Kindof::bits, Kindof::bits, [sum](const Args& x) {
                       const i64 value = sum(x);
                       return Result{static_cast<u32>(value), value < 0 || value > u32_max};
                     }});
  };
  add("v_add_co_u32_e64 $d, $m, $a, $b", [](const Args& x) { return i64{A(x)} + B(x); });
  add("v_sub_co_u32_e64 $d, $m, $a, $b", [](const Args& x) { return i64{A(x)} - B(x); });
  add("v_subrev_co_u32_e64 $d, $m, $a, $b", [](const Args& x) { return i64{B(x)} - A(x); });
  add("v_addc_co_u32_e64 $d, $m, $a, $b, $n", [](const Args& x) { return i64{A(x)} + B(x) + x.carry; });
  add("v_subb_co_u32_e64 $d, $m, $a, $b, $n", [](const Args& x) { return i64{A(x)} - B(x) - x.carry; });
  add("v_subbrev_co_u32_e64 $d, $m, $a, $b, $n", [](const Args& x) { return i64{B(x)} - A(x) - x.carry; });
  cases.push_back(wide({"v_mad_u64_u32 $d, $m, $a, $b, $c", Kindof::bits, Kindof::bits,
                        [](const Args& x) {
                          const unsigned __int128 sum = static_cast<unsigned __int128>(u64{A(x)} * B(x)) + x.c;
                          return Result{static_cast<u64>(sum), (sum >> 64 & 1) != 0};
                        }},
                       false, false, true, true));
  cases.push_back(wide({"v_mad_i64_i32 $d, $m, $a, $b, $c", Kindof::bits, Kindof::bits,
                        [](const Args& x) {
                          const __int128 sum = static_cast<__int128>(sA(x) * sB(x)) + static_cast<i64>(x.c);
                          return Result{static_cast<u64>(sum), (sum >> 64 & 1) != 0};
                        }},
                       false, false, true, true));
  const auto below = [](u64 mask, int lane, int from) {
    u32 sum = 0;
    for (int n = 0; n < 32; ++n) sum += from + n < lane ? bit(mask, n) : 0;
    return sum;
  };
  cases.push_back(
      bits_case("v_mbcnt_lo_u32_b32 $d, $a, $b", [below](const Args& x) { return below(A(x), x.lane, 0) + B(x); }));
  cases.push_back(
      bits_case("v_mbcnt_hi_u32_b32 $d, $a, $b", [below](const Args& x) { return below(A(x), x.lane, 32) + B(x); }));
  for (const bool masked : {false, true})
    cases.push_back(wide(
        {masked ? "v_mqsad_pk_u16_u8 $d, $a, $b, $c" : "v_qsad_pk_u16_u8 $d, $a, $b, $c", Kindof::bits, Kindof::bits,
         [masked](const Args& x) {
           u64 out = 0;
           for (int n = 0; n < 4; ++n) {
             const u32 sum = sad(static_cast<u32>(x.a >> (8 * n)), B(x), 8, masked) + field(x.c, 16 * n, 16);
             out |= u64{sum & 0xffff} << (16 * n);
           }
           return Result{out};
         }},
        true, false, true, true));
  return cases;
}

}  // namespace headtune::sim
