// Matrix instructions. D = A * B + C, with A [block][m][k], B [block][k][n] spread over the 64 lanes; exec is ignored.
//
// Layouts, from AMD's CDNA instruction-set documents. Operands: lane = row + m * (block + blocks * group), group g
// holds k / groups consecutive k; f8f6f4 operands of 8 bits hold 16 consecutive k twice. Results: see `place`.
#include <algorithm>
#include <cmath>

#include "tuner/sim/ops/mfma_numbers.h"
#include "tuner/sim/ops/operands.h"

namespace headtune::sim::HEADTUNE_SIM_ISA {
namespace {

struct Shape {
  std::uint8_t m, n;
  std::uint16_t k;
  std::uint8_t blocks;
  Format a, b;

  constexpr int groups() const { return 64 / (m * blocks); }
};

inline constexpr int kMostElements = 2048;  ///< of A, B or D over all blocks, in any shape

template <class T>
struct Tiles {
  alignas(64) T a[kMostElements];  ///< [block][k][m]
  alignas(64) T b[kMostElements];  ///< [block][k][n]
  alignas(64) T d[kMostElements];  ///< [block][m][n]
};

// --- operands -------------------------------------------------------------------------------------------------------

/// Source lane of B for each lane under BLGP.
int blgp_lane(int lane, int blgp) {
  switch (blgp) {
    case 0:
      return lane;
    case 1:
      return lane % 32;
    case 2:
      return lane % 32 + 32;
    case 3:
      return (lane + 16) % 64;
    default:
      return lane % 16 + 16 * (blgp - 4);
  }
}

template <class T>
void permute(T* lanes, int blgp) {
  T old[kLanes];
  std::copy_n(lanes, kLanes, old);
  for (int lane = 0; lane < kLanes; ++lane) lanes[lane] = old[blgp_lane(lane, blgp)];
}

template <class T>
void fetch_element(const Wave& wave, int index, Format format, int element, bool flush, T* to) {
  if constexpr (std::is_same_v<T, float>) {
    widen_element(wave, index, format, element, flush, to);
  } else if constexpr (std::is_same_v<T, std::uint32_t>) {
    widen_element(wave, index, element, reinterpret_cast<std::int32_t*>(to));
  } else {
    for (int lane = 0; lane < kLanes; ++lane) {
      const std::uint64_t bits = std::uint64_t{wave.v[index + 1][lane]} << 32 | wave.v[index][lane];
      std::memcpy(&to[lane], &bits, 8);
    }
  }
}

/// Where the elements of a dense operand go.
struct Layout {
  int rows, k, blocks, groups, run;  ///< run: consecutive k of one lane
  int k_of(int group, int element) const { return run * (element / run * groups + group) + element % run; }
};

Layout layout_of(const Shape& shape, int rows, Format format, bool split_bytes) {
  const int per_lane = shape.k / shape.groups();
  return {rows, shape.k, shape.blocks, shape.groups(), split_bytes && width(format) == 8 ? 16 : per_lane};
}

template <class T>
void spread(const Layout& layout, const T* lanes, int element, T* to) {
  for (int chunk = 0; chunk < kLanes / layout.rows; ++chunk) {
    const int block = chunk % layout.blocks, group = chunk / layout.blocks;
    std::memcpy(to + (block * layout.k + layout.k_of(group, element)) * layout.rows, lanes + chunk * layout.rows,
                layout.rows * sizeof(T));
  }
}

template <class T>
void fetch_dense(const Wave& wave, int index, Format format, const Layout& layout, int blgp, bool flush, T* to) {
  alignas(64) T lanes[kLanes];
  for (int element = 0; element < layout.k / layout.groups; ++element) {
    fetch_element(wave, index, format, element, flush, lanes);
    if (blgp) permute(lanes, blgp);
    spread(layout, lanes, element, to);
  }
}

/// A of the 2:4 sparse instructions: of every four k, two values are stored, and `positions` (2 bits each) say which.
template <class T>
void fetch_sparse(const Wave& wave, const Inst& inst, const Shape& shape, Format format, bool flush, T* to) {
  alignas(64) T lanes[kLanes];
  const int per_lane = shape.k / shape.groups(), stored = per_lane / 2;
  const int first_bit = inst.cbsz ? 0 : inst.abid * 2 * stored % 32;
  const std::uint32_t* positions = wave.v[inst.op[3].index];
  std::fill_n(to, shape.k * shape.m, T{});
  for (int element = 0; element < stored; ++element) {
    fetch_element(wave, inst.op[1].index, format, element, flush, lanes);
    for (int lane = 0; lane < kLanes; ++lane) {
      const int k = lane / shape.m * per_lane + element / 2 * 4 +
                    static_cast<int>(positions[lane] >> (first_bit + 2 * element) & 3);
      to[k * shape.m + lane % shape.m] += lanes[lane];
    }
  }
}

// --- results --------------------------------------------------------------------------------------------------------

struct Place {
  int part, lane;
};

/// Register and first lane of row `i` of a block; the row's columns are in consecutive lanes.
template <class T>
Place place(const Shape& shape, int block, int i) {
  if constexpr (sizeof(T) == 8) return shape.m == 16 ? Place{2 * (i / 4), 16 * (i % 4)} : Place{0, 16 * i + 4 * block};
  switch (shape.m) {
    case 32:
      return {16 * block + 4 * (i / 8) + i % 4, 32 * (i / 4 % 2)};
    case 16:
      return {4 * block + i % 4, 16 * (i / 4)};
    default:
      return {i, 4 * block};
  }
}

template <class T, class F>
void for_rows(const Shape& shape, F f) {
  for (int block = 0; block < shape.blocks; ++block)
    for (int i = 0; i < shape.m; ++i) f(place<T>(shape, block, i), (block * shape.m + i) * shape.n);
}

template <class T>
void fetch_result(const Wave& wave, const Operand& operand, const Shape& shape, T* to) {
  if (operand.kind != Kind::vector) {
    T value;
    const std::uint64_t bits = scalar_pair(wave, operand);
    std::memcpy(&value, &bits, sizeof value);
    std::fill_n(to, shape.blocks * shape.m * shape.n, value);
    return;
  }
  for_rows<T>(shape, [&](Place at, int first) {
    const std::uint32_t* low = &wave.v[operand.index + at.part][at.lane];
    if constexpr (sizeof(T) == 4) {
      std::memcpy(to + first, low, shape.n * sizeof(T));
    } else {
      for (int j = 0; j < shape.n; ++j) {
        const std::uint64_t bits = std::uint64_t{low[kLanes + j]} << 32 | low[j];
        std::memcpy(&to[first + j], &bits, 8);
      }
    }
  });
}

template <class T>
void write_result(Wave& wave, const Operand& operand, const Shape& shape, const T* from) {
  for_rows<T>(shape, [&](Place at, int first) {
    std::uint32_t* low = &wave.v[operand.index + at.part][at.lane];
    if constexpr (sizeof(T) == 4) {
      std::memcpy(low, from + first, shape.n * sizeof(T));
    } else {
      for (int j = 0; j < shape.n; ++j) {
        std::uint64_t bits;
        std::memcpy(&bits, &from[first + j], 8);
        low[j] = static_cast<std::uint32_t>(bits);
        low[kLanes + j] = static_cast<std::uint32_t>(bits >> 32);
      }
    }
  });
}

// --- products -------------------------------------------------------------------------------------------------------

/// d[m][n] += a[k][m] * b[k][n], 4 rows of 16 columns at a time in registers.
template <class T>
void multiply_wide(const T* a, const T* b, T* d, int m, int n, int k) {
  using Columns __attribute__((vector_size(16 * sizeof(T)))) = T;
  constexpr int kRows = 4;
  for (int column = 0; column < n; column += 16) {
    for (int row = 0; row < m; row += kRows) {
      Columns sum[kRows], right;
      for (int r = 0; r < kRows; ++r) std::memcpy(&sum[r], d + (row + r) * n + column, sizeof right);
      for (int step = 0; step < k; ++step) {
        std::memcpy(&right, b + step * n + column, sizeof right);
        for (int r = 0; r < kRows; ++r) sum[r] += a[step * m + row + r] * right;
      }
      for (int r = 0; r < kRows; ++r) std::memcpy(d + (row + r) * n + column, &sum[r], sizeof right);
    }
  }
}

template <class T>
void multiply_4x4(const T* a, const T* b, T* d, int k) {
  for (int step = 0; step < k; ++step)
    for (int i = 0; i < 4; ++i)
      for (int j = 0; j < 4; ++j) d[i * 4 + j] += a[step * 4 + i] * b[step * 4 + j];
}

template <class T>
void multiply(const Shape& shape, Tiles<T>& tiles, const Inst& inst) {
  // CBSZ: groups of 2^cbsz blocks share A of the group's block number `abid`.
  for (int block = 0; block < shape.blocks; ++block) {
    const int a_block = ((block >> inst.cbsz << inst.cbsz) + (inst.cbsz ? inst.abid : 0)) % shape.blocks;
    const T* a = tiles.a + a_block * shape.k * shape.m;
    const T* b = tiles.b + block * shape.k * shape.n;
    T* d = tiles.d + block * shape.m * shape.n;
    if (shape.m == 4)
      multiply_4x4(a, b, d, shape.k);
    else
      multiply_wide(a, b, d, shape.m, shape.n, shape.k);
  }
}

// --- instructions ---------------------------------------------------------------------------------------------------

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
void run(Wave& wave, const Inst& inst, const Shape& shape, const Operand& c, bool sparse) {
  Tiles<T> tiles;
  const bool flush = flushes(wave, shape.a);
  const Format a = on(wave.arch, shape.a), b = on(wave.arch, shape.b);
  Inst plain;
  if (sparse)
    fetch_sparse(wave, inst, shape, a, flush, tiles.a);
  else
    fetch_dense(wave, inst.op[1].index, a, layout_of(shape, shape.m, a, false), 0, flush, tiles.a);
  fetch_dense(wave, inst.op[2].index, b, layout_of(shape, shape.n, b, false), sparse ? 0 : inst.blgp, flush, tiles.b);
  fetch_result(wave, c, shape, tiles.d);
  const int results = shape.blocks * shape.m * shape.n;
  if constexpr (std::is_same_v<T, float>)
    if (flush) flush_results(tiles.d, results);
  multiply(shape, tiles, sparse ? plain : inst);
  if constexpr (std::is_same_v<T, float>)
    if (flush) flush_results(tiles.d, results);
  write_result(wave, inst.op[0], shape, tiles.d);
}

template <Shape S>
void dense(Wave& wave, const Inst& inst) {
  if constexpr (S.a == Format::i8)
    run<std::uint32_t>(wave, inst, S, inst.op[3], false);
  else
    run<float>(wave, inst, S, inst.op[3], false);
}

template <Shape S>
void sparse(Wave& wave, const Inst& inst) {
  if constexpr (S.a == Format::i8)
    run<std::uint32_t>(wave, inst, S, inst.op[0], true);
  else
    run<float>(wave, inst, S, inst.op[0], true);
}

/// f64: BLGP's bits negate A, B and C (printed as neg:[a,b,c]).
template <Shape S>
void doubles(Wave& wave, const Inst& inst) {
  Tiles<double> tiles;
  const int negate = inst.neg_lo | inst.blgp;
  const auto fetch_signed = [&](const Operand& operand, int rows, bool minus, double* to) {
    fetch_dense(wave, operand.index, Format::f64, layout_of(S, rows, Format::f64, false), 0, false, to);
    if (minus) std::transform(to, to + S.blocks * S.k * rows, to, [](double x) { return -x; });
  };
  fetch_signed(inst.op[1], S.m, negate & 1 || inst.op[1].neg, tiles.a);
  fetch_signed(inst.op[2], S.n, negate & 2 || inst.op[2].neg, tiles.b);
  fetch_result(wave, inst.op[3], S, tiles.d);
  if (negate & 4 || inst.op[3].neg)
    std::transform(tiles.d, tiles.d + S.blocks * S.m * S.n, tiles.d, [](double x) { return -x; });
  multiply(S, tiles, Inst{});
  write_result(wave, inst.op[0], S, tiles.d);
}

Format f8f6f4_format(int code) {
  constexpr Format formats[] = {Format::e4m3fn, Format::e5m2, Format::e2m3, Format::e3m2, Format::e2m1};
  if (code > 4) throw Fault("reserved number format in cbsz or blgp");
  return formats[code];
}

/// Block scales: for every row, one power of two per 32 k, a byte of the operand in lane row + m * block.
void fetch_scales(const Wave& wave, const Inst& inst, int operand, const Shape& shape, float* to) {
  const int byte = (inst.op_sel >> (operand - 4) & 1) | (inst.op_sel_hi >> (operand - 4) & 1) << 1;
  for (int lane = 0; lane < kLanes; ++lane) {
    const int exponent = lane_word(wave, inst.op[operand], lane) >> (8 * byte) & 255;
    to[lane] = exponent == 255 ? NAN : static_cast<float>(exponent - 127);
  }
  (void)shape;
}

/// d += 2^(scale_a + scale_b) * (a * b), the scales applied to each block's exact product sum.
void multiply_scaled(const Shape& shape, Tiles<float>& tiles, const float* scale_a, const float* scale_b) {
  alignas(64) float sum[32 * 32];
  for (int block = 0; block < shape.k / 32; ++block) {
    std::fill_n(sum, shape.m * shape.n, 0.0f);
    multiply_wide(tiles.a + block * 32 * shape.m, tiles.b + block * 32 * shape.n, sum, shape.m, shape.n, 32);
    for (int i = 0; i < shape.m; ++i)
      for (int j = 0; j < shape.n; ++j) {
        const float power = scale_a[block * shape.m + i] + scale_b[block * shape.n + j];
        tiles.d[i * shape.n + j] += std::isnan(power) ? NAN : std::ldexp(sum[i * shape.n + j], static_cast<int>(power));
      }
  }
}

template <Shape S, bool Scaled>
void f8f6f4(Wave& wave, const Inst& inst) {
  Tiles<float> tiles;
  const Format a = f8f6f4_format(inst.cbsz), b = f8f6f4_format(inst.blgp);
  fetch_dense(wave, inst.op[1].index, a, layout_of(S, S.m, a, true), 0, false, tiles.a);
  fetch_dense(wave, inst.op[2].index, b, layout_of(S, S.n, b, true), 0, false, tiles.b);
  fetch_result(wave, inst.op[3], S, tiles.d);
  if constexpr (Scaled) {
    float scale_a[kLanes], scale_b[kLanes];
    fetch_scales(wave, inst, 4, S, scale_a);
    fetch_scales(wave, inst, 5, S, scale_b);
    multiply_scaled(S, tiles, scale_a, scale_b);
  } else {
    multiply_wide(tiles.a, tiles.b, tiles.d, S.m, S.n, S.k);
  }
  write_result(wave, inst.op[0], S, tiles.d);
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
  return mfma<Shape{M, M, K, Blocks, A, B}>(name);
}

template <int M, int K, Format A, Format B = A>
constexpr OpEntry pruned(const char* name) {
  return smfmac<Shape{M, M, K, 1, A, B}>(name);
}

template <Shape S>
constexpr OpEntry mfma_f64(const char* name) {
  return {name, doubles<S>, Class::mfma, 1, 0, {Type::b32, Type::b32, Type::b32, Type::f64}};
}

constexpr Shape kSmall{16, 16, 128, 1, Format::e4m3fn, Format::e4m3fn};
constexpr Shape kLarge{32, 32, 64, 1, Format::e4m3fn, Format::e4m3fn};

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
    mfma_f64<Shape{16, 16, 4, 1, Format::f64, Format::f64}>("v_mfma_f64_16x16x4f64"),
    mfma_f64<Shape{4, 4, 4, 4, Format::f64, Format::f64}>("v_mfma_f64_4x4x4f64"),
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
    mfma_f64<Shape{16, 16, 4, 1, Format::f64, Format::f64}>("v_mfma_f64_16x16x4_f64"),
    mfma_f64<Shape{4, 4, 4, 4, Format::f64, Format::f64}>("v_mfma_f64_4x4x4_4b_f64"),
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
