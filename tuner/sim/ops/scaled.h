// gfx950's conversions between wide floats and small ones that share a scale: v_cvt_scalef32_*. The scale is the
// exponent of an f32 operand. Lane by lane but for the pairs of 8-bit elements: the rest is rare.
#pragma once

#include <algorithm>
#include <array>
#include <limits>

#include "tuner/sim/ops/apply.h"
#include "tuner/sim/ops/small_float.h"

namespace headtune::sim::HEADTUNE_SIM_ISA {

/// A wide format of the other side of a conversion.
struct WideF32 {
  static constexpr int bits = 32;
  static float decode(std::uint32_t code) { return as_float(code); }
  static std::uint32_t encode(double value) { return as_bits(static_cast<float>(value)); }
};
struct WideF16 {
  static constexpr int bits = 16;
  static float decode(std::uint32_t code) { return f16_to_f32(code); }
  static std::uint32_t encode(double value) { return f32_to_f16(static_cast<float>(value)); }
};
struct WideBf16 {
  static constexpr int bits = 16;
  static float decode(std::uint32_t code) { return bf16_to_f32(code); }
  static std::uint32_t encode(double value) { return f32_to_bf16(static_cast<float>(value)); }
};

/// Element `n` of `bits` bits of one lane's consecutive registers, counted from bit `first`.
inline std::uint32_t element(const Wave& wave, const Operand& operand, int lane, int bits, int n, int first = 0) {
  const int at = first + bits * n, word = at / 32, shift = at % 32;
  std::uint64_t two = lane_word(wave, operand, lane, word);
  if (shift + bits > 32) two |= static_cast<std::uint64_t>(lane_word(wave, operand, lane, word + 1)) << 32;
  return static_cast<std::uint32_t>(two >> shift & ((std::uint64_t{1} << bits) - 1));
}

inline void put_element(std::uint32_t* registers, int bits, int n, std::uint32_t code, int first = 0) {
  for (int bit = 0; bit < bits; ++bit) {
    const int at = first + bits * n + bit;
    registers[at / 32] = (registers[at / 32] & ~(1u << at % 32)) | (code >> bit & 1) << at % 32;
  }
}

inline int scale_of(const Wave& wave, const Operand& operand, int lane) {
  return static_cast<int>(lane_word(wave, operand, lane) >> 23 & 0xff) - 127;
}

/// Bit where the selected byte or half of a packed small source starts: op_sel's first entry is the more significant.
inline int selected_source(const Inst& inst, int bits) {
  if (bits == 16) return inst.op_sel & 1 ? 16 : 0;
  return 8 * ((inst.op_sel & 1) << 1 | (inst.op_sel >> 1 & 1));
}
inline int selected_destination(const Inst& inst, int bits) {
  return bits == 16 ? (inst.op_sel >> 3 & 1) * 16 : bits == 8 ? (inst.op_sel >> 2 & 3) * 8 : 0;
}

inline void read_destination(const Wave& wave, const Inst& inst, int lane, std::uint32_t (&registers)[32]) {
  for (int word = 0; word < inst.op[0].words; ++word) registers[word] = lane_word(wave, inst.op[0], lane, word);
}
inline void write_destination(Wave& wave, const Inst& inst, int lane, const std::uint32_t (&registers)[32]) {
  for (int word = 0; word < inst.op[0].words; ++word) wave.v[inst.op[0].index + word][lane] = registers[word];
}

/// The numbers of all 256 codes.
template <const SmallFloat& Small>
const float* decoded_codes() {
  static const auto numbers = [] {
    std::array<float, 256> all;
    for (std::uint32_t code = 0; code < all.size(); ++code) all[code] = decode_small(Small, code);
    return all;
  }();
  return numbers.data();
}

/// vdst = two 8-bit elements of src0 as halves, scaled by src1: what kernels do with every pair of an fp8 tensor.
template <class Wide, const SmallFloat& Small>
void scaled_widen_pair(Wave& wave, const Inst& inst) {
  const float* number = decoded_codes<Small>();
  const int shift = selected_source(inst, 16);
  Values<std::uint32_t> codes, scales;
  fetch_raw(wave, inst, 1, 0, codes.lane);
  fetch_raw(wave, inst, 2, 0, scales.lane);
  Lanes out;
  for (int lane = 0; lane < kLanes; ++lane) {
    const std::uint32_t pair = codes.lane[lane] >> shift;
    const std::uint64_t exponent = (scales.lane[lane] >> 23 & 0xff) + 1023 - 127;
    const double scale = as_double(exponent << 52);
    out.word[lane] = Wide::encode(static_cast<double>(number[pair & 0xff]) * scale) |
                     Wide::encode(static_cast<double>(number[pair >> 8 & 0xff]) * scale) << 16;
  }
  write(wave, inst.op[0], 0, out);
}

/// vdst = Count elements of src0, scaled by src1.
template <class Wide, const SmallFloat& Small, int Count>
void scaled_widen(Wave& wave, const Inst& inst) {
  constexpr int bits = Small.exponent + Small.mantissa + 1;
  const int from = Count == 32 ? 0 : selected_source(inst, bits * Count);
  const int to = Count == 1 && Wide::bits == 16 ? selected_destination(inst, 16) : 0;
  for (int lane = 0; lane < kLanes; ++lane) {
    if (!(wave.exec() >> lane & 1)) continue;
    std::uint32_t registers[32];
    read_destination(wave, inst, lane, registers);
    const int scale = scale_of(wave, inst.op[2], lane);
    for (int n = 0; n < Count; ++n) {
      const float value = decode_small(Small, element(wave, inst.op[1], lane, bits, n, from));
      put_element(registers, Wide::bits, n, Wide::encode(std::ldexp(static_cast<double>(value), scale)), to);
    }
    write_destination(wave, inst, lane, registers);
  }
}

inline float unscaled(float value, int scale) {
  const float result = std::ldexp(value, -scale);
  constexpr float most = std::numeric_limits<float>::max();
  return std::isinf(result) && std::isfinite(value) ? std::copysign(most, value) : result;
}

inline std::uint32_t next_random(std::uint32_t x) { return x << 1 ^ (x >> 31 ? 197u : 0u); }

/// vdst = Count elements from src0 (and src1 when each f32 comes from a source of its own), divided by the scale, which
/// is the last operand; with Stochastic, src1 holds the random bits.
template <class Wide, const SmallFloat& Small, int Count, bool Stochastic>
void scaled_narrow(Wave& wave, const Inst& inst) {
  constexpr int bits = Small.exponent + Small.mantissa + 1;
  const bool clamps = wave.mode >> 23 & 1;
  const int last = static_cast<int>(inst.count) - 1;
  const bool two_sources = !Stochastic && last == 3;
  const int to = Count == 32 ? 0 : selected_destination(inst, bits * Count);
  for (int lane = 0; lane < kLanes; ++lane) {
    if (!(wave.exec() >> lane & 1)) continue;
    std::uint32_t registers[32];
    read_destination(wave, inst, lane, registers);
    const int scale = scale_of(wave, inst.op[last], lane);
    std::uint32_t random = Stochastic ? lane_word(wave, inst.op[2], lane) : 0;
    for (int n = 0; n < Count; ++n) {
      // Two sources of 16 values each are interleaved; two of one value each are the pair.
      const Operand& source = inst.op[two_sources ? 1 + n % 2 : 1];
      const std::uint32_t code = element(wave, source, lane, Wide::bits, two_sources ? n / 2 : n);
      const float value = unscaled(Wide::decode(code), scale);
      put_element(
          registers, bits, n,
          Stochastic ? encode_small_stochastic(Small, value, random, clamps) : encode_small(Small, value, clamps), to);
      random = next_random(random);
    }
    write_destination(wave, inst, lane, registers);
  }
}

template <class Wide, const SmallFloat& Small, int Count>
constexpr OpEntry widen_op(const char* name) {
  return {name, scaled_widen<Wide, Small, Count>, Class::valu, 1, reads_dst | saturates, {}};
}
template <class Wide, const SmallFloat& Small>
constexpr OpEntry widen_pair_op(const char* name) {
  return {name, scaled_widen_pair<Wide, Small>, Class::valu, 1, 0, {}};
}
template <class Wide, const SmallFloat& Small, int Count, bool Stochastic = false>
constexpr OpEntry narrow_op(const char* name) {
  return {name, scaled_narrow<Wide, Small, Count, Stochastic>, Class::valu, 1, reads_dst | saturates, {}};
}

}  // namespace headtune::sim::HEADTUNE_SIM_ISA
