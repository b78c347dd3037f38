// Vector ALU with a scalar pair as second result or with lane numbers: carries, wide multiply-add, bit counts below a
// lane.
#include <span>

#include "tuner/sim/ops/apply.h"

namespace headtune::sim::HEADTUNE_SIM_ISA {
namespace {

using U = std::uint32_t;
using W = std::uint64_t;

struct Sum {
  U value;
  U carry;
};

constexpr Sum add(U a, U b, U carry) {
  const W sum = W{a} + b + carry;
  return {static_cast<U>(sum), static_cast<U>(sum >> 32)};
}
constexpr Sum subtract(U a, U b, U borrow) {
  const W difference = W{a} - b - borrow;
  return {static_cast<U>(difference), static_cast<U>(difference >> 63)};
}
constexpr Sum subtract_reversed(U a, U b, U borrow) { return subtract(b, a, borrow); }

void write_mask(Wave& wave, const Operand& to, const Values<U>& flags) {
  wave.set_pair(to.index, pack_mask(flags.lane) & wave.exec());
}

/// vdst, sdst = F(src0, src1[, carry-in pair])
template <auto F, U Limit>
void carrying(Wave& wave, const Inst& inst) {
  Values<U> a_buffer, b_buffer, value, carry;
  Values<bit> in{};
  const U* a = fetch<U>(wave, inst, 2, a_buffer);
  const U* b = fetch<U>(wave, inst, 3, b_buffer);
  if (inst.count > 4) fetch_bits(wave, inst, 4, in);
  for (int lane = 0; lane < kLanes; ++lane) {
    const Sum sum = F(a[lane], b[lane], in.lane[lane].value);
    value.lane[lane] = inst.clamp && sum.carry ? Limit : sum.value;
    carry.lane[lane] = sum.carry;
  }
  finish<U>(wave, inst, value);
  write_mask(wave, inst.op[1], carry);
}

/// `Limit` is what the clamp bit saturates to.
template <auto F, U Limit>
constexpr OpEntry carry_op(const char* name) {
  return {name, carrying<F, Limit>, Class::valu, 2, saturates, {}};
}

/// vdst (pair), sdst = src0 * src1 + src2 (pair)
template <bool Signed>
void wide_multiply_add(Wave& wave, const Inst& inst) {
  Values<U> a_buffer, b_buffer, carry;
  Values<W> addend, value;
  const U* a = fetch<U>(wave, inst, 2, a_buffer);
  const U* b = fetch<U>(wave, inst, 3, b_buffer);
  fetch_pairs(wave, inst, 4, addend);
  for (int lane = 0; lane < kLanes; ++lane) {
    using S = std::int64_t;
    const W product = Signed
                          ? static_cast<W>(S{static_cast<std::int32_t>(a[lane])} * static_cast<std::int32_t>(b[lane]))
                          : W{a[lane]} * b[lane];
    value.lane[lane] = product + addend.lane[lane];
    const bool below = value.lane[lane] < product;
    // Signed: bit 64 of the 65-bit sum of sign-extended terms.
    const U signs = static_cast<U>(product >> 63) ^ static_cast<U>(addend.lane[lane] >> 63);
    carry.lane[lane] = Signed ? signs ^ U { below } : U{below};
  }
  finish_pairs(wave, inst, value);
  write_mask(wave, inst.op[1], carry);
}

constexpr U ones(U x) {
  x = x - (x >> 1 & 0x55555555);
  x = (x & 0x33333333) + (x >> 2 & 0x33333333);
  return ((x + (x >> 4)) & 0x0f0f0f0f) * 0x01010101 >> 24;
}

/// Ones of src0 among the lanes below this one (of its half of the wave), plus src1.
template <int Half>
void count_below(Wave& wave, const Inst& inst) {
  Values<U> a_buffer, b_buffer, value;
  const U* a = fetch<U>(wave, inst, 1, a_buffer);
  const U* b = fetch<U>(wave, inst, 2, b_buffer);
  for (int lane = 0; lane < kLanes; ++lane) {
    const W below = (W{1} << lane) - 1;
    value.lane[lane] = ones(a[lane] & static_cast<U>(below >> (32 * Half))) + b[lane];
  }
  finish<U>(wave, inst, value);
}

/// v_swap_b32: both registers are written in the active lanes.
void swap(Wave& wave, const Inst& inst) {
  Lanes first, second;
  std::memcpy(first.word, wave.v[inst.op[0].index], sizeof first);
  std::memcpy(second.word, wave.v[inst.op[1].index], sizeof second);
  write(wave, inst.op[0], 0, second);
  write(wave, inst.op[1], 0, first);
}

/// v_bitop3: bit (a, b, c) of the truth table.
U looked_up(U a, U b, U c, unsigned table) {
  U result = 0;
  for (unsigned row = 0; row < 8; ++row) {
    const U match = (row & 4 ? a : ~a) & (row & 2 ? b : ~b) & (row & 1 ? c : ~c);
    if (table >> row & 1) result |= match;
  }
  return result;
}

template <class T>
void bitop3(Wave& wave, const Inst& inst) {
  Values<T> a_buffer, b_buffer, c_buffer, value;
  const auto* a = reinterpret_cast<const U*>(fetch<T>(wave, inst, 1, a_buffer));
  const auto* b = reinterpret_cast<const U*>(fetch<T>(wave, inst, 2, b_buffer));
  const auto* c = reinterpret_cast<const U*>(fetch<T>(wave, inst, 3, c_buffer));
  auto* out = reinterpret_cast<U*>(value.lane);
  for (int lane = 0; lane < kLanes; ++lane) out[lane] = looked_up(a[lane], b[lane], c[lane], inst.bitop3);
  finish<T>(wave, inst, value);
}

/// Four sums of absolute differences at the four byte offsets of src0 (pair).
template <bool Masked, int Words>
void quad_sad(Wave& wave, const Inst& inst) {
  const std::uint64_t mask = wave.exec();
  for (int lane = 0; lane < kLanes; ++lane) {
    if (!(mask >> lane & 1)) continue;
    const W source = lane_word(wave, inst.op[1], lane) | W{lane_word(wave, inst.op[1], lane, 1)} << 32;
    const U reference = lane_word(wave, inst.op[2], lane);
    U result[4];
    for (int n = 0; n < 4; ++n) {
      const U word = lane_word(wave, inst.op[3], lane, Words == 4 ? n : n / 2);
      U sum = Words == 4 ? word : word >> (16 * (n % 2)) & 0xffff;
      for (int byte = 0; byte < 4; ++byte) {
        const int x = static_cast<int>(source >> (8 * (n + byte)) & 0xff),
                  y = static_cast<int>(reference >> (8 * byte) & 0xff);
        if (!Masked || y != 0) sum += static_cast<U>(x > y ? x - y : y - x);
      }
      result[n] = sum;
    }
    for (int word = 0; word < Words; ++word)
      wave.v[inst.op[0].index + word][lane] =
          Words == 4 ? result[word] : (result[2 * word] & 0xffff) | result[2 * word + 1] << 16;
  }
}

constexpr OpEntry table[] = {
    carry_op<add, ~0u>("v_add_co_u32"),
    carry_op<subtract, 0>("v_sub_co_u32"),
    carry_op<subtract_reversed, 0>("v_subrev_co_u32"),
    carry_op<add, ~0u>("v_addc_co_u32"),
    carry_op<subtract, 0>("v_subb_co_u32"),
    carry_op<subtract_reversed, 0>("v_subbrev_co_u32"),
    {"v_mad_u64_u32",
     wide_multiply_add<false>,
     Class::valu_f64,
     2,
     0,
     {Type::b64, Type::b64, Type::b32, Type::b32, Type::b64}},
    {"v_mad_i64_i32",
     wide_multiply_add<true>,
     Class::valu_f64,
     2,
     0,
     {Type::b64, Type::b64, Type::b32, Type::b32, Type::i64}},
    {"v_mbcnt_lo_u32_b32", count_below<0>, Class::valu, 1, 0, {}},
    {"v_mbcnt_hi_u32_b32", count_below<1>, Class::valu, 1, 0, {}},
    {"v_swap_b32", swap, Class::valu, 2, reads_dst, {}},
    {"v_bitop3_b32", bitop3<U>, Class::valu, 1, 0, {}},
    {"v_bitop3_b16", bitop3<b16>, Class::valu, 1, 0, {}},
    {"v_qsad_pk_u16_u8", quad_sad<false, 2>, Class::valu_f64, 1, 0, {}},
    {"v_mqsad_pk_u16_u8", quad_sad<true, 2>, Class::valu_f64, 1, 0, {}},
    {"v_mqsad_u32_u8", quad_sad<true, 4>, Class::valu_f64, 1, 0, {}},
};

}  // namespace

std::span<const OpEntry> carry_ops() { return table; }

}  // namespace headtune::sim::HEADTUNE_SIM_ISA
