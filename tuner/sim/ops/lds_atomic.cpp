// Atomics on LDS. One host thread runs a workgroup, so plain updates in lane order suffice.
#include <vector>

#include "tuner/sim/ops/atomic_operations.h"
#include "tuner/sim/ops/lds_address.h"
#include "tuner/sim/ops/lds_tables.h"

namespace headtune::sim::HEADTUNE_SIM_ISA {
namespace {

/// f(lane, old) -> new for every active lane in order; what was there goes to vector register `result` unless -1.
template <class T, class F>
void update(Wave& wave, const LdsLanes& at, int result, F f) {
  for_lanes(at.active, [&](int lane) {
    T old;
    std::memcpy(&old, at.data + at.offset[lane], sizeof old);
    const T value = f(lane, old);
    std::memcpy(at.data + at.offset[lane], &value, sizeof value);
    if (result >= 0) atomic::put(wave, result, lane, old);
  });
}

/// Operands: address, data; with a return value the destination comes first.
template <class T, class Op, bool Returns>
void modify(Wave& wave, const Inst& inst) {
  LdsLanes at;
  point_lds(wave, inst, {Use::atomic, sizeof(T), sizeof(T), Returns}, inst.offset, at);
  const int data = inst.op[Returns + 1].index;
  update<T>(wave, at, Returns ? inst.op[0].index : -1,
            [&](int lane, T old) { return Op{}(old, atomic::operand<T>(wave, data, lane)); });
}

/// Two data operands a and b: f(old, a, b).
template <class T, class Op, bool Returns>
void modify2(Wave& wave, const Inst& inst) {
  LdsLanes at;
  point_lds(wave, inst, {Use::atomic, sizeof(T), sizeof(T), Returns}, inst.offset, at);
  const int a = inst.op[Returns + 1].index, b = inst.op[Returns + 2].index;
  update<T>(wave, at, Returns ? inst.op[0].index : -1, [&](int lane, T old) {
    return Op{}(old, atomic::operand<T>(wave, a, lane), atomic::operand<T>(wave, b, lane));
  });
}

/// ds_cmpst: the first data operand is compared with, the second stored.
struct CompareStore {
  template <class T>
  T operator()(T old, T expected, T replacement) const {
    return old == expected ? replacement : old;
  }
};
/// ds_mskor: clears the bits of the mask, sets those of the data.
struct MaskOr {
  template <class T>
  T operator()(T old, T mask, T data) const {
    return (old & ~mask) | data;
  }
};
/// ds_wrap: subtracts while it can, else adds.
struct Wrap {
  template <class T>
  T operator()(T old, T a, T b) const {
    return old >= a ? old - a : old + b;
  }
};

/// Exchanges with two places; the offset fields count elements, or 64 elements.
template <class T, int Unit>
void exchange2(Wave& wave, const Inst& inst) {
  constexpr int scale = sizeof(T) * Unit, words = sizeof(T) / 4;
  LdsLanes first, second;
  const Request request{Use::atomic, sizeof(T), sizeof(T), 1};
  point_lds(wave, inst, request, inst.offset1 * scale, second);
  point_lds(wave, inst, request, inst.offset * scale, first);
  wave.access.parts = 2;
  wave.access.part_stride = (inst.offset1 - inst.offset) * scale;
  const int result = inst.op[0].index, a = inst.op[2].index, b = inst.op[3].index;
  std::uint32_t data[2][kLanes][words];
  for_lanes(first.active, [&](int lane) {
    for (int word = 0; word < words; ++word) {
      data[0][lane][word] = wave.v[a + word][lane];
      data[1][lane][word] = wave.v[b + word][lane];
    }
  });
  const auto stored = [&](int which, int lane) {
    T value;
    std::memcpy(&value, data[which][lane], sizeof value);
    return value;
  };
  update<T>(wave, first, result, [&](int lane, T) { return stored(0, lane); });
  update<T>(wave, second, result + words, [&](int lane, T) { return stored(1, lane); });
}

/// One counter for the whole wave, at M0's low half plus the offset: adds or subtracts the number of active lanes.
template <int Sign>
void count_lanes(Wave& wave, const Inst& inst) {
  const std::uint32_t offset = (wave.s[sreg::m0] & 0xffff) + static_cast<std::uint32_t>(inst.offset);
  LdsLanes at;
  std::fill_n(at.offset, kLanes, offset);
  check_lds(wave, {Use::atomic, 4, 4, 0}, at);
  std::uint32_t old;
  std::memcpy(&old, at.data + offset, 4);
  const std::uint32_t value = old + Sign * static_cast<std::uint32_t>(__builtin_popcountll(at.active));
  std::memcpy(at.data + offset, &value, 4);
  for_lanes(at.active, [&](int lane) { wave.v[inst.op[0].index][lane] = old; });
}

using Table = std::vector<OpEntry>;

void add(Table& table, const char* name, Handler handler, bool returns) {
  table.push_back({name, handler, Class::lds, static_cast<std::uint8_t>(returns), 0, {}});
}

/// Both forms: ds_<stem>_<type> and ds_<stem>_rtn_<type>.
#define HEADTUNE_SIM_DS(stem, type, T, Op)                              \
  add(table, "ds_" stem "_" type, modify<T, atomic::Op, false>, false); \
  add(table, "ds_" stem "_rtn_" type, modify<T, atomic::Op, true>, true);

#define HEADTUNE_SIM_DS2(stem, type, T, Op)                      \
  add(table, "ds_" stem "_" type, modify2<T, Op, false>, false); \
  add(table, "ds_" stem "_rtn_" type, modify2<T, Op, true>, true);

/// Integer operations of one width: unsigned U and its type name, signed S, untyped bits.
#define HEADTUNE_SIM_DS_INTEGERS(U, u, S, s, b)                        \
  HEADTUNE_SIM_DS("add", u, U, Add)                                    \
  HEADTUNE_SIM_DS("sub", u, U, Sub)                                    \
  HEADTUNE_SIM_DS("rsub", u, U, ReverseSub)                            \
  HEADTUNE_SIM_DS("inc", u, U, Increment)                              \
  HEADTUNE_SIM_DS("dec", u, U, Decrement)                              \
  HEADTUNE_SIM_DS("min", s, S, Min)                                    \
  HEADTUNE_SIM_DS("max", s, S, Max)                                    \
  HEADTUNE_SIM_DS("min", u, U, Min)                                    \
  HEADTUNE_SIM_DS("max", u, U, Max)                                    \
  HEADTUNE_SIM_DS("and", b, U, And)                                    \
  HEADTUNE_SIM_DS("or", b, U, Or)                                      \
  HEADTUNE_SIM_DS("xor", b, U, Xor)                                    \
  HEADTUNE_SIM_DS2("mskor", b, U, MaskOr)                              \
  HEADTUNE_SIM_DS2("cmpst", b, U, CompareStore)                        \
  add(table, "ds_wrxchg_rtn_" b, modify<U, atomic::Swap, true>, true); \
  add(table, "ds_wrxchg2_rtn_" b, exchange2<U, 1>, true);              \
  add(table, "ds_wrxchg2st64_rtn_" b, exchange2<U, 64>, true);

Table all() {
  Table table;
  HEADTUNE_SIM_DS_INTEGERS(std::uint32_t, "u32", std::int32_t, "i32", "b32")
  HEADTUNE_SIM_DS_INTEGERS(std::uint64_t, "u64", std::int64_t, "i64", "b64")
  HEADTUNE_SIM_DS("add", "f32", float, Add)
  HEADTUNE_SIM_DS("min", "f32", float, MinNumber)
  HEADTUNE_SIM_DS("max", "f32", float, MaxNumber)
  HEADTUNE_SIM_DS("add", "f64", double, Add)
  HEADTUNE_SIM_DS("min", "f64", double, MinNumber)
  HEADTUNE_SIM_DS("max", "f64", double, MaxNumber)
  HEADTUNE_SIM_DS2("cmpst", "f32", float, CompareStore)
  HEADTUNE_SIM_DS2("cmpst", "f64", double, CompareStore)
  HEADTUNE_SIM_DS("pk_add", "f16", std::uint32_t, PackedAddF16)
  HEADTUNE_SIM_DS("pk_add", "bf16", std::uint32_t, PackedAddBf16)
  add(table, "ds_wrap_rtn_b32", modify2<std::uint32_t, Wrap, true>, true);
  table.push_back({"ds_append", count_lanes<1>, Class::lds, 1, reads_m0, {}});
  table.push_back({"ds_consume", count_lanes<-1>, Class::lds, 1, reads_m0, {}});
  return table;
}

#undef HEADTUNE_SIM_DS
#undef HEADTUNE_SIM_DS2
#undef HEADTUNE_SIM_DS_INTEGERS

}  // namespace

std::span<const OpEntry> lds_atomic_ops() {
  static const Table table = all();
  return table;
}

}  // namespace headtune::sim::HEADTUNE_SIM_ISA
