// Atomics on global, flat and buffer memory. Lanes act in order; other host threads may run other workgroups.
#include <vector>

#include "tuner/sim/ops/atomic_operations.h"
#include "tuner/sim/ops/memory_address.h"
#include "tuner/sim/ops/memory_tables.h"

namespace headtune::sim::HEADTUNE_SIM_ISA {
namespace {

using Point = void (*)(Wave&, const Inst&, const Request&, Pointers&);

template <std::size_t Bytes>
using Bits = std::conditional_t<Bytes == 4, std::uint32_t, std::uint64_t>;

/// Replaces the value at `at` by f(value) and returns what was there.
template <class T, class F>
T update(std::byte* at, F f) {
  using B = Bits<sizeof(T)>;
  B* word = reinterpret_cast<B*>(at);
  B old_bits = __atomic_load_n(word, __ATOMIC_RELAXED), new_bits;
  T old;
  do {
    std::memcpy(&old, &old_bits, sizeof old);
    const T value = f(old);
    std::memcpy(&new_bits, &value, sizeof value);
  } while (!__atomic_compare_exchange_n(word, &old_bits, new_bits, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
  return old;
}

/// Positions of the operands: with a return value (GLC/SC0) the destination comes first; a buffer's data is both.
struct Places {
  bool returns;
  int address, data;
};

template <Point P>
Places places(const Inst& inst) {
  const bool returns = inst.cache & glc;
  if (P == point_buffer) return {returns, 1, 0};
  return {returns, returns ? 1 : 0, returns ? 2 : 1};
}

template <Point P, class T, class Op>
void modify(Wave& wave, const Inst& inst) {
  const Places at = places<P>(inst);
  const int data = inst.op[at.data].index, result = inst.op[0].index;
  Pointers to;
  P(wave, inst, {Use::atomic, sizeof(T), sizeof(T), at.address}, to);
  for_lanes(to.active, [&](int lane) {
    const T operand = atomic::operand<T>(wave, data, lane);
    const T old = update<T>(to.lane[lane], [&](T value) { return Op{}(value, operand); });
    if (at.returns) atomic::put(wave, result, lane, old);
  });
}

/// Data holds the new value, then the one to compare with.
template <Point P, class T>
void compare_swap(Wave& wave, const Inst& inst) {
  const Places at = places<P>(inst);
  const int data = inst.op[at.data].index, result = inst.op[0].index;
  Pointers to;
  P(wave, inst, {Use::atomic, sizeof(T), sizeof(T), at.address}, to);
  for_lanes(to.active, [&](int lane) {
    const T replacement = atomic::operand<T>(wave, data, lane);
    const T expected = atomic::operand<T>(wave, data + sizeof(T) / 4, lane);
    const T old = update<T>(to.lane[lane], [&](T value) { return value == expected ? replacement : value; });
    if (at.returns) atomic::put(wave, result, lane, old);
  });
}

using Table = std::vector<OpEntry>;

OpEntry entry(const char* name, Handler handler) {
  // A buffer's data register is source and, when a result is asked for, destination.
  const std::uint16_t flags = name[0] == 'b' ? reads_dst : 0;
  return {name, handler, Class::vmem_atomic, 0, flags, {}};
}

#define HEADTUNE_SIM_ATOMIC(suffix, T, Op)                                              \
  table.push_back(entry("global_atomic_" suffix, modify<point_global, T, atomic::Op>)); \
  table.push_back(entry("flat_atomic_" suffix, modify<point_flat, T, atomic::Op>));     \
  table.push_back(entry("buffer_atomic_" suffix, modify<point_buffer, T, atomic::Op>));

/// Unsigned type U and signed type S of one width; `x2` is the mnemonic's suffix.
#define HEADTUNE_SIM_INTEGER_ATOMICS(x2, U, S)                                       \
  HEADTUNE_SIM_ATOMIC("swap" x2, U, Swap)                                            \
  HEADTUNE_SIM_ATOMIC("add" x2, U, Add)                                              \
  HEADTUNE_SIM_ATOMIC("sub" x2, U, Sub)                                              \
  HEADTUNE_SIM_ATOMIC("smin" x2, S, Min)                                             \
  HEADTUNE_SIM_ATOMIC("umin" x2, U, Min)                                             \
  HEADTUNE_SIM_ATOMIC("smax" x2, S, Max)                                             \
  HEADTUNE_SIM_ATOMIC("umax" x2, U, Max)                                             \
  HEADTUNE_SIM_ATOMIC("and" x2, U, And)                                              \
  HEADTUNE_SIM_ATOMIC("or" x2, U, Or)                                                \
  HEADTUNE_SIM_ATOMIC("xor" x2, U, Xor)                                              \
  HEADTUNE_SIM_ATOMIC("inc" x2, U, Increment)                                        \
  HEADTUNE_SIM_ATOMIC("dec" x2, U, Decrement)                                        \
  table.push_back(entry("global_atomic_cmpswap" x2, compare_swap<point_global, U>)); \
  table.push_back(entry("flat_atomic_cmpswap" x2, compare_swap<point_flat, U>));     \
  table.push_back(entry("buffer_atomic_cmpswap" x2, compare_swap<point_buffer, U>));

Table all() {
  Table table;
  HEADTUNE_SIM_INTEGER_ATOMICS("", std::uint32_t, std::int32_t)
  HEADTUNE_SIM_INTEGER_ATOMICS("_x2", std::uint64_t, std::int64_t)
  HEADTUNE_SIM_ATOMIC("add_f32", float, Add)
  HEADTUNE_SIM_ATOMIC("add_f64", double, Add)
  HEADTUNE_SIM_ATOMIC("min_f64", double, MinNumber)
  HEADTUNE_SIM_ATOMIC("max_f64", double, MaxNumber)
  HEADTUNE_SIM_ATOMIC("pk_add_f16", std::uint32_t, PackedAddF16)
  HEADTUNE_SIM_ATOMIC("pk_add_bf16", std::uint32_t, PackedAddBf16)
  return table;
}

#undef HEADTUNE_SIM_ATOMIC
#undef HEADTUNE_SIM_INTEGER_ATOMICS

}  // namespace

std::span<const OpEntry> atomic_ops() {
  static const Table table = all();
  return table;
}

}  // namespace headtune::sim::HEADTUNE_SIM_ISA
