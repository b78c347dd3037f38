// Vector compares: a bit per lane into a scalar pair, and into exec for v_cmpx.
#include <cmath>
#include <span>

#include "tuner/sim/ops/apply.h"

namespace headtune::sim::HEADTUNE_SIM_ISA {
namespace {

using U = std::uint32_t;
using I = std::int32_t;
using W = std::uint64_t;
using S = std::int64_t;

void write_mask(Wave& wave, const Inst& inst, const Values<U>& flags, bool into_exec) {
  const W mask = pack_mask(flags.lane) & writable(wave, inst);
  wave.set_pair(inst.op[0].index, mask);
  if (into_exec) wave.set_exec(mask);
}

template <class T>
constexpr auto value_of(T value) {
  if constexpr (std::is_same_v<T, f16> || std::is_same_v<T, b16> || std::is_same_v<T, i16>)
    return value.value;
  else
    return value;
}

template <class T, class F, bool Exec>
void compare(Wave& wave, const Inst& inst) {
  Values<T> a_buffer, b_buffer;
  Values<U> flags;
  const T* a = fetch<T>(wave, inst, 1, a_buffer);
  const T* b = fetch<T>(wave, inst, 2, b_buffer);
  for (int lane = 0; lane < kLanes; ++lane) flags.lane[lane] = F::test(value_of(a[lane]), value_of(b[lane])) ? 1 : 0;
  write_mask(wave, inst, flags, Exec);
}

// The sixteen relations of floats; those of integers are the first eight, where lg is called ne and tru is called t.
#define RELATION(name, expression)                                 \
  struct name {                                                    \
    template <class T>                                             \
    static bool test([[maybe_unused]] T a, [[maybe_unused]] T b) { \
      return expression;                                           \
    }                                                              \
  };
RELATION(False, false)
RELATION(Lt, a < b)
RELATION(Eq, a == b)
RELATION(Le, a <= b)
RELATION(Gt, a > b)
RELATION(Lg, a<b || a> b)
RELATION(Ge, a >= b)
RELATION(Ordered, a == a && b == b)
RELATION(Unordered, a != a || b != b)
RELATION(NotGe, !(a >= b))
RELATION(NotLg, !(a < b || a > b))
RELATION(NotGt, !(a > b))
RELATION(NotLe, !(a <= b))
RELATION(NotEq, !(a == b))
RELATION(NotLt, !(a < b))
RELATION(True, true)
#undef RELATION

/// The bit that v_cmp_class tests for a value, from its raw bits. `Exponent` and `Mantissa` are the field widths.
template <int Exponent, int Mantissa>
U class_bit(W bits) {
  constexpr W exponent_mask = (W{1} << Exponent) - 1;
  const W exponent = bits >> Mantissa & exponent_mask, mantissa = bits & ((W{1} << Mantissa) - 1);
  const bool negative = bits >> (Exponent + Mantissa) & 1;
  if (exponent == exponent_mask && mantissa != 0) return mantissa >> (Mantissa - 1) ? 2 : 1;  // quiet, signalling
  const int rank = exponent == exponent_mask ? 0
                   : exponent != 0           ? 1
                   : mantissa != 0           ? 2
                                             : 3;  // inf, normal, denormal, 0
  return negative ? 4u << rank : 512u >> rank;
}

/// Raw bits with sign modifiers; sign bit 15, 31 or 63.
template <int Bits>
W raw_bits(const Wave& wave, const Inst& inst, const Values<U>& low, int lane) {
  const Operand& operand = inst.op[1];
  W bits = low.lane[lane];
  if constexpr (Bits == 16) bits = bits >> (inst.op_sel & 1 ? 16 : 0) & 0xffff;
  if constexpr (Bits == 64) bits |= W{lane_word(wave, operand, lane, 1)} << 32;
  constexpr W sign = W{1} << (Bits - 1);
  if (operand.abs) bits &= ~sign;
  if (operand.neg) bits ^= sign;
  return bits;
}

template <int Bits, int Exponent, int Mantissa, bool Exec>
void compare_class(Wave& wave, const Inst& inst) {
  Values<U> low, mask, flags;
  fetch_raw(wave, inst, 1, 0, low.lane);
  fetch_raw(wave, inst, 2, 0, mask.lane);
  for (int lane = 0; lane < kLanes; ++lane)
    flags.lane[lane] = (class_bit<Exponent, Mantissa>(raw_bits<Bits>(wave, inst, low, lane)) & mask.lane[lane]) != 0;
  write_mask(wave, inst, flags, Exec);
}

#define ENTRY(T, relation, name)                                                                                       \
  OpEntry{"v_cmp_" name, compare<T, relation, false>, Class::valu, 1, 0, {Type::b64, type_of<T>(), type_of<T>()}},     \
      OpEntry {                                                                                                        \
    "v_cmpx_" name, compare<T, relation, true>, Class::valu, 1, writes_exec, { Type::b64, type_of<T>(), type_of<T>() } \
  }

#define FLOATS(T, suffix)                                                                                           \
  ENTRY(T, False, "f_" suffix), ENTRY(T, Lt, "lt_" suffix), ENTRY(T, Eq, "eq_" suffix), ENTRY(T, Le, "le_" suffix), \
      ENTRY(T, Gt, "gt_" suffix), ENTRY(T, Lg, "lg_" suffix), ENTRY(T, Ge, "ge_" suffix),                           \
      ENTRY(T, Ordered, "o_" suffix), ENTRY(T, Unordered, "u_" suffix), ENTRY(T, NotGe, "nge_" suffix),             \
      ENTRY(T, NotLg, "nlg_" suffix), ENTRY(T, NotGt, "ngt_" suffix), ENTRY(T, NotLe, "nle_" suffix),               \
      ENTRY(T, NotEq, "neq_" suffix), ENTRY(T, NotLt, "nlt_" suffix), ENTRY(T, True, "tru_" suffix)

#define INTEGERS(T, suffix)                                                                                         \
  ENTRY(T, False, "f_" suffix), ENTRY(T, Lt, "lt_" suffix), ENTRY(T, Eq, "eq_" suffix), ENTRY(T, Le, "le_" suffix), \
      ENTRY(T, Gt, "gt_" suffix), ENTRY(T, Lg, "ne_" suffix), ENTRY(T, Ge, "ge_" suffix), ENTRY(T, True, "t_" suffix)

#define CLASS(Bits, Exponent, Mantissa, type, suffix)                                                     \
  OpEntry{"v_cmp_class_" suffix,       compare_class<Bits, Exponent, Mantissa, false>, Class::valu, 1, 0, \
          {Type::b64, type, Type::b32}},                                                                  \
      OpEntry {                                                                                           \
    "v_cmpx_class_" suffix, compare_class<Bits, Exponent, Mantissa, true>, Class::valu, 1, writes_exec, { \
      Type::b64, type, Type::b32                                                                          \
    }                                                                                                     \
  }

constexpr OpEntry table[] = {
    FLOATS(float, "f32"),
    FLOATS(double, "f64"),
    FLOATS(f16, "f16"),
    INTEGERS(U, "u32"),
    INTEGERS(I, "i32"),
    INTEGERS(W, "u64"),
    INTEGERS(S, "i64"),
    INTEGERS(b16, "u16"),
    INTEGERS(i16, "i16"),
    CLASS(16, 5, 10, Type::f16, "f16"),
    CLASS(32, 8, 23, Type::f32, "f32"),
    CLASS(64, 11, 52, Type::f64, "f64"),
};

}  // namespace

std::span<const OpEntry> compare_ops() { return table; }

}  // namespace headtune::sim::HEADTUNE_SIM_ISA
