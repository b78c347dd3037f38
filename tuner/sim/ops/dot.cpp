// Dot products of packed 16-, 8- and 4-bit elements, accumulated into 32 bits.
#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include "tuner/sim/ops/apply.h"

namespace headtune::sim::HEADTUNE_SIM_ISA {
namespace {

using U = std::uint32_t;
using I = std::int32_t;
using S = std::int64_t;

enum class Half { ieee, brain };

template <Half H>
float widened(U half) {
  return H == Half::ieee ? f16_to_f32(half) : bf16_to_f32(half);
}

/// Half `part` of source `n` (a VOP3P source may take either half for each part and negate it).
template <Half H>
float element(const Inst& inst, U word, int n, int part) {
  const bool is_packed = inst.entry->flags & packed;
  const bool high = is_packed ? (part ? inst.op_sel_hi : inst.op_sel) >> n & 1 : part;
  const bool negate = is_packed && ((part ? inst.neg_hi : inst.neg_lo) >> n & 1);
  const float value = widened<H>(word >> (high ? 16 : 0) & 0xffff);
  return negate ? -value : value;
}

/// The accumulator: operand 0 of the two-operand forms, otherwise source 2.
int accumulator(const Inst& inst) { return inst.entry->flags & reads_dst ? 0 : 3; }

/// D = a0 * b0 + a1 * b1 + c
template <Half H>
void dot2(Wave& wave, const Inst& inst) {
  Values<U> a_buffer, b_buffer;
  Values<float> c_buffer, result;
  const U* a = fetch<U>(wave, inst, 1, a_buffer);
  const U* b = fetch<U>(wave, inst, 2, b_buffer);
  const float* c = fetch<float>(wave, inst, accumulator(inst), c_buffer);
  const bool negate = (inst.entry->flags & packed) && (inst.neg_lo >> 2 & 1);
  for (int lane = 0; lane < kLanes; ++lane) {
    const float start = negate ? -c[lane] : c[lane];
    const float low = std::fma(element<H>(inst, a[lane], 0, 0), element<H>(inst, b[lane], 1, 0), start);
    result.lane[lane] = std::fma(element<H>(inst, a[lane], 0, 1), element<H>(inst, b[lane], 1, 1), low);
  }
  finish_floats(wave, inst, result);
}

/// Element `n` of `Bits` bits, sign- or zero-extended.
template <int Bits, bool Signed>
S integer_element(U word, int n) {
  const U up = word << (32 - Bits * (n + 1));
  return Signed ? S{static_cast<I>(up) >> (32 - Bits)} : S{up >> (32 - Bits)};
}

template <int Bits, bool Signed>
void dot_integers(Wave& wave, const Inst& inst) {
  Values<U> a_buffer, b_buffer, c_buffer, result;
  const U* a = fetch<U>(wave, inst, 1, a_buffer);
  const U* b = fetch<U>(wave, inst, 2, b_buffer);
  const U* c = fetch<U>(wave, inst, accumulator(inst), c_buffer);
  using T = std::conditional_t<Signed, I, U>;
  for (int lane = 0; lane < kLanes; ++lane) {
    S sum = static_cast<T>(c[lane]);
    for (int n = 0; n < 32 / Bits; ++n)
      sum += integer_element<Bits, Signed>(a[lane], n) * integer_element<Bits, Signed>(b[lane], n);
    if (inst.clamp) sum = std::clamp<S>(sum, std::numeric_limits<T>::min(), std::numeric_limits<T>::max());
    result.lane[lane] = static_cast<U>(sum);
  }
  finish_words(wave, inst, result.lane);
}

constexpr std::uint16_t three_sources = packed | saturates;
constexpr std::uint16_t two_sources = reads_dst | saturates;
constexpr std::array<Type, 6> floats{Type::f32, Type::b32, Type::b32, Type::f32};

constexpr OpEntry table[] = {
    {"v_dot2_f32_f16", dot2<Half::ieee>, Class::valu, 1, three_sources, floats},
    {"v_dot2_f32_bf16", dot2<Half::brain>, Class::valu, 1, three_sources, floats},
    {"v_dot2c_f32_f16", dot2<Half::ieee>, Class::valu, 1, two_sources, floats},
    {"v_dot2c_f32_bf16", dot2<Half::brain>, Class::valu, 1, two_sources, floats},
    {"v_dot2_i32_i16", dot_integers<16, true>, Class::valu, 1, three_sources, {}},
    {"v_dot2_u32_u16", dot_integers<16, false>, Class::valu, 1, three_sources, {}},
    {"v_dot2c_i32_i16", dot_integers<16, true>, Class::valu, 1, two_sources, {}},
    {"v_dot4_i32_i8", dot_integers<8, true>, Class::valu, 1, three_sources, {}},
    {"v_dot4_u32_u8", dot_integers<8, false>, Class::valu, 1, three_sources, {}},
    {"v_dot4c_i32_i8", dot_integers<8, true>, Class::valu, 1, two_sources, {}},
    {"v_dot8_i32_i4", dot_integers<4, true>, Class::valu, 1, three_sources, {}},
    {"v_dot8_u32_u4", dot_integers<4, false>, Class::valu, 1, three_sources, {}},
    {"v_dot8c_i32_i4", dot_integers<4, true>, Class::valu, 1, two_sources, {}},
};

}  // namespace

std::span<const OpEntry> dot_ops() { return table; }

}  // namespace headtune::sim::HEADTUNE_SIM_ISA
