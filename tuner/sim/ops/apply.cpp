#include "tuner/sim/ops/apply.h"

#include <cfenv>

#ifdef __AVX2__
#include <immintrin.h>
#endif

namespace headtune::sim::HEADTUNE_SIM_ISA {
namespace {

/// Lane permutation of DPP: lanes without a source read 0 (their write is disabled unless bound_ctrl asks for the 0).
void permute(const Wave& wave, const LanePlan& plan, const std::uint32_t* from, std::uint32_t* to) {
  const std::uint64_t exec = wave.exec();
  for (int lane = 0; lane < kLanes; ++lane) {
    const int source = plan.from[lane];
    to[lane] = source >= 0 && (exec >> source & 1) ? from[source] : 0;
  }
}

/// SDWA selection: 0..3 a byte, 4..5 a half, 6 all.
void select_part(std::uint32_t* lanes, int select, bool sign_extend) {
  const int width = select < 4 ? 8 : 16;
  const int shift = select < 4 ? 8 * select : 16 * (select - 4);
  for (int lane = 0; lane < kLanes; ++lane) {
    const std::uint32_t up = lanes[lane] << (32 - width - shift);
    lanes[lane] =
        sign_extend ? static_cast<std::uint32_t>(static_cast<std::int32_t>(up) >> (32 - width)) : up >> (32 - width);
  }
}

bool keeps_denormal_inputs(const Wave& wave, bool wide) { return wave.mode >> (wide ? 6 : 4) & 1; }
bool keeps_denormal_results(const Wave& wave, bool wide) { return wave.mode >> (wide ? 6 : 4) & 2; }

float flushed(float value) { return std::fabs(value) < 0x1p-126f ? std::copysign(0.0f, value) : value; }
double flushed(double value) { return std::fabs(value) < 0x1p-1022 ? std::copysign(0.0, value) : value; }
/// Halves are computed in f32; their denormals lie below 2^-14.
f16 flushed(f16 value) { return {std::fabs(value.value) < 0x1p-14f ? std::copysign(0.0f, value.value) : value.value}; }

template <class T>
void flush(Values<T>& values) {
  for (int lane = 0; lane < kLanes; ++lane) values.lane[lane] = flushed(values.lane[lane]);
}

/// Output modifier and clamp of a float result.
template <class T>
T modified(T value, int omod, bool clamp, bool nan_to_zero) {
  value *= static_cast<T>(omod == 0 ? 1.0 : omod == 1 ? 2.0 : omod == 2 ? 4.0 : 0.5);
  if (!clamp) return value;
  if (is_nan(value)) return nan_to_zero ? T(0) : value;
  return value < 0 ? T(0) : value > 1 ? T(1) : value;
}

/// Where a 16-bit result goes: the high half when op_sel's last entry (after the sources) says so.
bool writes_high(const Inst& inst) { return inst.op_sel >> 3 & 1; }

/// SDWA destinations: puts the value into the selected part.
std::uint32_t placed(std::uint32_t value, std::uint32_t old, const Inst& inst) {
  if (inst.dst_select == 6) return value;
  const int width = inst.dst_select < 4 ? 8 : 16;
  const int shift = inst.dst_select < 4 ? 8 * inst.dst_select : 16 * (inst.dst_select - 4);
  const std::uint32_t field = (1u << width) - 1;
  const std::uint32_t part = (value & field) << shift;
  if (inst.dst_unused == 2) return part | (old & ~(field << shift));
  if (inst.dst_unused == 0) return part;
  const auto extended = static_cast<std::int32_t>((value & field) << (32 - width)) >> (32 - width);
  return static_cast<std::uint32_t>(extended) << shift;
}

}  // namespace

void fetch_raw(const Wave& wave, const Inst& inst, int index, int part, std::uint32_t* to) {
  const Operand& operand = inst.op[index];
  Lanes buffer;
  const std::uint32_t* from = words(wave, operand, part, buffer);
  if (inst.dpp && index == inst.entry->destinations)
    permute(wave, *inst.dpp, from, to);
  else
    std::memcpy(to, from, sizeof(Lanes));
  if (operand.select != 6) select_part(to, operand.select, operand.sext);
}

void fetch_modified(const Wave& wave, const Inst& inst, int index, Values<std::uint32_t>& to) {
  const Operand& operand = inst.op[index];
  fetch_raw(wave, inst, index, 0, to.lane);
  const std::uint32_t keep = operand.abs ? 0x7fffffff : ~0u;
  const std::uint32_t flip = operand.neg ? 0x80000000 : 0;
  for (int lane = 0; lane < kLanes; ++lane) to.lane[lane] = (to.lane[lane] & keep) ^ flip;
}

void fetch_modified(const Wave& wave, const Inst& inst, int index, Values<float>& to) {
  fetch_modified(wave, inst, index, reinterpret_cast<Values<std::uint32_t>&>(to));
  if (!keeps_denormal_inputs(wave, false)) flush(to);
}

void fetch_pairs(const Wave& wave, const Inst& inst, int index, Values<std::uint64_t>& to) {
  Values<std::uint32_t> low, high;
  const Operand& operand = inst.op[index];
  const std::uint32_t* a = low.lane;
  const std::uint32_t* b = high.lane;
  if (inst.simple) {
    a = words(wave, operand, 0, reinterpret_cast<Lanes&>(low));
    b = words(wave, operand, 1, reinterpret_cast<Lanes&>(high));
  } else {
    fetch_raw(wave, inst, index, 0, low.lane);
    fetch_raw(wave, inst, index, 1, high.lane);
  }
  for (int lane = 0; lane < kLanes; ++lane) to.lane[lane] = a[lane] | static_cast<std::uint64_t>(b[lane]) << 32;
  if (operand.abs)
    for (auto& value : to.lane) value &= ~(std::uint64_t{1} << 63);
  if (operand.neg)
    for (auto& value : to.lane) value ^= std::uint64_t{1} << 63;
}

void fetch_doubles(const Wave& wave, const Inst& inst, int index, Values<double>& to) {
  fetch_pairs(wave, inst, index, reinterpret_cast<Values<std::uint64_t>&>(to));
  if (!keeps_denormal_inputs(wave, true)) flush(to);
}

void fetch_halves(const Wave& wave, const Inst& inst, int index, Values<f16>& to) {
  Values<std::uint32_t> buffer;
  const Operand& operand = inst.op[index];
  const std::uint32_t* raw = buffer.lane;
  if (inst.simple)
    raw = words(wave, operand, 0, reinterpret_cast<Lanes&>(buffer));
  else
    fetch_raw(wave, inst, index, 0, buffer.lane);
  const int shift = index > 0 && (inst.op_sel >> (index - 1) & 1) ? 16 : 0;
  const std::uint32_t keep = operand.abs ? 0x7fff : 0xffff;
  const std::uint32_t flip = operand.neg ? 0x8000 : 0;
  for (int lane = 0; lane < kLanes; ++lane) to.lane[lane].value = f16_to_f32(((raw[lane] >> shift) & keep) ^ flip);
  flush_halves(wave, to);
}

void fetch_shorts(const Wave& wave, const Inst& inst, int index, bool sign_extend, Values<std::uint32_t>& to) {
  fetch_raw(wave, inst, index, 0, to.lane);
  const int shift = index > 0 && (inst.op_sel >> (index - 1) & 1) ? 16 : 0;
  for (int lane = 0; lane < kLanes; ++lane) {
    const std::uint32_t half = to.lane[lane] >> shift;
    to.lane[lane] = sign_extend ? static_cast<std::uint32_t>(static_cast<std::int16_t>(half)) : half & 0xffff;
  }
}

void fetch_bits(const Wave& wave, const Inst& inst, int index, Values<bit>& to) {
  const std::uint64_t mask = scalar_pair(wave, inst.op[index]);
  for (int lane = 0; lane < 32; ++lane) to.lane[lane].value = static_cast<std::uint32_t>(mask) >> lane & 1;
  for (int lane = 0; lane < 32; ++lane) to.lane[32 + lane].value = static_cast<std::uint32_t>(mask >> 32) >> lane & 1;
}

std::uint64_t pack_mask(const std::uint32_t* flags) {
  std::uint64_t mask = 0;
#ifdef __AVX2__
  for (int lane = 0; lane < kLanes; lane += 8) {
    const __m256i eight = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(flags + lane));
    const int bits = _mm256_movemask_ps(_mm256_castsi256_ps(_mm256_slli_epi32(eight, 31)));
    mask |= static_cast<std::uint64_t>(static_cast<unsigned>(bits)) << lane;
  }
#else
  for (int lane = 0; lane < kLanes; ++lane) mask |= static_cast<std::uint64_t>(flags[lane] & 1) << lane;
#endif
  return mask;
}

