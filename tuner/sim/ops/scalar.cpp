// Scalar ALU: SOP1, SOP2, SOPK and SOPC without control flow.
#include <algorithm>
#include <bit>
#include <span>

#include "tuner/sim/ops/operands.h"

namespace headtune::sim::HEADTUNE_SIM_ISA {
namespace {

using U = std::uint32_t;
using I = std::int32_t;
using W = std::uint64_t;  // a register pair
using S = std::int64_t;

template <class T>
T read(const Wave& wave, const Operand& operand) {
  if constexpr (sizeof(T) == 8) return static_cast<T>(scalar_pair(wave, operand));
  return static_cast<T>(scalar_word(wave, operand));
}

template <class T>
void put(Wave& wave, const Operand& operand, T value) {
  if constexpr (sizeof(T) == 8)
    wave.set_pair(operand.index, static_cast<W>(value));
  else
    wave.s[operand.index] = static_cast<U>(value);
}

template <class>
struct Sig;
template <class R, class A>
struct Sig<R (*)(A)> {
  static R call(R (*f)(A), const Wave& w, const Inst& i) { return f(read<A>(w, i.op[1])); }
  static constexpr std::array<Type, 6> types{sizeof(R) == 8 ? Type::b64 : Type::b32,
                                             sizeof(A) == 8 ? Type::i64 : Type::b32};
  static constexpr int count = 1;
};
template <class R, class A, class B>
struct Sig<R (*)(A, B)> {
  static R call(R (*f)(A, B), const Wave& w, const Inst& i) { return f(read<A>(w, i.op[1]), read<B>(w, i.op[2])); }
  static constexpr std::array<Type, 6> types{sizeof(R) == 8 ? Type::b64 : Type::b32,
                                             sizeof(A) == 8 ? Type::i64 : Type::b32,
                                             sizeof(B) == 8 ? Type::i64 : Type::b32};
  static constexpr int count = 2;
};

/// sdst = F(ssrc...), scc unchanged.
template <auto F>
void plain(Wave& wave, const Inst& inst) {
  put(wave, inst.op[0], Sig<decltype(+F)>::call(+F, wave, inst));
}

/// sdst = F(ssrc...), scc = result is not 0.
template <auto F>
void flagged(Wave& wave, const Inst& inst) {
  const auto result = Sig<decltype(+F)>::call(+F, wave, inst);
  put(wave, inst.op[0], result);
  wave.set_scc(result != 0);
}

/// scc = F(ssrc0, ssrc1).
template <class A, class B, auto F>
void compare(Wave& wave, const Inst& inst) {
  wave.set_scc(F(read<A>(wave, inst.op[0]), read<B>(wave, inst.op[1])));
}

/// Add or subtract; `F(a, b, scc, carry)` returns the sum and sets the new scc.
template <auto F>
void carrying(Wave& wave, const Inst& inst) {
  bool carry = false;
  const U sum = F(read<U>(wave, inst.op[1]), read<U>(wave, inst.op[2]), wave.s[sreg::scc], carry);
  put(wave, inst.op[0], sum);
  wave.set_scc(carry);
}

/// Minimum or maximum: scc tells that the first source was taken.
template <class T, auto First>
void pick(Wave& wave, const Inst& inst) {
  const T a = read<T>(wave, inst.op[1]), b = read<T>(wave, inst.op[2]);
  const bool first = First(a, b);
  put(wave, inst.op[0], first ? a : b);
  wave.set_scc(first);
}

template <class T>
void conditional_select(Wave& wave, const Inst& inst) {
  put(wave, inst.op[0], read<T>(wave, inst.op[wave.scc() ? 1 : 2]));
}
template <class T>
void conditional_move(Wave& wave, const Inst& inst) {
  if (wave.scc()) put(wave, inst.op[0], read<T>(wave, inst.op[1]));
}

/// exec = F(source, exec), sdst = old exec, scc = exec is not 0.
template <auto F>
void save_exec(Wave& wave, const Inst& inst) {
  const W source = read<W>(wave, inst.op[1]), exec = wave.exec();
  wave.set_exec(F(source, exec));
  put(wave, inst.op[0], exec);
  wave.set_scc(wave.exec() != 0);
}
/// The same, but sdst is the new exec.
template <auto F>
void write_exec(Wave& wave, const Inst& inst) {
  const W result = F(read<W>(wave, inst.op[1]), wave.exec());
  wave.set_exec(result);
  put(wave, inst.op[0], result);
  wave.set_scc(result != 0);
}

template <auto F>
constexpr OpEntry entry(const char* name) {
  return {name, plain<F>, Class::salu, 1, 0, Sig<decltype(+F)>::types};
}
template <auto F>
constexpr OpEntry entry_scc(const char* name) {
  return {name, flagged<F>, Class::salu, 1, writes_scc, Sig<decltype(+F)>::types};
}
template <auto F>
constexpr OpEntry entry_carry(const char* name, std::uint16_t flags = writes_scc) {
  return {name, carrying<F>, Class::salu, 1, flags, {}};
}
template <class T, auto First>
constexpr OpEntry entry_pick(const char* name) {
  return {name, pick<T, First>, Class::salu, 1, writes_scc, {}};
}
template <class A, class B, auto F>
constexpr OpEntry entry_compare(const char* name) {
  constexpr Type type = sizeof(A) == 8 ? Type::i64 : Type::b32;
  return {name, compare<A, B, F>, Class::salu, 0, writes_scc, {type, sizeof(B) == 8 ? Type::i64 : Type::b32}};
}
template <auto F>
constexpr OpEntry entry_save(const char* name) {
  return {name, save_exec<F>, Class::salu, 1, writes_scc | writes_exec, {Type::b64, Type::i64}};
}
template <auto F>
constexpr OpEntry entry_write(const char* name) {
  return {name, write_exec<F>, Class::salu, 1, writes_scc | writes_exec, {Type::b64, Type::i64}};
}

template <class T>
T reversed(T value) {
  T result = 0;
  for (unsigned bit = 0; bit < 8 * sizeof(T); ++bit) result |= (value >> bit & 1) << (8 * sizeof(T) - 1 - bit);
  return result;
}
/// Position of the lowest one, or -1.
template <class T>
I lowest_one(T value) {
  return value == 0 ? -1 : std::countr_zero(value);
}
/// Zeros above the highest one, or -1.
template <class T>
I leading_zeros(T value) {
  return value == 0 ? -1 : std::countl_zero(value);
}
/// Bits above the highest one that differs from the sign, or -1.
template <class T>
I leading_signs(T value) {
  return leading_zeros<T>(value >> (8 * sizeof(T) - 1) ? ~value : value);
}
/// Each group of four bits that has a one becomes one bit (quad mask) or four (whole quad mode).
template <class T>
T quads(T value, bool whole) {
  T result = 0;
  for (unsigned quad = 0; quad < 2 * sizeof(T); ++quad)
    if (value >> (4 * quad) & 15) result |= whole ? T{15} << (4 * quad) : T{1} << quad;
  return result;
}
W replicated(U value) {
  W result = 0;
  for (int bit = 0; bit < 32; ++bit) result |= static_cast<W>((value >> bit & 1) * 3) << (2 * bit);
  return result;
}
/// Field of `spec` (offset in the low bits, width in bits 16..22), zero- or sign-extended.
template <class T>
T field(T value, U spec) {
  using Unsigned = std::make_unsigned_t<T>;
  constexpr int bits = 8 * sizeof(T);
  const int offset = static_cast<int>(spec & (bits - 1));
  const int width = std::min<int>(spec >> 16 & 127, bits);
  if (width == 0) return 0;
  const T shifted = value >> offset;
  if (width == bits) return shifted;
  return static_cast<T>(static_cast<Unsigned>(shifted) << (bits - width)) >> (bits - width);
}
template <class T>
T mask_of(U width, U offset) {
  constexpr U last = 8 * sizeof(T) - 1;
  return ((T{1} << (width & last)) - 1) << (offset & last);
}
template <int N>
void shift_add(Wave& wave, const Inst& inst) {
  const W sum = (static_cast<W>(read<U>(wave, inst.op[1])) << N) + read<U>(wave, inst.op[2]);
  put(wave, inst.op[0], static_cast<U>(sum));
  wave.set_scc(sum >> 32 != 0);
}
template <class T, bool Value>
void set_bit(Wave& wave, const Inst& inst) {
  const Operand& target = inst.op[0];
  const T one = T{1} << (read<U>(wave, inst.op[1]) & (8 * sizeof(T) - 1));
  const T old = read<T>(wave, target);
  put<T>(wave, target, Value ? old | one : old & ~one);
}
void absolute(Wave& wave, const Inst& inst) {
  const I value = read<I>(wave, inst.op[1]);
  const U result = value < 0 ? 0u - static_cast<U>(value) : static_cast<U>(value);
  put(wave, inst.op[0], result);
  wave.set_scc(result != 0);
}

U add_overflow(U a, U b, U, bool& scc) {
  I sum;
  scc = __builtin_add_overflow(static_cast<I>(a), static_cast<I>(b), &sum);
  return static_cast<U>(sum);
}
U sub_overflow(U a, U b, U, bool& scc) {
  I difference;
  scc = __builtin_sub_overflow(static_cast<I>(a), static_cast<I>(b), &difference);
  return static_cast<U>(difference);
}
void add_immediate(Wave& wave, const Inst& inst) {
  bool overflow = false;
  const auto immediate = static_cast<U>(static_cast<std::int16_t>(read<U>(wave, inst.op[1])));
  const U sum = add_overflow(read<U>(wave, inst.op[0]), immediate, 0, overflow);
  put(wave, inst.op[0], sum);
  wave.set_scc(overflow);
}
void multiply_immediate(Wave& wave, const Inst& inst) {
  const auto immediate = static_cast<U>(static_cast<std::int16_t>(read<U>(wave, inst.op[1])));
  put(wave, inst.op[0], read<U>(wave, inst.op[0]) * immediate);
}
void move_immediate(Wave& wave, const Inst& inst) {
  put(wave, inst.op[0], static_cast<U>(static_cast<std::int16_t>(read<U>(wave, inst.op[1]))));
}
void conditional_move_immediate(Wave& wave, const Inst& inst) {
  if (wave.scc()) move_immediate(wave, inst);
}
/// SOPK compares: a register with a 16-bit immediate, signed or not.
template <class T, auto F>
void compare_immediate(Wave& wave, const Inst& inst) {
  const U raw = read<U>(wave, inst.op[1]);
  const T immediate =
      std::is_signed_v<T> ? static_cast<T>(static_cast<std::int16_t>(raw)) : static_cast<T>(raw & 0xffff);
  wave.set_scc(F(read<T>(wave, inst.op[0]), immediate));
}
template <class T, auto F>
constexpr OpEntry entry_immediate(const char* name) {
  return {name, compare_immediate<T, F>, Class::salu, 0, writes_scc, {}};
}

constexpr auto eq = [](auto a, auto b) { return a == b; };
constexpr auto ne = [](auto a, auto b) { return a != b; };
constexpr auto gt = [](auto a, auto b) { return (a > b); };
constexpr auto ge = [](auto a, auto b) { return (a >= b); };
constexpr auto lt = [](auto a, auto b) { return a < b; };
constexpr auto le = [](auto a, auto b) { return a <= b; };

constexpr OpEntry table[] = {
    entry<[](U a) { return a; }>("s_mov_b32"),
    entry<[](W a) { return a; }>("s_mov_b64"),
    {"s_cmov_b32", conditional_move<U>, Class::salu, 1, reads_scc | reads_dst, {}},
    {"s_cmov_b64", conditional_move<W>, Class::salu, 1, reads_scc | reads_dst, {Type::b64, Type::i64}},
    entry_scc<[](U a) { return ~a; }>("s_not_b32"),
    entry_scc<[](W a) { return ~a; }>("s_not_b64"),
    entry_scc<[](U a) { return quads<U>(a, true); }>("s_wqm_b32"),
    entry_scc<[](W a) { return quads<W>(a, true); }>("s_wqm_b64"),
    entry<[](U a) { return reversed<U>(a); }>("s_brev_b32"),
    entry<[](W a) { return reversed<W>(a); }>("s_brev_b64"),
    entry_scc<[](U a) { return std::popcount(~a); }>("s_bcnt0_i32_b32"),
    entry_scc<[](W a) { return std::popcount(~a); }>("s_bcnt0_i32_b64"),
    entry_scc<[](U a) { return std::popcount(a); }>("s_bcnt1_i32_b32"),
    entry_scc<[](W a) { return std::popcount(a); }>("s_bcnt1_i32_b64"),
    entry<[](U a) { return lowest_one<U>(~a); }>("s_ff0_i32_b32"),
    entry<[](W a) { return lowest_one<W>(~a); }>("s_ff0_i32_b64"),
    entry<[](U a) { return lowest_one<U>(a); }>("s_ff1_i32_b32"),
    entry<[](W a) { return lowest_one<W>(a); }>("s_ff1_i32_b64"),
    entry<[](U a) { return leading_zeros<U>(a); }>("s_flbit_i32_b32"),
    entry<[](W a) { return leading_zeros<W>(a); }>("s_flbit_i32_b64"),
    entry<[](U a) { return leading_signs<U>(a); }>("s_flbit_i32"),
    entry<[](W a) { return leading_signs<W>(a); }>("s_flbit_i32_i64"),
    entry<[](U a) { return static_cast<I>(static_cast<std::int8_t>(a)); }>("s_sext_i32_i8"),
    entry<[](U a) { return static_cast<I>(static_cast<std::int16_t>(a)); }>("s_sext_i32_i16"),
    {"s_bitset0_b32", set_bit<U, false>, Class::salu, 1, reads_dst, {}},
    {"s_bitset0_b64", set_bit<W, false>, Class::salu, 1, reads_dst, {}},
    {"s_bitset1_b32", set_bit<U, true>, Class::salu, 1, reads_dst, {}},
    {"s_bitset1_b64", set_bit<W, true>, Class::salu, 1, reads_dst, {}},
    entry_scc<[](U a) { return quads<U>(a, false); }>("s_quadmask_b32"),
    entry_scc<[](W a) { return quads<W>(a, false); }>("s_quadmask_b64"),
    {"s_abs_i32", absolute, Class::salu, 1, writes_scc, {}},
    entry<[](U a) { return replicated(a); }>("s_bitreplicate_b64_b32"),
    entry_save<[](W a, W e) { return a & e; }>("s_and_saveexec_b64"),
    entry_save<[](W a, W e) { return a | e; }>("s_or_saveexec_b64"),
    entry_save<[](W a, W e) { return a ^ e; }>("s_xor_saveexec_b64"),
    entry_save<[](W a, W e) { return a & ~e; }>("s_andn2_saveexec_b64"),
    entry_save<[](W a, W e) { return a | ~e; }>("s_orn2_saveexec_b64"),
    entry_save<[](W a, W e) { return ~(a & e); }>("s_nand_saveexec_b64"),
    entry_save<[](W a, W e) { return ~(a | e); }>("s_nor_saveexec_b64"),
    entry_save<[](W a, W e) { return ~(a ^ e); }>("s_xnor_saveexec_b64"),
    entry_save<[](W a, W e) { return ~a & e; }>("s_andn1_saveexec_b64"),
    entry_save<[](W a, W e) { return ~a | e; }>("s_orn1_saveexec_b64"),
    entry_write<[](W a, W e) { return ~a & e; }>("s_andn1_wrexec_b64"),
    entry_write<[](W a, W e) { return a & ~e; }>("s_andn2_wrexec_b64"),

    entry_carry<[](U a, U b, U, bool& c) { return c = a + b < a, a + b; }>("s_add_u32"),
    entry_carry<[](U a, U b, U, bool& c) { return c = (b > a), a - b; }>("s_sub_u32"),
    entry_carry<add_overflow>("s_add_i32"),
    entry_carry<sub_overflow>("s_sub_i32"),
    entry_carry<[](U a, U b, U s, bool& c) { return c = (W{a} + b + s > 0xffffffff), a + b + s; }>(
        "s_addc_u32", writes_scc | reads_scc),
    entry_carry<[](U a, U b, U s, bool& c) { return c = (W{b} + s > a), a - b - s; }>("s_subb_u32",
                                                                                      writes_scc | reads_scc),
    entry_pick<I, lt>("s_min_i32"),
    entry_pick<U, lt>("s_min_u32"),
    entry_pick<I, ge>("s_max_i32"),
    entry_pick<U, ge>("s_max_u32"),
    {"s_cselect_b32", conditional_select<U>, Class::salu, 1, reads_scc, {}},
    {"s_cselect_b64", conditional_select<W>, Class::salu, 1, reads_scc, {Type::b64, Type::i64, Type::i64}},
    entry_scc<[](U a, U b) { return a & b; }>("s_and_b32"),
    entry_scc<[](W a, W b) { return a & b; }>("s_and_b64"),
    entry_scc<[](U a, U b) { return a | b; }>("s_or_b32"),
    entry_scc<[](W a, W b) { return a | b; }>("s_or_b64"),
    entry_scc<[](U a, U b) { return a ^ b; }>("s_xor_b32"),
    entry_scc<[](W a, W b) { return a ^ b; }>("s_xor_b64"),
    entry_scc<[](U a, U b) { return a & ~b; }>("s_andn2_b32"),
    entry_scc<[](W a, W b) { return a & ~b; }>("s_andn2_b64"),
    entry_scc<[](U a, U b) { return a | ~b; }>("s_orn2_b32"),
    entry_scc<[](W a, W b) { return a | ~b; }>("s_orn2_b64"),
    entry_scc<[](U a, U b) { return ~(a & b); }>("s_nand_b32"),
    entry_scc<[](W a, W b) { return ~(a & b); }>("s_nand_b64"),
    entry_scc<[](U a, U b) { return ~(a | b); }>("s_nor_b32"),
    entry_scc<[](W a, W b) { return ~(a | b); }>("s_nor_b64"),
    entry_scc<[](U a, U b) { return ~(a ^ b); }>("s_xnor_b32"),
    entry_scc<[](W a, W b) { return ~(a ^ b); }>("s_xnor_b64"),
    entry_scc<[](U a, U b) { return a << (b & 31); }>("s_lshl_b32"),
    entry_scc<[](W a, U b) { return a << (b & 63); }>("s_lshl_b64"),
    entry_scc<[](U a, U b) { return (a >> (b & 31)); }>("s_lshr_b32"),
    entry_scc<[](W a, U b) { return (a >> (b & 63)); }>("s_lshr_b64"),
    entry_scc<[](I a, U b) { return (a >> (b & 31)); }>("s_ashr_i32"),
    entry_scc<[](S a, U b) { return (a >> (b & 63)); }>("s_ashr_i64"),
    entry<[](U a, U b) { return mask_of<U>(a, b); }>("s_bfm_b32"),
    entry<[](U a, U b) { return mask_of<W>(a, b); }>("s_bfm_b64"),
    entry<[](U a, U b) { return a * b; }>("s_mul_i32"),
    entry<[](U a, U b) { return static_cast<U>(W{a} * b >> 32); }>("s_mul_hi_u32"),
    entry<[](I a, I b) { return static_cast<I>(S{a} * b >> 32); }>("s_mul_hi_i32"),
    entry_scc<[](U a, U b) { return field<U>(a, b & ~32u); }>("s_bfe_u32"),
    entry_scc<[](I a, U b) { return field<I>(a, b & ~32u); }>("s_bfe_i32"),
    entry_scc<[](W a, U b) { return field<W>(a, b); }>("s_bfe_u64"),
    entry_scc<[](S a, U b) { return field<S>(a, b); }>("s_bfe_i64"),
    entry_scc<[](I a, I b) {
      return (a > b) ? static_cast<U>(a) - static_cast<U>(b) : static_cast<U>(b) - static_cast<U>(a);
    }>("s_absdiff_i32"),
    {"s_lshl1_add_u32", shift_add<1>, Class::salu, 1, writes_scc, {}},
    {"s_lshl2_add_u32", shift_add<2>, Class::salu, 1, writes_scc, {}},
    {"s_lshl3_add_u32", shift_add<3>, Class::salu, 1, writes_scc, {}},
    {"s_lshl4_add_u32", shift_add<4>, Class::salu, 1, writes_scc, {}},
    entry<[](U a, U b) { return (a & 0xffff) | b << 16; }>("s_pack_ll_b32_b16"),
    entry<[](U a, U b) { return (a & 0xffff) | (b & 0xffff0000); }>("s_pack_lh_b32_b16"),
    entry<[](U a, U b) { return (a >> 16 | (b & 0xffff0000)); }>("s_pack_hh_b32_b16"),

    {"s_movk_i32", move_immediate, Class::salu, 1, 0, {}},
    {"s_cmovk_i32", conditional_move_immediate, Class::salu, 1, reads_scc | reads_dst, {}},
    {"s_addk_i32", add_immediate, Class::salu, 1, writes_scc | reads_dst, {}},
    {"s_mulk_i32", multiply_immediate, Class::salu, 1, reads_dst, {}},
    entry_immediate<I, eq>("s_cmpk_eq_i32"),
    entry_immediate<I, ne>("s_cmpk_lg_i32"),
    entry_immediate<I, gt>("s_cmpk_gt_i32"),
    entry_immediate<I, ge>("s_cmpk_ge_i32"),
    entry_immediate<I, lt>("s_cmpk_lt_i32"),
    entry_immediate<I, le>("s_cmpk_le_i32"),
    entry_immediate<U, eq>("s_cmpk_eq_u32"),
    entry_immediate<U, ne>("s_cmpk_lg_u32"),
    entry_immediate<U, gt>("s_cmpk_gt_u32"),
    entry_immediate<U, ge>("s_cmpk_ge_u32"),
    entry_immediate<U, lt>("s_cmpk_lt_u32"),
    entry_immediate<U, le>("s_cmpk_le_u32"),

    entry_compare<I, I, eq>("s_cmp_eq_i32"),
    entry_compare<I, I, ne>("s_cmp_lg_i32"),
    entry_compare<I, I, gt>("s_cmp_gt_i32"),
    entry_compare<I, I, ge>("s_cmp_ge_i32"),
    entry_compare<I, I, lt>("s_cmp_lt_i32"),
    entry_compare<I, I, le>("s_cmp_le_i32"),
    entry_compare<U, U, eq>("s_cmp_eq_u32"),
    entry_compare<U, U, ne>("s_cmp_lg_u32"),
    entry_compare<U, U, gt>("s_cmp_gt_u32"),
    entry_compare<U, U, ge>("s_cmp_ge_u32"),
    entry_compare<U, U, lt>("s_cmp_lt_u32"),
    entry_compare<U, U, le>("s_cmp_le_u32"),
    entry_compare<W, W, eq>("s_cmp_eq_u64"),
    entry_compare<W, W, ne>("s_cmp_lg_u64"),
    entry_compare<U, U, [](U a, U b) { return (a >> (b & 31) & 1) == 0; }>("s_bitcmp0_b32"),
    entry_compare<U, U, [](U a, U b) { return (a >> (b & 31) & 1) == 1; }>("s_bitcmp1_b32"),
    entry_compare<W, U, [](W a, U b) { return (a >> (b & 63) & 1) == 0; }>("s_bitcmp0_b64"),
    entry_compare<W, U, [](W a, U b) { return (a >> (b & 63) & 1) == 1; }>("s_bitcmp1_b64"),
};

}  // namespace

std::span<const OpEntry> scalar_ops() { return table; }

}  // namespace headtune::sim::HEADTUNE_SIM_ISA
