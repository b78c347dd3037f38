// Vector ALU on integers and bits.
#include <algorithm>
#include <bit>
#include <limits>
#include <span>

#include "tuner/sim/ops/apply.h"

namespace headtune::sim::HEADTUNE_SIM_ISA {
namespace {

using U = std::uint32_t;
using I = std::int32_t;
using W = std::uint64_t;
using S = std::int64_t;

constexpr I signed24(U value) { return (static_cast<I>(value << 8) >> 8); }
constexpr U low24(U value) { return value & 0xffffff; }
constexpr U byte_of(U word, int n) { return (word >> (8 * n) & 0xff); }
constexpr U distance(U a, U b) { return (a > b ? a - b : b - a); }

// Branch-free, so that they vectorise.
constexpr U reversed(U x) {
  x = (x >> 1 & 0x55555555) | (x & 0x55555555) << 1;
  x = (x >> 2 & 0x33333333) | (x & 0x33333333) << 2;
  x = (x >> 4 & 0x0f0f0f0f) | (x & 0x0f0f0f0f) << 4;
  x = (x >> 8 & 0x00ff00ff) | (x & 0x00ff00ff) << 8;
  return x >> 16 | x << 16;
}
constexpr U ones(U x) {
  x = x - (x >> 1 & 0x55555555);
  x = (x & 0x33333333) + (x >> 2 & 0x33333333);
  return ((x + (x >> 4)) & 0x0f0f0f0f) * 0x01010101 >> 24;
}
constexpr U smeared(U x) {
  x |= x >> 1;
  x |= x >> 2;
  x |= x >> 4;
  x |= x >> 8;
  return x | x >> 16;
}
constexpr U leading_zeros(U x) { return x == 0 ? ~0u : 32 - ones(smeared(x)); }
constexpr U trailing_zeros(U x) { return x == 0 ? ~0u : ones((x & (0 - x)) - 1); }
constexpr U leading_signs(I x) { return leading_zeros(x < 0 ? ~static_cast<U>(x) : static_cast<U>(x)); }

constexpr U bfe_u(U value, U offset, U width) { return (value >> (offset & 31) & ((1u << (width & 31)) - 1)); }
constexpr I bfe_i(I value, U offset, U width) {
  const U bits = width & 31;
  const U up = bits == 0 ? 0 : static_cast<U>(value >> (offset & 31)) << (32 - bits);
  return bits == 0 ? 0 : static_cast<I>(up) >> (32 - bits);
}

template <class T>
constexpr T smallest(T a, T b) {
  return a < b ? a : b;
}
template <class T>
constexpr T largest(T a, T b) {
  return (a > b ? a : b);
}
template <class T>
constexpr T middle(T a, T b, T c) {
  return largest(smallest(a, b), smallest(largest(a, b), c));
}

template <class T>
constexpr T bounded(S value) {
  return static_cast<T>(std::clamp<S>(value, std::numeric_limits<T>::min(), std::numeric_limits<T>::max()));
}
constexpr b16 bounded16(I value) { return {static_cast<U>(std::clamp(value, 0, 0xffff))}; }
constexpr i16 bounded_i16(I value) { return {std::clamp(value, -0x8000, 0x7fff)}; }
constexpr I wide(b16 value) { return static_cast<I>(value.value); }

constexpr U permuted(U high, U low, U selector) {
  const W data = static_cast<W>(high) << 32 | low;
  U result = 0;
  for (int n = 0; n < 4; ++n) {
    const U pick = byte_of(selector, n);
    const U plain = static_cast<U>(data >> (8 * (pick & 7))) & 0xff;
    const U sign = (data >> (16 * (pick & 3) + 15) & 1) ? 0xff : 0;
    const U byte = pick < 8 ? plain : pick < 12 ? sign : pick == 12 ? 0 : 0xff;
    result |= byte << (8 * n);
  }
  return result;
}
constexpr U sad_u8(U a, U b, U c) {
  for (int n = 0; n < 4; ++n) c += distance(byte_of(a, n), byte_of(b, n));
  return c;
}
constexpr U msad_u8(U a, U b, U c) {
  for (int n = 0; n < 4; ++n) c += byte_of(b, n) == 0 ? 0 : distance(byte_of(a, n), byte_of(b, n));
  return c;
}
constexpr U lerp_u8(U a, U b, U c) {
  U result = 0;
  for (int n = 0; n < 4; ++n) result |= ((byte_of(a, n) + byte_of(b, n) + (c >> (8 * n) & 1)) >> 1) << (8 * n);
  return result;
}
constexpr U saturated_byte(I value, I low, I high) { return static_cast<U>(std::clamp(value, low, high)) & 0xff; }
constexpr b16 shifted_pair(I a, I b, U shift, I low, I high) {
  return {saturated_byte(a >> (shift & 31), low, high) | saturated_byte(b >> (shift & 31), low, high) << 8};
}

constexpr OpEntry table[] = {
    op<[](U a) { return a; }>("v_mov_b32"),
    op<[](U a) { return a; }>("v_accvgpr_read_b32"),
    op<[](U a) { return a; }>("v_accvgpr_write_b32"),
    op<[](U a) { return a; }>("v_accvgpr_mov_b32"),
    op<[](W a) { return a; }>("v_mov_b64"),
    op<[](U a) { return ~a; }>("v_not_b32"),
    op<[](U a) { return reversed(a); }>("v_bfrev_b32"),
    op<[](U a) { return leading_zeros(a); }>("v_ffbh_u32"),
    op<[](U a) { return trailing_zeros(a); }>("v_ffbl_b32"),
    op<[](I a) { return leading_signs(a); }>("v_ffbh_i32"),
    op<[](U a) { return a << 1 ^ (a >> 31 ? 197u : 0u); }>("v_prng_b32"),
    op<[](U a, U b, bit c) { return c.value ? b : a; }>("v_cndmask_b32"),

    op<[](U a, U b) { return a & b; }>("v_and_b32"),
    op<[](U a, U b) { return a | b; }>("v_or_b32"),
    op<[](U a, U b) { return a ^ b; }>("v_xor_b32"),
    op<[](U a, U b) { return ~(a ^ b); }>("v_xnor_b32"),
    op<[](U a, U b) { return (b >> (a & 31)); }>("v_lshrrev_b32"),
    op<[](U a, I b) { return (b >> (a & 31)); }>("v_ashrrev_i32"),
    op<[](U a, U b) { return b << (a & 31); }>("v_lshlrev_b32"),
    op<[](U a, W b) { return b << (a & 63); }>("v_lshlrev_b64"),
    op<[](U a, W b) { return (b >> (a & 63)); }>("v_lshrrev_b64"),
    op<[](U a, S b) { return (b >> (a & 63)); }>("v_ashrrev_i64"),
    op<[](I a, I b) { return smallest(a, b); }>("v_min_i32"),
    op<[](I a, I b) { return largest(a, b); }>("v_max_i32"),
    op<[](U a, U b) { return smallest(a, b); }>("v_min_u32"),
    op<[](U a, U b) { return largest(a, b); }>("v_max_u32"),

    saturating<[](U a, U b) { return a + b; }, [](U a, U b) { return bounded<U>(S{a} + b); }>("v_add_u32"),
    saturating<[](U a, U b) { return a - b; }, [](U a, U b) { return bounded<U>(S{a} - b); }>("v_sub_u32"),
    saturating<[](U a, U b) { return b - a; }, [](U a, U b) { return bounded<U>(S{b} - a); }>("v_subrev_u32"),
    saturating<[](I a, I b) { return static_cast<I>(static_cast<U>(a) + static_cast<U>(b)); },
               [](I a, I b) { return bounded<I>(S{a} + b); }>("v_add_i32"),
    saturating<[](I a, I b) { return static_cast<I>(static_cast<U>(a) - static_cast<U>(b)); },
               [](I a, I b) { return bounded<I>(S{a} - b); }>("v_sub_i32"),
    op<[](U a, U b) { return a * b; }>("v_mul_lo_u32", Class::valu_f64),
    op<[](U a, U b) { return static_cast<U>(W{a} * b >> 32); }>("v_mul_hi_u32", Class::valu_f64),
    op<[](I a, I b) { return static_cast<I>(S{a} * b >> 32); }>("v_mul_hi_i32", Class::valu_f64),
    op<[](U a, U b) { return static_cast<U>(signed24(a)) * static_cast<U>(signed24(b)); }>("v_mul_i32_i24"),
    op<[](U a, U b) { return static_cast<U>(S{signed24(a)} * signed24(b) >> 32); }>("v_mul_hi_i32_i24"),
    op<[](U a, U b) { return low24(a) * low24(b); }>("v_mul_u32_u24"),
    op<[](U a, U b) { return static_cast<U>(W{low24(a)} * low24(b) >> 32); }>("v_mul_hi_u32_u24"),
    saturating<[](U a, U b, U c) { return static_cast<U>(signed24(a)) * static_cast<U>(signed24(b)) + c; },
               [](U a, U b, U c) {
                 return static_cast<U>(bounded<I>(S{signed24(a)} * signed24(b) + static_cast<I>(c)));
               }>("v_mad_i32_i24"),
    saturating<[](U a, U b, U c) { return low24(a) * low24(b) + c; },
               [](U a, U b, U c) { return static_cast<U>(smallest<W>(W{low24(a)} * low24(b) + c, 0xffffffff)); }>(
        "v_mad_u32_u24"),

    op<[](U a, U b, U c) { return (a << (b & 31)) + c; }>("v_lshl_add_u32"),
    op<[](U a, U b, U c) { return (a + b) << (c & 31); }>("v_add_lshl_u32"),
    op<[](U a, U b, U c) { return a + b + c; }>("v_add3_u32"),
    op<[](U a, U b, U c) { return a << (b & 31) | c; }>("v_lshl_or_b32"),
    op<[](U a, U b, U c) { return (a & b) | c; }>("v_and_or_b32"),
    op<[](U a, U b, U c) { return a | b | c; }>("v_or3_b32"),
    op<[](U a, U b, U c) { return (a ^ b) + c; }>("v_xad_u32"),
    op<[](W a, U b, W c) { return (a << (b & 7)) + c; }>("v_lshl_add_u64"),
    op<[](U a, U b, U c) { return bfe_u(a, b, c); }>("v_bfe_u32"),
    op<[](I a, U b, U c) { return bfe_i(a, b, c); }>("v_bfe_i32"),
    op<[](U a, U b, U c) { return (a & b) | (~a & c); }>("v_bfi_b32"),
    op<[](U a, U b) { return ((1u << (a & 31)) - 1) << (b & 31); }>("v_bfm_b32"),
    op<[](U a, U b, U c) { return static_cast<U>((W{a} << 32 | b) >> (c & 31)); }>("v_alignbit_b32"),
    op<[](U a, U b, U c) { return static_cast<U>((W{a} << 32 | b) >> (8 * (c & 3))); }>("v_alignbyte_b32"),
    op<[](U a, U b, U c) { return permuted(a, b, c); }>("v_perm_b32"),
    op<[](U a, U b) { return ones(a) + b; }>("v_bcnt_u32_b32"),
    op<[](I a, I b, I c) { return smallest(smallest(a, b), c); }>("v_min3_i32"),
    op<[](U a, U b, U c) { return smallest(smallest(a, b), c); }>("v_min3_u32"),
    op<[](I a, I b, I c) { return largest(largest(a, b), c); }>("v_max3_i32"),
    op<[](U a, U b, U c) { return largest(largest(a, b), c); }>("v_max3_u32"),
    op<[](I a, I b, I c) { return middle(a, b, c); }>("v_med3_i32"),
    op<[](U a, U b, U c) { return middle(a, b, c); }>("v_med3_u32"),
    op<[](U a, U b, U c) { return lerp_u8(a, b, c); }>("v_lerp_u8"),
    op<[](U a, U b, U c) { return sad_u8(a, b, c); }>("v_sad_u8"),
    op<[](U a, U b, U c) { return (sad_u8(a, b, 0) << 16) + c; }>("v_sad_hi_u8"),
    op<[](U a, U b, U c) { return distance(a & 0xffff, b & 0xffff) + distance(a >> 16, b >> 16) + c; }>("v_sad_u16"),
    op<[](U a, U b, U c) { return distance(a, b) + c; }>("v_sad_u32"),
    op<[](U a, U b, U c) { return msad_u8(a, b, c); }>("v_msad_u8"),

    saturating<[](b16 a, b16 b) { return b16{a.value + b.value}; },
               [](b16 a, b16 b) { return bounded16(wide(a) + wide(b)); }>("v_add_u16"),
    saturating<[](b16 a, b16 b) { return b16{a.value - b.value}; },
               [](b16 a, b16 b) { return bounded16(wide(a) - wide(b)); }>("v_sub_u16"),
    saturating<[](b16 a, b16 b) { return b16{b.value - a.value}; },
               [](b16 a, b16 b) { return bounded16(wide(b) - wide(a)); }>("v_subrev_u16"),
    saturating<[](i16 a, i16 b) { return i16{a.value + b.value}; },
               [](i16 a, i16 b) { return bounded_i16(a.value + b.value); }>("v_add_i16"),
    saturating<[](i16 a, i16 b) { return i16{a.value - b.value}; },
               [](i16 a, i16 b) { return bounded_i16(a.value - b.value); }>("v_sub_i16"),
    op<[](b16 a, b16 b) { return b16{a.value * b.value}; }>("v_mul_lo_u16"),
    op<[](U a, b16 b) { return b16{b.value << (a & 15)}; }>("v_lshlrev_b16"),
    op<[](U a, b16 b) { return b16{(b.value >> (a & 15))}; }>("v_lshrrev_b16"),
    op<[](U a, i16 b) { return i16{(b.value >> (a & 15))}; }>("v_ashrrev_i16"),
    op<[](b16 a, b16 b) { return (a.value > b.value ? a : b); }>("v_max_u16"),
    op<[](i16 a, i16 b) { return (a.value > b.value ? a : b); }>("v_max_i16"),
    op<[](b16 a, b16 b) { return a.value < b.value ? a : b; }>("v_min_u16"),
    op<[](i16 a, i16 b) { return a.value < b.value ? a : b; }>("v_min_i16"),
    op<[](b16 a, b16 b, b16 c) { return b16{smallest(smallest(a.value, b.value), c.value)}; }>("v_min3_u16"),
    op<[](i16 a, i16 b, i16 c) { return i16{smallest(smallest(a.value, b.value), c.value)}; }>("v_min3_i16"),
    op<[](b16 a, b16 b, b16 c) { return b16{largest(largest(a.value, b.value), c.value)}; }>("v_max3_u16"),
    op<[](i16 a, i16 b, i16 c) { return i16{largest(largest(a.value, b.value), c.value)}; }>("v_max3_i16"),
    op<[](b16 a, b16 b, b16 c) { return b16{middle(a.value, b.value, c.value)}; }>("v_med3_u16"),
    op<[](i16 a, i16 b, i16 c) { return i16{middle(a.value, b.value, c.value)}; }>("v_med3_i16"),
    op<[](b16 a, b16 b, b16 c) { return b16{a.value * b.value + c.value}; }>("v_mad_legacy_u16"),
    op<[](b16 a, b16 b, b16 c) { return b16{a.value * b.value + c.value}; }>("v_mad_legacy_i16"),
    saturating<[](b16 a, b16 b, b16 c) { return b16{a.value * b.value + c.value}; },
               [](b16 a, b16 b, b16 c) {
                 return b16{static_cast<U>(smallest<W>(W{a.value} * b.value + c.value, 0xffff))};
               }>("v_mad_u16", keeps_high),
    saturating<[](i16 a, i16 b, i16 c) { return i16{a.value * b.value + c.value}; },
               [](i16 a, i16 b, i16 c) { return bounded_i16(a.value * b.value + c.value); }>("v_mad_i16", keeps_high),
    op<[](b16 a, b16 b, U c) { return a.value * b.value + c; }>("v_mad_u32_u16"),
    op<[](i16 a, i16 b, U c) { return static_cast<U>(a.value) * static_cast<U>(b.value) + c; }>("v_mad_i32_i16"),
    op<[](U a) {
      return b16{saturated_byte(static_cast<std::int16_t>(a), 0, 255) | saturated_byte(static_cast<I>(a) >> 16, 0, 255)
                                                                            << 8};
    }>("v_sat_pk_u8_i16"),
    op<[](I a, I b, U c) { return shifted_pair(a, b, c, -128, 127); }>("v_ashr_pk_i8_i32", Class::valu, keeps_high),
    op<[](I a, I b, U c) { return shifted_pair(a, b, c, 0, 255); }>("v_ashr_pk_u8_i32", Class::valu, keeps_high),
};

}  // namespace

std::span<const OpEntry> integer_ops() { return table; }

}  // namespace headtune::sim::HEADTUNE_SIM_ISA
