// Packed instructions: two 16-bit or two f32 values at once, and the mixed-precision fma.
#include <algorithm>
#include <cmath>
#include <span>

#include "tuner/sim/ops/apply.h"
#include "tuner/sim/ops/extremes.h"

namespace headtune::sim::HEADTUNE_SIM_ISA {
namespace {

using U = std::uint32_t;
using I = std::int32_t;

/// Which half or word of source `n` the low (part 0) or high (part 1) result takes.
bool takes_high(const Inst& inst, int n, int part) { return (part ? inst.op_sel_hi : inst.op_sel) >> n & 1; }
bool negates(const Inst& inst, int n, int part) { return (part ? inst.neg_hi : inst.neg_lo) >> n & 1; }

/// 16 bits of operand `index` for one part of the result; the last argument of an accumulating instruction is operand
/// 0.
void read_part(const Wave& wave, const Inst& inst, int index, int part, U* to) {
  Lanes buffer;
  const U* raw = words(wave, inst.op[index], 0, buffer);
  const bool destination = index < inst.entry->destinations;
  const int n = index - inst.entry->destinations;
  const int shift = (destination ? part != 0 : takes_high(inst, n, part)) ? 16 : 0;
  const U flip = !destination && negates(inst, n, part) ? 0x8000 : 0;
  for (int lane = 0; lane < kLanes; ++lane) to[lane] = (raw[lane] >> shift & 0xffff) ^ flip;
}

template <class T>
void read_part(const Wave& wave, const Inst& inst, int index, int part, Values<T>& to) {
  Values<U> raw;
  read_part(wave, inst, index, part, raw.lane);
  for (int lane = 0; lane < kLanes; ++lane) {
    if constexpr (std::is_same_v<T, f16>) to.lane[lane].value = f16_to_f32(raw.lane[lane]);
    if constexpr (std::is_same_v<T, b16>) to.lane[lane].value = raw.lane[lane];
    if constexpr (std::is_same_v<T, i16>) to.lane[lane].value = static_cast<std::int16_t>(raw.lane[lane]);
  }
  if constexpr (std::is_same_v<T, f16>) flush_halves(wave, to);
}

template <auto F, bool Accumulates, class R, class... A, std::size_t... N>
void half_result(const Wave& wave, const Inst& inst, int part, U* out, std::index_sequence<N...>) {
  std::tuple<Values<A>...> in;
  (read_part(wave, inst, operand_of<Accumulates, sizeof...(A)>(N), part, std::get<N>(in)), ...);
  Values<R> result;
  {
    const Rounding rounding(wave, true);
    run_lanes<F>(result, static_cast<const A*>(std::get<N>(in).lane)...);
  }
  if constexpr (std::is_same_v<R, f16>)
    round_halves(wave, inst, result, out);
  else
    for (int lane = 0; lane < kLanes; ++lane) out[lane] = static_cast<U>(result.lane[lane].value) & 0xffff;
}

template <auto F, bool Accumulates, class R, class... A>
void packed16(Wave& wave, const Inst& inst, std::tuple<A...>*) {
  Values<U> low, high;
  half_result<F, Accumulates, R, A...>(wave, inst, 0, low.lane, std::index_sequence_for<A...>{});
  half_result<F, Accumulates, R, A...>(wave, inst, 1, high.lane, std::index_sequence_for<A...>{});
  Lanes out;
  for (int lane = 0; lane < kLanes; ++lane) out.word[lane] = low.lane[lane] | high.lane[lane] << 16;
  write(wave, inst.op[0], 0, out);
}

/// Both halves of vdst = F(both halves of the sources).
template <auto F, bool Accumulates = false>
void packed16(Wave& wave, const Inst& inst) {
  using S = Signature<decltype(+F)>;
  packed16<F, Accumulates, typename S::Result>(wave, inst, static_cast<typename S::Arguments*>(nullptr));
}
template <auto F, auto Saturating>
void packed16_saturating(Wave& wave, const Inst& inst) {
  inst.clamp ? packed16<Saturating>(wave, inst) : packed16<F>(wave, inst);
}
template <auto Ieee, auto Other>
void packed16_ieee(Wave& wave, const Inst& inst) {
  wave.mode& mode::ieee ? packed16<Ieee>(wave, inst) : packed16<Other>(wave, inst);
}

template <auto F>
constexpr OpEntry pk(const char* name) {
  return {name, packed16<F>, Class::valu, 1, packed, types_of(+F)};
}
template <auto F, auto Saturating>
constexpr OpEntry pk_sat(const char* name) {
  return {name, packed16_saturating<F, Saturating>, Class::valu, 1, packed, types_of(+F)};
}
template <template <bool> class F>
constexpr OpEntry pk_ieee(const char* name) {
  return {name, packed16_ieee<F<true>::of, F<false>::of>, Class::valu, 1, packed, types_of(+F<true>::of)};
}

// --- two f32 --------------------------------------------------------------------------------------------------------

void read_word(const Wave& wave, const Inst& inst, int n, int part, Values<float>& to) {
  Lanes buffer;
  const U* raw = words(wave, inst.op[n + 1], takes_high(inst, n, part) ? 1 : 0, buffer);
  const U flip = negates(inst, n, part) ? 0x80000000 : 0;
  for (int lane = 0; lane < kLanes; ++lane) to.lane[lane] = as_float(raw[lane] ^ flip);
  if (!(wave.mode & 0x10))
    for (auto& value : to.lane) value = std::fabs(value) < 0x1p-126f ? std::copysign(0.0f, value) : value;
}

void finish_part(Wave& wave, const Inst& inst, int part, Values<float>& from) {
  if (inst.clamp || mode::is_special(wave.mode)) {
    Inst word = inst;  // the same modifiers, for one register of the pair
    word.op[0].index = static_cast<std::uint16_t>(word.op[0].index + part);
    return finish_floats(wave, word, from);
  }
  store(wave.v[inst.op[0].index + part], reinterpret_cast<const U*>(from.lane), wave.exec());
}

/// Both f32 of vdst (pair) = F(both f32 of the sources).
template <auto F, int Sources>
void packed32(Wave& wave, const Inst& inst) {
  Values<float> result[2];
  for (int part = 0; part < 2; ++part) {
    Values<float> a, b, c;
    read_word(wave, inst, 0, part, a);
    read_word(wave, inst, 1, part, b);
    if constexpr (Sources == 3) read_word(wave, inst, 2, part, c);
    const Rounding rounding(wave, false);
    for (int lane = 0; lane < kLanes; ++lane) {
      if constexpr (Sources == 3)
        result[part].lane[lane] = F(a.lane[lane], b.lane[lane], c.lane[lane]);
      else
        result[part].lane[lane] = F(a.lane[lane], b.lane[lane]);
    }
  }
  for (int part = 0; part < 2; ++part) finish_part(wave, inst, part, result[part]);
}

template <auto F, int Sources>
constexpr OpEntry pk32(const char* name) {
  return {name, packed32<F, Sources>, Class::valu, 1, packed, {Type::pf32, Type::pf32, Type::pf32, Type::pf32}};
}

/// The low word from source 0, the high word from source 1.
void packed_move(Wave& wave, const Inst& inst) {
  Lanes low, high, buffer;
  std::memcpy(low.word, words(wave, inst.op[1], takes_high(inst, 0, 0) ? 1 : 0, buffer), sizeof low);
  std::memcpy(high.word, words(wave, inst.op[2], takes_high(inst, 1, 0) ? 1 : 0, buffer), sizeof high);
  write(wave, inst.op[0], 0, low);
  write(wave, inst.op[0], 1, high);
}

// --- mixed precision ------------------------------------------------------------------------------------------------

/// Source `n` as f32: op_sel_hi says that it is a half, op_sel which one.
void read_mixed(const Wave& wave, const Inst& inst, int n, Values<float>& to) {
  const Operand& operand = inst.op[n + 1];
  const bool half = (inst.op_sel_hi >> n & 1) && operand.kind != Kind::constant;  // a constant has its value already
  Lanes buffer;
  const U* raw = words(wave, operand, 0, buffer);
  const int shift = inst.op_sel >> n & 1 ? 16 : 0;
  for (int lane = 0; lane < kLanes; ++lane) {
    float value = half ? f16_to_f32(raw[lane] >> shift & 0xffff) : as_float(raw[lane]);
    if (operand.abs) value = std::fabs(value);
    to.lane[lane] = operand.neg ? -value : value;
  }
}

void mixed_fma(const Wave& wave, const Inst& inst, Values<float>& result) {
  Values<float> a, b, c;
  read_mixed(wave, inst, 0, a);
  read_mixed(wave, inst, 1, b);
  read_mixed(wave, inst, 2, c);
  const Rounding rounding(wave, false);
  for (int lane = 0; lane < kLanes; ++lane) result.lane[lane] = std::fma(a.lane[lane], b.lane[lane], c.lane[lane]);
}

void mix_to_f32(Wave& wave, const Inst& inst) {
  Values<float> result;
  mixed_fma(wave, inst, result);
  finish_floats(wave, inst, result);
}

/// Into the low or high half; the other half stays.
template <bool High>
void mix_to_f16(Wave& wave, const Inst& inst) {
  Values<float> result;
  mixed_fma(wave, inst, result);
  Lanes out;
  round_halves(wave, inst, reinterpret_cast<Values<f16>&>(result), out.word);
  const U* old = wave.v[inst.op[0].index];
  for (int lane = 0; lane < kLanes; ++lane)
    out.word[lane] = High ? (old[lane] & 0xffff) | out.word[lane] << 16 : (old[lane] & 0xffff0000) | out.word[lane];
  write(wave, inst.op[0], 0, out);
}

constexpr OpEntry mix(const char* name, Handler handler, std::uint16_t flags) {
  return {name,
          handler,
          Class::valu,
          1,
          static_cast<std::uint16_t>(flags | saturates),
          {Type::f32, Type::f32, Type::f32, Type::f32}};
}

constexpr i16 bounded(I value) { return {std::clamp(value, -0x8000, 0x7fff)}; }
constexpr b16 bounded_u(I value) { return {static_cast<U>(std::clamp(value, 0, 0xffff))}; }
constexpr I wide(b16 x) { return static_cast<I>(x.value); }

template <bool Ieee>
struct Min {
  static f16 of(f16 a, f16 b) { return {minimum_number<Ieee>(a.value, b.value)}; }
};
template <bool Ieee>
struct Max {
  static f16 of(f16 a, f16 b) { return {maximum_number<Ieee>(a.value, b.value)}; }
};

f16 fused(f16 a, f16 b, f16 c) { return {fma_for_f16(a.value, b.value, c.value)}; }
f16 minimum3(f16 a, f16 b, f16 c) { return {minimum(minimum(a.value, b.value), c.value)}; }
f16 maximum3(f16 a, f16 b, f16 c) { return {maximum(maximum(a.value, b.value), c.value)}; }
b16 mad_u16_bounded(b16 a, b16 b, b16 c) {
  return {static_cast<U>(std::min<std::uint64_t>(std::uint64_t{a.value} * b.value + c.value, 0xffff))};
}

constexpr OpEntry table[] = {
    pk_sat<[](i16 a, i16 b) { return i16{a.value + b.value}; },
           [](i16 a, i16 b) { return bounded(a.value + b.value); }>("v_pk_add_i16"),
    pk_sat<[](i16 a, i16 b) { return i16{a.value - b.value}; },
           [](i16 a, i16 b) { return bounded(a.value - b.value); }>("v_pk_sub_i16"),
    pk_sat<[](b16 a, b16 b) { return b16{a.value + b.value}; },
           [](b16 a, b16 b) { return bounded_u(wide(a) + wide(b)); }>("v_pk_add_u16"),
    pk_sat<[](b16 a, b16 b) { return b16{a.value - b.value}; },
           [](b16 a, b16 b) { return bounded_u(wide(a) - wide(b)); }>("v_pk_sub_u16"),
    pk<[](b16 a, b16 b) { return b16{a.value * b.value}; }>("v_pk_mul_lo_u16"),
    pk_sat<[](i16 a, i16 b, i16 c) { return i16{a.value * b.value + c.value}; },
           [](i16 a, i16 b, i16 c) { return bounded(a.value * b.value + c.value); }>("v_pk_mad_i16"),
    pk_sat<[](b16 a, b16 b, b16 c) { return b16{a.value * b.value + c.value}; }, mad_u16_bounded>("v_pk_mad_u16"),
    pk<[](i16 a, i16 b) { return i16{std::max(a.value, b.value)}; }>("v_pk_max_i16"),
    pk<[](i16 a, i16 b) { return i16{std::min(a.value, b.value)}; }>("v_pk_min_i16"),
    pk<[](b16 a, b16 b) { return b16{std::max(a.value, b.value)}; }>("v_pk_max_u16"),
    pk<[](b16 a, b16 b) { return b16{std::min(a.value, b.value)}; }>("v_pk_min_u16"),
    pk<[](b16 a, b16 b) { return b16{b.value << (a.value & 15)}; }>("v_pk_lshlrev_b16"),
    pk<[](b16 a, b16 b) { return b16{(b.value >> (a.value & 15))}; }>("v_pk_lshrrev_b16"),
    pk<[](b16 a, i16 b) { return i16{(b.value >> (a.value & 15))}; }>("v_pk_ashrrev_i16"),

    pk<fused>("v_pk_fma_f16"),
    {"v_pk_fmac_f16", packed16<fused, true>, Class::valu, 1, packed | reads_dst, types_of(fused)},
    pk<[](f16 a, f16 b) { return f16{a.value + b.value}; }>("v_pk_add_f16"),
    pk<[](f16 a, f16 b) { return f16{a.value * b.value}; }>("v_pk_mul_f16"),
    pk_ieee<Min>("v_pk_min_f16"),
    pk_ieee<Max>("v_pk_max_f16"),
    pk<minimum3>("v_pk_minimum3_f16"),
    pk<maximum3>("v_pk_maximum3_f16"),

    pk32<[](float a, float b, float c) { return std::fma(a, b, c); }, 3>("v_pk_fma_f32"),
    pk32<[](float a, float b) { return a * b; }, 2>("v_pk_mul_f32"),
    pk32<[](float a, float b) { return a + b; }, 2>("v_pk_add_f32"),
    {"v_pk_mov_b32", packed_move, Class::valu, 1, packed, {Type::b64, Type::pf32, Type::pf32}},

    mix("v_fma_mix_f32", mix_to_f32, 0),
    mix("v_fma_mixlo_f16", mix_to_f16<false>, reads_dst),
    mix("v_fma_mixhi_f16", mix_to_f16<true>, reads_dst),
    mix("v_mad_mix_f32", mix_to_f32, 0),
    mix("v_mad_mixlo_f16", mix_to_f16<false>, reads_dst),
    mix("v_mad_mixhi_f16", mix_to_f16<true>, reads_dst),
};

}  // namespace

std::span<const OpEntry> packed_ops() { return table; }

}  // namespace headtune::sim::HEADTUNE_SIM_ISA