std::uint64_t writable(const Wave& wave, const Inst& inst) {
  if (!inst.dpp) return wave.exec();
  const LanePlan& plan = *inst.dpp;
  const std::uint64_t exec = wave.exec();
  std::uint64_t mask = exec & plan.writable;
  if (plan.zero_invalid) return mask;
  for (int lane = 0; lane < kLanes; ++lane) {
    const int source = plan.from[lane];
    if (source < 0 || !(exec >> source & 1)) mask &= ~(std::uint64_t{1} << lane);
  }
  return mask;
}

void finish_words(Wave& wave, const Inst& inst, const std::uint32_t* from) {
  std::uint32_t* to = wave.v[inst.op[0].index];
  Lanes merged;
  for (int lane = 0; lane < kLanes; ++lane) merged.word[lane] = placed(from[lane], to[lane], inst);
  store(to, merged.word, writable(wave, inst));
}

void finish_floats(Wave& wave, const Inst& inst, Values<float>& from) {
  if (!keeps_denormal_results(wave, false)) flush(from);
  if (inst.omod || inst.clamp)
    for (auto& value : from.lane) value = modified(value, inst.omod, inst.clamp, wave.mode & mode::dx10_clamp);
  finish_words(wave, inst, reinterpret_cast<const std::uint32_t*>(from.lane));
}

