// Makes a handler of a function on one lane's values: fetches typed operands with their modifiers, runs the function
// over 64 lanes, and writes the result under the execution mask.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <tuple>
#include <type_traits>
#include <utility>

#include "tuner/sim/ops/float_bits.h"
#include "tuner/sim/ops/operands.h"

namespace headtune::sim::HEADTUNE_SIM_ISA {

/// A half or bfloat16 as the lane functions see it: widened to f32, rounded back when written.
struct f16 {
  float value;
};

/// Low 16 bits of an operand, for integer operations on halves of a word.
struct b16 {
  std::uint32_t value;
};
struct i16 {
  std::int32_t value;
};

/// A per-lane bit from a scalar pair (vcc or an SGPR pair).
struct bit {
  std::uint32_t value;
};

/// 64 values of T. The storage type of one-word operands is the register itself.
template <class T>
struct alignas(64) Values {
  T lane[kLanes];
};

// --- fetching -------------------------------------------------------------------------------------------------------

/// Word `part` of operand `index` with DPP, SDWA and op_sel applied, sign modifiers not.
void fetch_raw(const Wave& wave, const Inst& inst, int index, int part, std::uint32_t* to);

void fetch_modified(const Wave& wave, const Inst& inst, int index, Values<std::uint32_t>& to);
void fetch_modified(const Wave& wave, const Inst& inst, int index, Values<float>& to);
void fetch_pairs(const Wave& wave, const Inst& inst, int index, Values<std::uint64_t>& to);
void fetch_doubles(const Wave& wave, const Inst& inst, int index, Values<double>& to);
void fetch_halves(const Wave& wave, const Inst& inst, int index, Values<f16>& to);
void fetch_shorts(const Wave& wave, const Inst& inst, int index, bool sign_extend, Values<std::uint32_t>& to);
void fetch_bits(const Wave& wave, const Inst& inst, int index, Values<bit>& to);

template <class T>
inline const T* fetch(const Wave& wave, const Inst& inst, int index, Values<T>& buffer) {
  if constexpr (std::is_same_v<T, std::uint32_t> || std::is_same_v<T, std::int32_t>) {
    auto& raw = reinterpret_cast<Values<std::uint32_t>&>(buffer);
    if (inst.simple)
      return reinterpret_cast<const T*>(words(wave, inst.op[index], 0, reinterpret_cast<Lanes&>(buffer)));
    fetch_modified(wave, inst, index, raw);
  } else if constexpr (std::is_same_v<T, float>) {
    if (inst.simple && !mode::is_special(wave.mode))
      return reinterpret_cast<const T*>(words(wave, inst.op[index], 0, reinterpret_cast<Lanes&>(buffer)));
    fetch_modified(wave, inst, index, buffer);
  } else if constexpr (std::is_same_v<T, std::uint64_t> || std::is_same_v<T, std::int64_t>) {
    fetch_pairs(wave, inst, index, reinterpret_cast<Values<std::uint64_t>&>(buffer));
  } else if constexpr (std::is_same_v<T, double>) {
    fetch_doubles(wave, inst, index, buffer);
  } else if constexpr (std::is_same_v<T, f16>) {
    fetch_halves(wave, inst, index, buffer);
  } else if constexpr (std::is_same_v<T, b16> || std::is_same_v<T, i16>) {
    fetch_shorts(wave, inst, index, std::is_same_v<T, i16>, reinterpret_cast<Values<std::uint32_t>&>(buffer));
  } else {
    static_assert(std::is_same_v<T, bit>);
    fetch_bits(wave, inst, index, buffer);
  }
  return buffer.lane;
}

// --- writing --------------------------------------------------------------------------------------------------------

/// Lanes that this instruction may write: exec, less what DPP disables.
std::uint64_t writable(const Wave& wave, const Inst& inst);

void finish_words(Wave& wave, const Inst& inst, const std::uint32_t* from);
void finish_floats(Wave& wave, const Inst& inst, Values<float>& from);
void finish_doubles(Wave& wave, const Inst& inst, Values<double>& from);
void finish_pairs(Wave& wave, const Inst& inst, const Values<std::uint64_t>& from);
/// Output modifiers, rounding to halves as MODE says: 16 bits in each word of `to`.
void round_halves(const Wave& wave, const Inst& inst, Values<f16>& from, std::uint32_t* to);
/// Halves read with their denormals flushed when MODE says so.
void flush_halves(const Wave& wave, Values<f16>& values);
void finish_halves(Wave& wave, const Inst& inst, Values<f16>& from);
/// Writes the low or high half: zero-extends, unless the instruction keeps the other half.
void finish_shorts(Wave& wave, const Inst& inst, const std::uint32_t* from);

template <class T>
inline void finish(Wave& wave, const Inst& inst, Values<T>& from) {
  if constexpr (std::is_same_v<T, std::uint32_t> || std::is_same_v<T, std::int32_t>) {
    const auto* raw = reinterpret_cast<const std::uint32_t*>(from.lane);
    if (inst.simple) return store(wave.v[inst.op[0].index], raw, wave.exec());
    finish_words(wave, inst, raw);
  } else if constexpr (std::is_same_v<T, float>) {
    if (inst.simple && !mode::is_special(wave.mode))
      return store(wave.v[inst.op[0].index], reinterpret_cast<const std::uint32_t*>(from.lane), wave.exec());
    finish_floats(wave, inst, from);
  } else if constexpr (std::is_same_v<T, std::uint64_t> || std::is_same_v<T, std::int64_t>) {
    finish_pairs(wave, inst, reinterpret_cast<const Values<std::uint64_t>&>(from));
  } else if constexpr (std::is_same_v<T, double>) {
    finish_doubles(wave, inst, from);
  } else if constexpr (std::is_same_v<T, f16>) {
    finish_halves(wave, inst, from);
  } else {
    static_assert(std::is_same_v<T, b16> || std::is_same_v<T, i16>);
    finish_shorts(wave, inst, reinterpret_cast<const std::uint32_t*>(from.lane));
  }
}

// --- the handlers ---------------------------------------------------------------------------------------------------

template <class>
struct Signature;
template <class R, class... A>
struct Signature<R (*)(A...)> {
  using Result = R;
  using Arguments = std::tuple<A...>;
  static constexpr int count = sizeof...(A);
};

template <class T>
inline constexpr bool is_real = std::is_same_v<T, float> || std::is_same_v<T, double> || std::is_same_v<T, f16>;

/// Sets the host's rounding direction for one instruction when the wave's differs from nearest even.
class Rounding {
 public:
  Rounding(const Wave& wave, bool wide) {
    if (wave.mode & (mode::round32 | mode::round64)) [[unlikely]]
      enter(wave.mode, wide);
  }
  ~Rounding() {
    if (saved_ >= 0) [[unlikely]]
      leave();
  }
  Rounding(const Rounding&) = delete;
  Rounding& operator=(const Rounding&) = delete;

