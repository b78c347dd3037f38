// Matrix instructions: D = A * B + C, with A [m][k] and B [k][m] of every block spread over the 64 lanes. Exec is
// ignored.
#include <cmath>

#include "tuner/sim/ops/mfma_tiles.h"

namespace headtune::sim::HEADTUNE_SIM_ISA {
namespace {

/// gfx942 has the FNUZ encodings of fp8, gfx950 the OCP ones.
Format on(Arch arch, Format format) {
  if (arch == Arch::gfx950) return format;
  return format == Format::e4m3fn ? Format::e4m3fnuz : format == Format::e5m2 ? Format::e5m2fnuz : format;
}

/// MI200's f16 and bf16 matrix instructions flush denormals; no others do.
bool flushes(const Wave& wave, Format format) { return wave.arch == Arch::gfx90a && is_16_bit(format); }

void flush_results(float* values, int count) {
  for (int i = 0; i < count; ++i)
    if (std::fabs(values[i]) < 0x1p-126f) values[i] *= 0.0f;
}

template <class T>
void flush_if(bool flush, T* values, int count) {
  if constexpr (std::is_same_v<T, float>)
    if (flush) flush_results(values, count);
}

/// A, B and C are in `tiles`.
template <Shape S, class T>
void finish(Wave& wave, const Inst& inst, Tiles<T>& tiles, bool flush, int cbsz) {
  flush_if(flush, tiles.d, S.results());
  multiply<S>(tiles, cbsz, inst.abid);
  flush_if(flush, tiles.d, S.results());
  write_result<S>(wave, inst.op[0], tiles.d);
}

template <Shape S>
using Number = std::conditional_t<S.a == Format::i8, std::uint32_t, float>;

template <Shape S>
constexpr int per_lane = S.k / S.groups();

template <Shape S>
void dense(Wave& wave, const Inst& inst) {
  Tiles<Number<S>> tiles;
  const bool flush = flushes(wave, S.a);
  fetch_dense<S>(wave, inst.op[1].index, on(wave.arch, S.a), per_lane<S>, 0, flush, tiles.a);
  fetch_dense<S>(wave, inst.op[2].index, on(wave.arch, S.b), per_lane<S>, inst.blgp, flush, tiles.b);
  fetch_result<S>(wave, inst.op[3], tiles.d);
  finish<S>(wave, inst, tiles, flush, inst.cbsz);
}

/// D is also C; the third source holds the positions.
template <Shape S>
void sparse(Wave& wave, const Inst& inst) {
  Tiles<Number<S>> tiles;
  fetch_sparse<S>(wave, inst, on(wave.arch, S.a), false, tiles.a);
  fetch_dense<S>(wave, inst.op[2].index, on(wave.arch, S.b), per_lane<S>, 0, false, tiles.b);
  fetch_result<S>(wave, inst.op[0], tiles.d);
  finish<S>(wave, inst, tiles, false, 0);
}

/// f64: BLGP's bits negate A, B and C (printed as neg:[a,b,c]).
template <Shape S>
void doubles(Wave& wave, const Inst& inst) {
  Tiles<double> tiles;
  const int negate = inst.neg_lo | inst.blgp;
  const auto negate_if = [&](int bit, double* values, int count) {
    if (negate & bit) std::transform(values, values + count, values, [](double x) { return -x; });
  };
  fetch_dense<S>(wave, inst.op[1].index, Format::f64, per_lane<S>, 0, false, tiles.a);
  fetch_dense<S>(wave, inst.op[2].index, Format::f64, per_lane<S>, 0, false, tiles.b);
  fetch_result<S>(wave, inst.op[3], tiles.d);
  negate_if(1, tiles.a, S.blocks * S.k * S.m);
  negate_if(2, tiles.b, S.blocks * S.k * S.m);
  negate_if(4, tiles.d, S.results());
  finish<S>(wave, inst, tiles, false, 0);
}

Format f8f6f4_format(int code) {
  constexpr Format formats[] = {Format::e4m3fn, Format::e5m2, Format::e2m3, Format::e3m2, Format::e2m1};
  if (code > 4) throw Fault("reserved number format in cbsz or blgp");
  return formats[code];
}

/// Block scales: for every row, one power of two per 32 k: a byte of the operand in lane row + m * block.
void fetch_scales(const Wave& wave, const Inst& inst, int operand, float* to) {
  const int bit = operand - 4;
  const int byte = (inst.op_sel >> bit & 1) | (inst.op_sel_hi >> bit & 1) << 1;
  for (int lane = 0; lane < kLanes; ++lane) {
    const int exponent = lane_word(wave, inst.op[operand], lane) >> (8 * byte) & 255;
    to[lane] = exponent == 255 ? NAN : static_cast<float>(exponent - 127);
  }
}

/// d += 2^(scale_a + scale_b) * (a * b): the scales apply to each block's sum of products.
template <Shape S>
void multiply_scaled(Tiles<float>& tiles, const float* scale_a, const float* scale_b) {
  alignas(64) float sum[S.m * S.m];
  for (int block = 0; block < S.k / 32; ++block) {
    std::fill_n(sum, S.m * S.m, 0.0f);
    multiply_wide<S.m>(tiles.a + block * 32 * S.m, tiles.b + block * 32 * S.m, sum, 32);
    for (int i = 0; i < S.m; ++i)
      for (int j = 0; j < S.m; ++j) {
        const float power = scale_a[block * S.m + i] + scale_b[block * S.m + j];
        tiles.d[i * S.m + j] += std::isnan(power) ? NAN : std::ldexp(sum[i * S.m + j], static_cast<int>(power));
      }
  }
}

template <Shape S, bool Scaled>
void f8f6f4(Wave& wave, const Inst& inst) {
  Tiles<float> tiles;
  const Format a = f8f6f4_format(inst.cbsz), b = f8f6f4_format(inst.blgp);
  const auto run = [](Format format) { return width(format) == 8 ? 16 : 32; };
  fetch_dense<S>(wave, inst.op[1].index, a, run(a), 0, false, tiles.a);
  fetch_dense<S>(wave, inst.op[2].index, b, run(b), 0, false, tiles.b);
  fetch_result<S>(wave, inst.op[3], tiles.d);
  if constexpr (Scaled) {
    float scale_a[kLanes], scale_b[kLanes];
    fetch_scales(wave, inst, 4, scale_a);
    fetch_scales(wave, inst, 5, scale_b);
    multiply_scaled<S>(tiles, scale_a, scale_b);
  } else {
    multiply_wide<S.m>(tiles.a, tiles.b, tiles.d, S.k);
  }
  write_result<S>(wave, inst.op[0], tiles.d);
}

// --- table ----------------------------------------------------------------------------------------------------------

constexpr Type result_type(Format format) {
  return format == Format::i8 ? Type::b32 : format == Format::f64 ? Type::f64 : Type::f32;
}

template <Shape S>
constexpr OpEntry mfma(const char* name) {
  return {name, dense<S>, Class::mfma, 1, 0, {Type::b32, Type::b32, Type::b32, result_type(S.a)}};
}

template <Shape S>
constexpr OpEntry smfmac(const char* name) {
  return {name, sparse<S>, Class::mfma, 1, reads_dst, {}};
}

template <int M, int K, int Blocks, Format A, Format B = A>
constexpr OpEntry square(const char* name) {
  return mfma<Shape{M, K, Blocks, A, B}>(name);
}

template <int M, int K, Format A, Format B = A>
constexpr OpEntry pruned(const char* name) {
  return smfmac<Shape{M, K, 1, A, B}>(name);
}

template <Shape S>
constexpr OpEntry mfma_f64(const char* name) {
  return {name, doubles<S>, Class::mfma, 1, 0, {Type::b32, Type::b32, Type::b32, Type::f64}};
}

constexpr Shape kSmall{16, 128, 1, Format::e4m3fn, Format::e4m3fn};
constexpr Shape kLarge{32, 64, 1, Format::e4m3fn, Format::e4m3fn};

template <Shape S, bool Scaled>
constexpr OpEntry mixed(const char* name) {
  return {name, f8f6f4<S, Scaled>, Class::mfma, 1, 0, {Type::b32, Type::b32, Type::b32, Type::f32}};
}

constexpr Format f32 = Format::f32, xf32 = Format::xf32, f16 = Format::f16, bf16 = Format::bf16, i8 = Format::i8;
constexpr Format fp8 = Format::e4m3fn, bf8 = Format::e5m2;

constexpr OpEntry kTable[] = {
    // gfx90a's names
    square<32, 1, 2, f32>("v_mfma_f32_32x32x1f32"),
    square<16, 1, 4, f32>("v_mfma_f32_16x16x1f32"),
    square<4, 1, 16, f32>("v_mfma_f32_4x4x1f32"),
    square<32, 2, 1, f32>("v_mfma_f32_32x32x2f32"),
    square<16, 4, 1, f32>("v_mfma_f32_16x16x4f32"),
    square<32, 4, 2, f16>("v_mfma_f32_32x32x4f16"),
    square<16, 4, 4, f16>("v_mfma_f32_16x16x4f16"),
    square<4, 4, 16, f16>("v_mfma_f32_4x4x4f16"),
    square<32, 8, 1, f16>("v_mfma_f32_32x32x8f16"),
    square<16, 16, 1, f16>("v_mfma_f32_16x16x16f16"),
    square<32, 4, 2, i8>("v_mfma_i32_32x32x4i8"),
    square<16, 4, 4, i8>("v_mfma_i32_16x16x4i8"),
    square<4, 4, 16, i8>("v_mfma_i32_4x4x4i8"),
    square<32, 8, 1, i8>("v_mfma_i32_32x32x8i8"),
    square<16, 16, 1, i8>("v_mfma_i32_16x16x16i8"),
    square<32, 2, 2, bf16>("v_mfma_f32_32x32x2bf16"),
    square<16, 2, 4, bf16>("v_mfma_f32_16x16x2bf16"),
    square<4, 2, 16, bf16>("v_mfma_f32_4x4x2bf16"),
    square<32, 4, 1, bf16>("v_mfma_f32_32x32x4bf16"),
    square<16, 8, 1, bf16>("v_mfma_f32_16x16x8bf16"),
    square<32, 4, 2, bf16>("v_mfma_f32_32x32x4bf16_1k"),
    square<16, 4, 4, bf16>("v_mfma_f32_16x16x4bf16_1k"),
    square<4, 4, 16, bf16>("v_mfma_f32_4x4x4bf16_1k"),
    square<32, 8, 1, bf16>("v_mfma_f32_32x32x8bf16_1k"),
    square<16, 16, 1, bf16>("v_mfma_f32_16x16x16bf16_1k"),
    mfma_f64<Shape{16, 4, 1, Format::f64, Format::f64}>("v_mfma_f64_16x16x4f64"),
    mfma_f64<Shape{4, 4, 4, Format::f64, Format::f64}>("v_mfma_f64_4x4x4f64"),
    // gfx942 and gfx950
    square<32, 1, 2, f32>("v_mfma_f32_32x32x1_2b_f32"),
    square<16, 1, 4, f32>("v_mfma_f32_16x16x1_4b_f32"),
    square<4, 1, 16, f32>("v_mfma_f32_4x4x1_16b_f32"),
    square<32, 2, 1, f32>("v_mfma_f32_32x32x2_f32"),
    square<16, 4, 1, f32>("v_mfma_f32_16x16x4_f32"),
    square<16, 8, 1, xf32>("v_mfma_f32_16x16x8_xf32"),
    square<32, 4, 1, xf32>("v_mfma_f32_32x32x4_xf32"),
    square<32, 4, 2, f16>("v_mfma_f32_32x32x4_2b_f16"),
    square<16, 4, 4, f16>("v_mfma_f32_16x16x4_4b_f16"),
    square<4, 4, 16, f16>("v_mfma_f32_4x4x4_16b_f16"),
    square<32, 8, 1, f16>("v_mfma_f32_32x32x8_f16"),
    square<16, 16, 1, f16>("v_mfma_f32_16x16x16_f16"),
    square<32, 4, 2, bf16>("v_mfma_f32_32x32x4_2b_bf16"),
    square<16, 4, 4, bf16>("v_mfma_f32_16x16x4_4b_bf16"),
    square<4, 4, 16, bf16>("v_mfma_f32_4x4x4_16b_bf16"),
    square<32, 8, 1, bf16>("v_mfma_f32_32x32x8_bf16"),
    square<16, 16, 1, bf16>("v_mfma_f32_16x16x16_bf16"),
    square<32, 4, 2, i8>("v_mfma_i32_32x32x4_2b_i8"),
    square<16, 4, 4, i8>("v_mfma_i32_16x16x4_4b_i8"),
    square<4, 4, 16, i8>("v_mfma_i32_4x4x4_16b_i8"),
    square<32, 16, 1, i8>("v_mfma_i32_32x32x16_i8"),
    square<16, 32, 1, i8>("v_mfma_i32_16x16x32_i8"),
    mfma_f64<Shape{16, 4, 1, Format::f64, Format::f64}>("v_mfma_f64_16x16x4_f64"),
    mfma_f64<Shape{4, 4, 4, Format::f64, Format::f64}>("v_mfma_f64_4x4x4_4b_f64"),
    square<16, 32, 1, fp8, fp8>("v_mfma_f32_16x16x32_fp8_fp8"),
    square<16, 32, 1, fp8, bf8>("v_mfma_f32_16x16x32_fp8_bf8"),
    square<16, 32, 1, bf8, fp8>("v_mfma_f32_16x16x32_bf8_fp8"),
    square<16, 32, 1, bf8, bf8>("v_mfma_f32_16x16x32_bf8_bf8"),
    square<32, 16, 1, fp8, fp8>("v_mfma_f32_32x32x16_fp8_fp8"),
    square<32, 16, 1, fp8, bf8>("v_mfma_f32_32x32x16_fp8_bf8"),
    square<32, 16, 1, bf8, fp8>("v_mfma_f32_32x32x16_bf8_fp8"),
    square<32, 16, 1, bf8, bf8>("v_mfma_f32_32x32x16_bf8_bf8"),
    pruned<16, 32, f16>("v_smfmac_f32_16x16x32_f16"),
    pruned<32, 16, f16>("v_smfmac_f32_32x32x16_f16"),
    pruned<16, 32, bf16>("v_smfmac_f32_16x16x32_bf16"),
    pruned<32, 16, bf16>("v_smfmac_f32_32x32x16_bf16"),
    pruned<16, 64, i8>("v_smfmac_i32_16x16x64_i8"),
    pruned<32, 32, i8>("v_smfmac_i32_32x32x32_i8"),
    pruned<16, 64, fp8, fp8>("v_smfmac_f32_16x16x64_fp8_fp8"),
    pruned<16, 64, fp8, bf8>("v_smfmac_f32_16x16x64_fp8_bf8"),
    pruned<16, 64, bf8, fp8>("v_smfmac_f32_16x16x64_bf8_fp8"),
    pruned<16, 64, bf8, bf8>("v_smfmac_f32_16x16x64_bf8_bf8"),
    pruned<32, 32, fp8, fp8>("v_smfmac_f32_32x32x32_fp8_fp8"),
    pruned<32, 32, fp8, bf8>("v_smfmac_f32_32x32x32_fp8_bf8"),
    pruned<32, 32, bf8, fp8>("v_smfmac_f32_32x32x32_bf8_fp8"),
    pruned<32, 32, bf8, bf8>("v_smfmac_f32_32x32x32_bf8_bf8"),
    // gfx950
    square<16, 32, 1, f16>("v_mfma_f32_16x16x32_f16"),
    square<32, 16, 1, f16>("v_mfma_f32_32x32x16_f16"),
    square<16, 32, 1, bf16>("v_mfma_f32_16x16x32_bf16"),
    square<32, 16, 1, bf16>("v_mfma_f32_32x32x16_bf16"),
    square<16, 64, 1, i8>("v_mfma_i32_16x16x64_i8"),
    square<32, 32, 1, i8>("v_mfma_i32_32x32x32_i8"),
    mixed<kSmall, false>("v_mfma_f32_16x16x128_f8f6f4"),
    mixed<kLarge, false>("v_mfma_f32_32x32x64_f8f6f4"),
    mixed<kSmall, true>("v_mfma_scale_f32_16x16x128_f8f6f4"),
    mixed<kLarge, true>("v_mfma_scale_f32_32x32x64_f8f6f4"),
    pruned<16, 64, f16>("v_smfmac_f32_16x16x64_f16"),
    pruned<32, 32, f16>("v_smfmac_f32_32x32x32_f16"),
    pruned<16, 64, bf16>("v_smfmac_f32_16x16x64_bf16"),
    pruned<32, 32, bf16>("v_smfmac_f32_32x32x32_bf16"),
    pruned<16, 128, i8>("v_smfmac_i32_16x16x128_i8"),
    pruned<32, 64, i8>("v_smfmac_i32_32x32x64_i8"),
    pruned<16, 128, fp8, fp8>("v_smfmac_f32_16x16x128_fp8_fp8"),
    pruned<16, 128, fp8, bf8>("v_smfmac_f32_16x16x128_fp8_bf8"),
    pruned<16, 128, bf8, fp8>("v_smfmac_f32_16x16x128_bf8_fp8"),
    pruned<16, 128, bf8, bf8>("v_smfmac_f32_16x16x128_bf8_bf8"),
    pruned<32, 64, fp8, fp8>("v_smfmac_f32_32x32x64_fp8_fp8"),
    pruned<32, 64, fp8, bf8>("v_smfmac_f32_32x32x64_fp8_bf8"),
    pruned<32, 64, bf8, fp8>("v_smfmac_f32_32x32x64_bf8_fp8"),
    pruned<32, 64, bf8, bf8>("v_smfmac_f32_32x32x64_bf8_bf8"),
};

}  // namespace

std::span<const OpEntry> mfma_ops() { return kTable; }

}  // namespace headtune::sim::HEADTUNE_SIM_ISA