void finish_pairs(Wave& wave, const Inst& inst, const Values<std::uint64_t>& from) {
  Lanes low, high;
  for (int lane = 0; lane < kLanes; ++lane) low.word[lane] = static_cast<std::uint32_t>(from.lane[lane]);
  for (int lane = 0; lane < kLanes; ++lane) high.word[lane] = static_cast<std::uint32_t>(from.lane[lane] >> 32);
  const std::uint64_t mask = writable(wave, inst);
  store(wave.v[inst.op[0].index], low.word, mask);
  store(wave.v[inst.op[0].index + 1], high.word, mask);
}

void finish_doubles(Wave& wave, const Inst& inst, Values<double>& from) {
  if (!keeps_denormal_results(wave, true)) flush(from);
  if (inst.omod || inst.clamp)
    for (auto& value : from.lane) value = modified(value, inst.omod, inst.clamp, wave.mode & mode::dx10_clamp);
  finish_pairs(wave, inst, reinterpret_cast<const Values<std::uint64_t>&>(from));
}

void flush_halves(const Wave& wave, Values<f16>& values) {
  if (!keeps_denormal_inputs(wave, true)) flush(values);
}

void round_halves(const Wave& wave, const Inst& inst, Values<f16>& from, std::uint32_t* to) {
  if (inst.omod || inst.clamp)
    for (auto& value : from.lane)
      value.value = modified(value.value, inst.omod, inst.clamp, wave.mode & mode::dx10_clamp);
  const int rounding = wave.mode >> 2 & 3;
  if (rounding == 0)
    for (int lane = 0; lane < kLanes; ++lane) to[lane] = f32_to_f16(from.lane[lane].value);
  else
    for (int lane = 0; lane < kLanes; ++lane) to[lane] = f32_to_f16_rounded(from.lane[lane].value, rounding);
  if (!keeps_denormal_results(wave, true))
    for (int lane = 0; lane < kLanes; ++lane) to[lane] = (to[lane] & 0x7c00) == 0 ? to[lane] & 0x8000 : to[lane];
}

void finish_halves(Wave& wave, const Inst& inst, Values<f16>& from) {
  Lanes halves;
  round_halves(wave, inst, from, halves.word);
  finish_shorts(wave, inst, halves.word);
}

void finish_shorts(Wave& wave, const Inst& inst, const std::uint32_t* from) {
  std::uint32_t* to = wave.v[inst.op[0].index];
  const bool high = writes_high(inst);
  const bool keeps = high || (inst.entry->flags & keeps_high) != 0;
  Lanes merged;
  for (int lane = 0; lane < kLanes; ++lane) {
    const std::uint32_t half = from[lane] & 0xffff;
    const std::uint32_t other = high ? to[lane] & 0xffff : to[lane] & 0xffff0000;
    merged.word[lane] = (high ? half << 16 : half) | (keeps ? other : 0);
  }
  if (inst.dst_select != 6) return finish_words(wave, inst, from);
  store(to, merged.word, writable(wave, inst));
}

void Rounding::enter(std::uint32_t mode, bool wide) {
  constexpr int host[] = {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};
  saved_ = std::fegetround();
  std::fesetround(host[mode >> (wide ? 2 : 0) & 3]);
}

void Rounding::leave() { std::fesetround(saved_); }

std::uint32_t f32_to_f16_rounded(float value, int rounding) {
  if (is_nan(value) || rounding == 0) return f32_to_f16(value);
  const std::uint32_t sign = as_bits(value) >> 16 & 0x8000;
  const float magnitude = std::fabs(value);
  const bool up = rounding == 1 ? !sign : rounding == 2 ? sign != 0 : false;  // away from zero
  std::uint32_t half = f32_to_f16(magnitude);
  const bool infinite = magnitude > 0x1.fffffep127f;
  if (!infinite && (half == 0x7c00 || f16_to_f32(half) > magnitude)) --half;  // now at most the magnitude
  if (up && f16_to_f32(half) < magnitude) ++half;
  return sign | half;
}

}  // namespace headtune::sim::HEADTUNE_SIM_ISA