 private:
  void enter(std::uint32_t mode, bool wide);
  void leave();
  int saved_ = -1;
};

/// Which operand feeds argument `n`; an accumulating instruction takes its destination as the last argument.
template <bool Accumulates, int Count>
constexpr int operand_of(int n) {
  return Accumulates && n == Count - 1 ? 0 : n + 1;
}

template <auto F, class R, class... A>
inline void run_lanes(Values<R>& out, const A*... in) {
  for (int lane = 0; lane < kLanes; ++lane) out.lane[lane] = F(in[lane]...);
}

template <auto F, bool Accumulates, class R, class... A, std::size_t... N>
inline void apply_to(Wave& wave, const Inst& inst, std::index_sequence<N...>) {
  std::tuple<Values<A>...> buffers;
  Values<R> out;
  const std::tuple<const A*...> in{
      fetch<A>(wave, inst, operand_of<Accumulates, sizeof...(A)>(N), std::get<N>(buffers))...};
  if constexpr (is_real<R> && (is_real<A> || ...)) {
    const Rounding rounding(wave, !std::is_same_v<R, float>);
    run_lanes<F>(out, std::get<N>(in)...);
  } else {
    run_lanes<F>(out, std::get<N>(in)...);
  }
  finish<R>(wave, inst, out);
}

template <auto F, bool Accumulates, class R, class... A>
inline void apply_args(Wave& wave, const Inst& inst, std::tuple<A...>*) {
  apply_to<F, Accumulates, R, A...>(wave, inst, std::index_sequence_for<A...>{});
}

/// The handler of `vdst = F(src...)`; with Accumulates, `vdst = F(src..., vdst)`.
template <auto F, bool Accumulates = false>
void apply(Wave& wave, const Inst& inst) {
  using S = Signature<decltype(+F)>;
  apply_args<F, Accumulates, typename S::Result>(wave, inst, static_cast<typename S::Arguments*>(nullptr));
}

/// Integer instructions whose clamp bit saturates: one function each.
template <auto F, auto Saturating>
void apply_saturating(Wave& wave, const Inst& inst) {
  inst.clamp ? apply<Saturating>(wave, inst) : apply<F>(wave, inst);
}

/// Instructions whose NaN handling follows the IEEE bit of MODE.
template <auto Ieee, auto Other>
void apply_ieee(Wave& wave, const Inst& inst) {
  wave.mode& mode::ieee ? apply<Ieee>(wave, inst) : apply<Other>(wave, inst);
}

/// Bit n of the result is bit 0 of flags[n].
std::uint64_t pack_mask(const std::uint32_t* flags);

template <class T>
constexpr Type type_of() {
  if constexpr (std::is_same_v<T, float>) return Type::f32;
  if constexpr (std::is_same_v<T, double>) return Type::f64;
  if constexpr (std::is_same_v<T, f16>) return Type::f16;
  if constexpr (std::is_same_v<T, std::uint64_t>) return Type::b64;
  if constexpr (std::is_same_v<T, std::int64_t>) return Type::i64;
  return Type::b32;
}

template <class R, class... A>
constexpr std::array<Type, 6> types_of(R (*)(A...)) {
  return {type_of<R>(), type_of<A>()...};
}

template <auto F>
constexpr OpEntry op(const char* name, Class klass = Class::valu, std::uint16_t flags = 0) {
  return {name, apply<F>, klass, 1, flags, types_of(+F)};
}
template <auto F>
constexpr OpEntry accumulating(const char* name, Class klass = Class::valu, std::uint16_t flags = 0) {
  return {name, apply<F, true>, klass, 1, static_cast<std::uint16_t>(flags | reads_dst), types_of(+F)};
}
template <auto F, auto Saturating>
constexpr OpEntry saturating(const char* name, std::uint16_t flags = 0) {
  const auto all = static_cast<std::uint16_t>(flags | saturates);
  return {name, apply_saturating<F, Saturating>, Class::valu, 1, all, types_of(+F)};
}
template <auto Ieee, auto Other>
constexpr OpEntry ieee_op(const char* name, Class klass = Class::valu) {
  return {name, apply_ieee<Ieee, Other>, klass, 1, 0, types_of(+Ieee)};
}

}  // namespace headtune::sim::HEADTUNE_SIM_ISA
