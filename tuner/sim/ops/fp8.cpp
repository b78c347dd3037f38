// Conversions to and from 8-bit floats. gfx942 has the FNUZ encodings, gfx950 the OCP ones.
#include <span>

#include "tuner/sim/ops/apply.h"
#include "tuner/sim/ops/scaled.h"
#include "tuner/sim/ops/small_float.h"

namespace headtune::sim::HEADTUNE_SIM_ISA {
namespace {

using U = std::uint32_t;

constexpr std::uint32_t overflow_clamps = 1u << 23;  // MODE.FP16_OVFL

const SmallFloat& format(const Inst& inst, bool wide_exponent) {
  if (inst.arch == Arch::gfx950) return wide_exponent ? e5m2 : e4m3fn;
  return wide_exponent ? e5m2fnuz : e4m3fnuz;
}

template <bool Wide>
const float* numbers(const Inst& inst) {
  if (inst.arch == Arch::gfx950) return Wide ? decoded_codes<e5m2>() : decoded_codes<e4m3fn>();
  return Wide ? decoded_codes<e5m2fnuz>() : decoded_codes<e4m3fnuz>();
}

/// vdst = byte of src0 (SDWA selects which; gfx950 also by op_sel or byte_sel).
template <bool Wide>
void to_f32(Wave& wave, const Inst& inst) {
  Values<U> raw;
  Values<float> out;
  fetch_raw(wave, inst, 1, 0, raw.lane);
  const SmallFloat& small = format(inst, Wide);
  const int byte = inst.byte_sel ? inst.byte_sel : ((inst.op_sel & 1) << 1 | (inst.op_sel >> 1 & 1));
  for (int lane = 0; lane < kLanes; ++lane) out.lane[lane] = decode_small(small, raw.lane[lane] >> (8 * byte) & 0xff);
  finish_floats(wave, inst, out);
}

/// vdst (pair) = the two bytes of a half of src0.
template <bool Wide>
void pair_to_f32(Wave& wave, const Inst& inst) {
  Values<U> raw;
  Lanes low, high;
  fetch_raw(wave, inst, 1, 0, raw.lane);
  const float* number = numbers<Wide>(inst);
  const int shift = inst.op_sel & 1 ? 16 : 0;
  for (int lane = 0; lane < kLanes; ++lane) {
    low.word[lane] = as_bits(number[raw.lane[lane] >> shift & 0xff]);
    high.word[lane] = as_bits(number[raw.lane[lane] >> (shift + 8) & 0xff]);
  }
  write(wave, inst.op[0], 0, low);
  write(wave, inst.op[0], 1, high);
}

/// A half of vdst = src0 and src1 as bytes; the other half stays.
template <bool Wide>
void pair_from_f32(Wave& wave, const Inst& inst) {
  Values<float> a_buffer, b_buffer;
  const float* a = fetch<float>(wave, inst, 1, a_buffer);
  const float* b = fetch<float>(wave, inst, 2, b_buffer);
  const SmallFloat& small = format(inst, Wide);
  const bool clamps = wave.mode & overflow_clamps;
  Values<U> out;
  for (int lane = 0; lane < kLanes; ++lane)
    out.lane[lane] = encode_small(small, a[lane], clamps) | encode_small(small, b[lane], clamps) << 8;
  finish_shorts(wave, inst, out.lane);
}

/// One byte of vdst = src0 rounded with the random bits of src1; the other bytes stay.
template <bool Wide>
void stochastic_from_f32(Wave& wave, const Inst& inst) {
  Values<float> a_buffer;
  Values<U> random_buffer;
  const float* a = fetch<float>(wave, inst, 1, a_buffer);
  const U* random = fetch<U>(wave, inst, 2, random_buffer);
  const SmallFloat& small = format(inst, Wide);
  const bool clamps = wave.mode & overflow_clamps;
  const int byte = inst.byte_sel ? inst.byte_sel : inst.op_sel >> 2 & 3;
  const U* old = wave.v[inst.op[0].index];
  Lanes out;
  for (int lane = 0; lane < kLanes; ++lane) {
    const U code = encode_small_stochastic(small, a[lane], random[lane], clamps);
    out.word[lane] = (old[lane] & ~(0xffu << (8 * byte))) | code << (8 * byte);
  }
  write(wave, inst.op[0], 0, out);
}

constexpr Class valu = Class::valu;

constexpr OpEntry table[] = {
    {"v_cvt_f32_fp8", to_f32<false>, valu, 1, 0, {Type::f32}},
    {"v_cvt_f32_bf8", to_f32<true>, valu, 1, 0, {Type::f32}},
    {"v_cvt_pk_f32_fp8", pair_to_f32<false>, valu, 1, 0, {Type::b64}},
    {"v_cvt_pk_f32_bf8", pair_to_f32<true>, valu, 1, 0, {Type::b64}},
    {"v_cvt_pk_fp8_f32", pair_from_f32<false>, valu, 1, keeps_high, {Type::b32, Type::f32, Type::f32}},
    {"v_cvt_pk_bf8_f32", pair_from_f32<true>, valu, 1, keeps_high, {Type::b32, Type::f32, Type::f32}},
    {"v_cvt_sr_fp8_f32", stochastic_from_f32<false>, valu, 1, reads_dst, {Type::b32, Type::f32, Type::b32}},
    {"v_cvt_sr_bf8_f32", stochastic_from_f32<true>, valu, 1, reads_dst, {Type::b32, Type::f32, Type::b32}},

    widen_op<WideF32, e4m3fn, 1>("v_cvt_scalef32_f32_fp8"),
    widen_op<WideF16, e4m3fn, 1>("v_cvt_scalef32_f16_fp8"),
    widen_op<WideF32, e5m2, 1>("v_cvt_scalef32_f32_bf8"),
    widen_op<WideF16, e5m2, 1>("v_cvt_scalef32_f16_bf8"),
    widen_op<WideF32, e4m3fn, 2>("v_cvt_scalef32_pk_f32_fp8"),
    widen_pair_op<WideF16, e4m3fn>("v_cvt_scalef32_pk_f16_fp8"),
    widen_pair_op<WideBf16, e4m3fn>("v_cvt_scalef32_pk_bf16_fp8"),
    widen_op<WideF32, e5m2, 2>("v_cvt_scalef32_pk_f32_bf8"),
    widen_pair_op<WideF16, e5m2>("v_cvt_scalef32_pk_f16_bf8"),
    widen_pair_op<WideBf16, e5m2>("v_cvt_scalef32_pk_bf16_bf8"),
    widen_op<WideF32, e2m1, 2>("v_cvt_scalef32_pk_f32_fp4"),
    widen_op<WideF16, e2m1, 2>("v_cvt_scalef32_pk_f16_fp4"),
    widen_op<WideBf16, e2m1, 2>("v_cvt_scalef32_pk_bf16_fp4"),
    widen_op<WideF32, e2m3, 32>("v_cvt_scalef32_pk32_f32_fp6"),
    widen_op<WideF16, e2m3, 32>("v_cvt_scalef32_pk32_f16_fp6"),
    widen_op<WideBf16, e2m3, 32>("v_cvt_scalef32_pk32_bf16_fp6"),
    widen_op<WideF32, e3m2, 32>("v_cvt_scalef32_pk32_f32_bf6"),
    widen_op<WideF16, e3m2, 32>("v_cvt_scalef32_pk32_f16_bf6"),
    widen_op<WideBf16, e3m2, 32>("v_cvt_scalef32_pk32_bf16_bf6"),
    narrow_op<WideF32, e4m3fn, 2>("v_cvt_scalef32_pk_fp8_f32"),
    narrow_op<WideF32, e5m2, 2>("v_cvt_scalef32_pk_bf8_f32"),
    narrow_op<WideF32, e2m1, 2>("v_cvt_scalef32_pk_fp4_f32"),
    narrow_op<WideF32, e4m3fn, 1, true>("v_cvt_scalef32_sr_fp8_f32"),
    narrow_op<WideF32, e5m2, 1, true>("v_cvt_scalef32_sr_bf8_f32"),
    narrow_op<WideF32, e2m1, 2, true>("v_cvt_scalef32_sr_pk_fp4_f32"),
    narrow_op<WideF32, e2m3, 32, true>("v_cvt_scalef32_sr_pk32_fp6_f32"),
    narrow_op<WideF32, e3m2, 32, true>("v_cvt_scalef32_sr_pk32_bf6_f32"),
    narrow_op<WideF16, e4m3fn, 2>("v_cvt_scalef32_pk_fp8_f16"),
    narrow_op<WideF16, e5m2, 2>("v_cvt_scalef32_pk_bf8_f16"),
    narrow_op<WideF16, e2m1, 2>("v_cvt_scalef32_pk_fp4_f16"),
    narrow_op<WideF16, e4m3fn, 1, true>("v_cvt_scalef32_sr_fp8_f16"),
    narrow_op<WideF16, e5m2, 1, true>("v_cvt_scalef32_sr_bf8_f16"),
    narrow_op<WideF16, e2m1, 2, true>("v_cvt_scalef32_sr_pk_fp4_f16"),
    narrow_op<WideF16, e2m3, 32, true>("v_cvt_scalef32_sr_pk32_fp6_f16"),
    narrow_op<WideF16, e2m3, 32>("v_cvt_scalef32_pk32_fp6_f16"),
    narrow_op<WideF16, e3m2, 32, true>("v_cvt_scalef32_sr_pk32_bf6_f16"),
    narrow_op<WideF16, e3m2, 32>("v_cvt_scalef32_pk32_bf6_f16"),
    narrow_op<WideBf16, e4m3fn, 2>("v_cvt_scalef32_pk_fp8_bf16"),
    narrow_op<WideBf16, e5m2, 2>("v_cvt_scalef32_pk_bf8_bf16"),
    narrow_op<WideBf16, e2m1, 2>("v_cvt_scalef32_pk_fp4_bf16"),
    narrow_op<WideBf16, e4m3fn, 1, true>("v_cvt_scalef32_sr_fp8_bf16"),
    narrow_op<WideBf16, e5m2, 1, true>("v_cvt_scalef32_sr_bf8_bf16"),
    narrow_op<WideBf16, e2m1, 2, true>("v_cvt_scalef32_sr_pk_fp4_bf16"),
    narrow_op<WideBf16, e2m3, 32, true>("v_cvt_scalef32_sr_pk32_fp6_bf16"),
    narrow_op<WideBf16, e2m3, 32>("v_cvt_scalef32_pk32_fp6_bf16"),
    narrow_op<WideBf16, e3m2, 32, true>("v_cvt_scalef32_sr_pk32_bf6_bf16"),
    narrow_op<WideBf16, e3m2, 32>("v_cvt_scalef32_pk32_bf6_bf16"),
    narrow_op<WideF32, e2m3, 32>("v_cvt_scalef32_2xpk16_fp6_f32"),
    narrow_op<WideF32, e3m2, 32>("v_cvt_scalef32_2xpk16_bf6_f32"),
};

}  // namespace

std::span<const OpEntry> fp8_ops() { return table; }

}  // namespace headtune::sim::HEADTUNE_SIM_ISA
