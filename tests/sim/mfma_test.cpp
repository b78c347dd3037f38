// Matrix instructions against an element-by-element statement in double precision: where each element of A, B and D
// lies follows AMD's published tables, one formula per element, and numbers are decoded with ldexp.

#include <fmt/format.h>

#include <bit>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <cmath>
#include <map>

#include "tests/sim/machine.h"

namespace headtune::sim {
namespace {

struct Matrix {
  const char* name;
  int m, k, blocks;
  const char *a, *b;
  bool sparse = false;
};

// --- numbers --------------------------------------------------------------------------------------------------------

double small_float(std::uint32_t code, int exponent_bits, int mantissa_bits, int bias) {
  const int exponent = static_cast<int>(code >> mantissa_bits & ((1u << exponent_bits) - 1));
  const double mantissa = code & ((1u << mantissa_bits) - 1);
  const double sign = code >> (exponent_bits + mantissa_bits) & 1 ? -1 : 1;
  if (exponent == 0) return sign * std::ldexp(mantissa, 1 - bias - mantissa_bits);
  return sign * std::ldexp(mantissa + (1 << mantissa_bits), exponent - bias - mantissa_bits);
}

int bits_of(const std::string& type) {
  static const std::map<std::string, int> bits = {{"f64", 64},  {"f32", 32}, {"xf32", 32}, {"f16", 16},
                                                  {"bf16", 16}, {"fp8", 8},  {"bf8", 8},   {"i8", 8},
                                                  {"fp6", 6},   {"bf6", 6},  {"fp4", 4}};
  return bits.at(type);
}

double decode_number(std::uint64_t code, const std::string& type, Arch arch) {
  const bool fnuz = arch != Arch::gfx950;
  if (type == "f64") return std::bit_cast<double>(code);
  const auto word = static_cast<std::uint32_t>(code);
  if (type == "f32") return std::bit_cast<float>(word);
  if (type == "xf32") {  // 10 mantissa bits, nearest even
    const double x = std::bit_cast<float>(word);
    int exponent;
    const double fraction = std::frexp(x, &exponent);
    return std::ldexp(std::nearbyint(std::ldexp(fraction, 11)), exponent - 11);
  }
  if (type == "f16") {
    const double x = small_float(word, 5, 10, 15);
    return arch == Arch::gfx90a && std::fabs(x) < 0x1p-14 ? 0 : x;
  }
  if (type == "bf16") {
    const double x = small_float(word, 8, 7, 127);
    return arch == Arch::gfx90a && std::fabs(x) < 0x1p-126 ? 0 : x;
  }
  if (type == "fp8") return small_float(word, 4, 3, fnuz ? 8 : 7);
  if (type == "bf8") return small_float(word, 5, 2, fnuz ? 16 : 15);
  if (type == "fp6") return small_float(word, 2, 3, 1);
  if (type == "bf6") return small_float(word, 3, 2, 3);
  if (type == "fp4") return small_float(word, 2, 1, 1);
  return static_cast<std::int8_t>(word);
}

/// Random finite number of moderate size, as the type's bits.
std::uint64_t random_code(const std::string& type, std::mt19937_64& random) {
  const std::uint64_t r = random();
  if (type == "f64") return std::bit_cast<std::uint64_t>(std::ldexp(static_cast<double>(r >> 11), -52) - 1);
  if (type == "f32" || type == "xf32")
    return std::bit_cast<std::uint32_t>(std::ldexp(static_cast<float>(r >> 40), -22) - 2);
  if (type == "f16") return r & 0xb7ff;  // exponents up to 2^-2, with denormals
  if (type == "bf16") return (r & 0x80ff) | (r & 0x1 ? 0x3f00 : 0x3e80);
  if (type == "fp8") return (r & 0x87) | (r >> 8 & 0x38) | 1;  // never minus zero, which is NaN on gfx942
  if (type == "bf8") return (r & 0x83) | (r >> 8 & 0x3c) | 1;
  return r & ((1u << bits_of(type)) - 1);
}

// --- places ---------------------------------------------------------------------------------------------------------

struct Spot {
  int lane, bit;  ///< bit counts from the operand's first register on
};

/// A[i][k] (or B[k][i]) of a block.
Spot operand_spot(const Matrix& matrix, int i, int k, int block, const std::string& type, bool f8f6f4) {
  const int lanes_per_block = 64 / matrix.blocks, groups = lanes_per_block / matrix.m;
  if (f8f6f4 && bits_of(type) == 8) {  // 16 consecutive k per lane, twice
    const int group = k / 16 % groups, element = k % 16 + 16 * (k / (16 * groups));
    return {i + matrix.m * group, 8 * element};
  }
  const int per_lane = matrix.k / groups;
  const int group = k / per_lane;
  // f64 4x4 with 4 blocks: the blocks are interleaved below k.
  const int lane = i + matrix.m * block + matrix.m * matrix.blocks * group;
  return {lane, k % per_lane * bits_of(type)};
}

/// D[i][j] of a block.
Spot result_spot(const Matrix& matrix, int i, int j, int block) {
  if (std::string(matrix.a) == "f64") {
    if (matrix.m == 4) return {16 * (i % 4) + 4 * block + j, 0};
    return {16 * (i % 4) + j, 64 * (i / 4)};
  }
  if (matrix.m == 32) return {32 * (i / 4) % 64 + j, 32 * (16 * block + 4 * (i / 8) + i % 4)};
  if (matrix.m == 16) return {16 * (i / 4) + j, 32 * (4 * block + i % 4)};
  return {4 * block + j, 32 * i};
}

std::uint64_t get(Machine& machine, int reg, Spot spot, int bits) {
  std::uint64_t value = 0;
  for (int bit = 0; bit < bits; ++bit) {
    const int at = spot.bit + bit;
    value |= std::uint64_t{machine.wave->v[reg + at / 32][spot.lane] >> (at % 32) & 1} << bit;
  }
  return value;
}

void put(Machine& machine, int reg, Spot spot, int bits, std::uint64_t value) {
  for (int bit = 0; bit < bits; ++bit) {
    const int at = spot.bit + bit;
    std::uint32_t& word = machine.wave->v[reg + at / 32][spot.lane];
    word = (word & ~(1u << (at % 32))) | static_cast<std::uint32_t>(value >> bit & 1) << (at % 32);
  }
}

// --- one instruction ------------------------------------------------------------------------------------------------

constexpr int kA = 0, kB = 64, kC = 128, kD = 192, kIndex = 60, kScaleA = 61, kScaleB = 62;

struct Modifiers {
  int cbsz = 0, abid = 0, blgp = 0, negate = 0;
};

int registers(int elements, const std::string& type) { return (elements * bits_of(type) + 31) / 32; }

std::string range(char file, int first, int count) {
  if (count == 1) return fmt::format("{}{}", file, first);
  return fmt::format("{}[{}:{}]", file, first, first + count - 1);
}

void fill_operand(Machine& machine, int reg, const Matrix& matrix, const std::string& type, bool stored_half,
                  bool f8f6f4) {
  Matrix layout = matrix;
  if (stored_half) layout.k /= 2;
  for (int block = 0; block < matrix.blocks; ++block)
    for (int i = 0; i < matrix.m; ++i)
      for (int k = 0; k < layout.k; ++k)
        put(machine, reg, operand_spot(layout, i, k, block, type, f8f6f4), bits_of(type),
            random_code(type, machine.random));
}

double result(Machine& machine, int reg, const Matrix& matrix, int i, int j, int block) {
  const std::string type = matrix.a;
  const Spot spot = result_spot(matrix, i, j, block);
  if (type == "i8") return static_cast<std::int32_t>(get(machine, reg, spot, 32));
  return type == "f64" ? std::bit_cast<double>(get(machine, reg, spot, 64))
                       : std::bit_cast<float>(static_cast<std::uint32_t>(get(machine, reg, spot, 32)));
}

void fill_result(Machine& machine, int reg, const Matrix& matrix) {
  const std::string type = matrix.a == std::string("i8") ? "i8" : matrix.a == std::string("f64") ? "f64" : "f32";
  for (int block = 0; block < matrix.blocks; ++block)
    for (int i = 0; i < matrix.m; ++i)
      for (int j = 0; j < matrix.m; ++j)
        put(machine, reg, result_spot(matrix, i, j, block), type == "f64" ? 64 : 32,
            type == "i8" ? static_cast<std::uint64_t>(machine.random() & 0xffff) : random_code(type, machine.random));
}

/// A[i][k] of a sparse operand: of four consecutive k, two are stored; each stored one has two bits of position.
double sparse_element(Machine& machine, const Matrix& matrix, int i, int k, int first_bit) {
  Matrix stored = matrix;
  stored.k /= 2;
  const int groups = 64 / matrix.m, per_lane = matrix.k / groups;
  const int lane = i + matrix.m * (k / per_lane), quad = k % per_lane / 4;
  double sum = 0;
  for (int pick = 0; pick < 2; ++pick) {
    const int position = machine.v(kIndex)[lane] >> (first_bit + 4 * quad + 2 * pick) & 3;
    const int stored_k = k / per_lane * (per_lane / 2) + 2 * quad + pick;
    if (position == k % 4)
      sum += decode_number(get(machine, kA, operand_spot(stored, i, stored_k, 0, matrix.a, false), bits_of(matrix.a)),
                           matrix.a, machine.arch);
  }
  return sum;
}

int blgp_source(int lane, int blgp) {
  static constexpr int quarter[8][4] = {{0, 1, 2, 3}, {0, 1, 0, 1}, {2, 3, 2, 3}, {1, 2, 3, 0},
                                        {0, 0, 0, 0}, {1, 1, 1, 1}, {2, 2, 2, 2}, {3, 3, 3, 3}};
  return 16 * quarter[blgp][lane / 16] + lane % 16;
}

struct Problem {
  const Matrix& matrix;
  Modifiers modifiers;
  bool f8f6f4 = false, scaled = false;
  int scale_byte_a = 0, scale_byte_b = 0;
};

double a_element(Machine& machine, const Problem& problem, int i, int k, int block) {
  const Matrix& matrix = problem.matrix;
  const Modifiers& m = problem.modifiers;
  if (matrix.sparse) {
    const int per_register_set = matrix.k / (64 / matrix.m);  // bits: two per stored element
    return sparse_element(machine, matrix, i, k, m.cbsz ? 0 : m.abid * per_register_set % 32);
  }
  const int size = 1 << (problem.f8f6f4 ? 0 : m.cbsz);
  const int source = size > 1 ? block / size * size + m.abid : block;
  const Spot spot = operand_spot(matrix, i, k, source, matrix.a, problem.f8f6f4);
  const double x = decode_number(get(machine, kA, spot, bits_of(matrix.a)), matrix.a, machine.arch);
  return m.negate & 1 ? -x : x;
}

double b_element(Machine& machine, const Problem& problem, int k, int j, int block) {
  const Matrix& matrix = problem.matrix;
  Spot spot = operand_spot(matrix, j, k, block, matrix.b, problem.f8f6f4);
  if (!problem.f8f6f4) spot.lane = blgp_source(spot.lane, problem.modifiers.blgp);
  const double x = decode_number(get(machine, kB, spot, bits_of(matrix.b)), matrix.b, machine.arch);
  return problem.modifiers.negate & 2 ? -x : x;
}

double scale(Machine& machine, const Problem& problem, int i, int j, int k) {
  if (!problem.scaled) return 1;
  const int lane = problem.matrix.m * (k / 32);
  const int a = machine.v(kScaleA)[lane + i] >> (8 * problem.scale_byte_a) & 255;
  const int b = machine.v(kScaleB)[lane + j] >> (8 * problem.scale_byte_b) & 255;
  return std::ldexp(1.0, a + b - 254);
}

/// Runs `text` and compares every element of D (read from register `d`) with the statement.
void check(Machine& machine, const Problem& problem, const std::string& text, int c, int d) {
  const Matrix& matrix = problem.matrix;
  std::vector<double> expected, magnitude;
  for (int block = 0; block < matrix.blocks; ++block)
    for (int i = 0; i < matrix.m; ++i)
      for (int j = 0; j < matrix.m; ++j) {
        double sum = c < 0 ? 0 : result(machine, c, matrix, i, j, block);
        if (problem.modifiers.negate & 4) sum = -sum;
        double size = std::fabs(sum);
        for (int k = 0; k < matrix.k; ++k) {
          const double product = a_element(machine, problem, i, k, block) * b_element(machine, problem, k, j, block) *
                                 scale(machine, problem, i, j, k);
          sum += product;
          size += std::fabs(product);
        }
        expected.push_back(sum);
        magnitude.push_back(size);
      }
  INFO(name_of(machine.arch) << " " << text);
  machine.execute(text);
  const bool exact = matrix.a == std::string("i8");
  const double unit = exact ? 0 : matrix.a == std::string("f64") ? 0x1p-52 : 0x1p-23;
  std::size_t n = 0;
  for (int block = 0; block < matrix.blocks; ++block)
    for (int i = 0; i < matrix.m; ++i)
      for (int j = 0; j < matrix.m; ++j, ++n) {
        INFO("block " << block << " row " << i << " column " << j);
        REQUIRE(std::fabs(result(machine, d, matrix, i, j, block) - expected[n]) <=
                unit * (matrix.k + 2) * magnitude[n] + 0x1p-149);
      }
}

int result_registers(const Matrix& matrix) {
  return matrix.blocks * matrix.m * matrix.m / 64 * (matrix.a == std::string("f64") ? 2 : 1);
}

std::string operands(const Matrix& matrix, const std::string& d, const std::string& c) {
  const int per_lane = matrix.m * matrix.k * matrix.blocks / 64;
  return fmt::format("{}, {}, {}, {}", d, range('v', kA, registers(matrix.sparse ? per_lane / 2 : per_lane, matrix.a)),
                     range('v', kB, registers(per_lane, matrix.b)), c);
}

void prepare(Machine& machine, const Matrix& matrix, bool f8f6f4 = false) {
  fill_operand(machine, kA, matrix, matrix.a, matrix.sparse, f8f6f4);
  fill_operand(machine, kB, matrix, matrix.b, false, f8f6f4);
  fill_result(machine, kC, matrix);
  fill_result(machine, kD, matrix);
  if (matrix.sparse) {  // two different positions of every four, ascending
    static constexpr std::uint32_t pairs[] = {0x4, 0x8, 0xc, 0x9, 0xd, 0xe};
    for (int lane = 0; lane < kLanes; ++lane) {
      std::uint32_t word = 0;
      for (int quad = 0; quad < 8; ++quad) word |= pairs[machine.random() % 6] << (4 * quad);
      machine.v(kIndex)[lane] = word;
    }
  }
}

#include "tests/sim/mfma_cases.inc"

}  // namespace

TEST_CASE("dense matrix instructions", "[sim]") {
  for (const auto& [arch, matrix] : dense_cases()) {
    Machine machine(arch);
    machine.wave->set_exec(0x5);  // ignored
    prepare(machine, matrix);
    const int count = result_registers(matrix);
    check(machine, {matrix, {}},
          std::string(matrix.name) + " " + operands(matrix, range('v', kD, count), range('v', kC, count)), kC, kD);
    prepare(machine, matrix);
    check(machine, {matrix, {}}, std::string(matrix.name) + " " + operands(matrix, range('a', 0, count), "0"), -1,
          kFirstAccumulation);
  }
}

TEST_CASE("matrix instructions that accumulate in place and read accumulation registers", "[sim]") {
  const Matrix matrix{"v_mfma_f32_16x16x32_bf16", 16, 32, 1, "bf16", "bf16"};
  Machine machine;
  prepare(machine, matrix);
  check(machine, {matrix, {}}, "v_mfma_f32_16x16x32_bf16 v[128:131], v[0:3], v[64:67], v[128:131]", kC, kC);
  prepare(machine, matrix);
  for (int part = 0; part < 4; ++part) {
    std::copy_n(machine.v(kA + part), kLanes, machine.a(8 + part));
    std::copy_n(machine.v(kB + part), kLanes, machine.a(16 + part));
    std::copy_n(machine.v(kC + part), kLanes, machine.a(24 + part));
  }
  check(machine, {matrix, {}}, "v_mfma_f32_16x16x32_bf16 a[0:3], a[8:11], a[16:19], a[24:27]", kC, kFirstAccumulation);
}

TEST_CASE("matrix instructions broadcast A by cbsz and abid and permute B by blgp", "[sim]") {
  for (const auto& [arch, matrix] : dense_cases()) {
    if (matrix.blocks == 1 || matrix.a == std::string("f64")) continue;
    Machine machine(arch);
    const int count = result_registers(matrix);
    for (int blgp = 0; blgp < 8; ++blgp) {
      const int cbsz = static_cast<int>(machine.random() % (std::bit_width(static_cast<unsigned>(matrix.blocks))));
      const int abid = static_cast<int>(machine.random() % (1u << cbsz));
      prepare(machine, matrix);
      check(machine, {matrix, {cbsz, abid, blgp, 0}},
            fmt::format("{} {} cbsz:{} abid:{} blgp:{}", matrix.name,
                        operands(matrix, range('v', kD, count), range('v', kC, count)), cbsz, abid, blgp),
            kC, kD);
    }
  }
}

TEST_CASE("f64 matrix instructions negate their sources", "[sim]") {
  for (const auto& [arch, matrix] : dense_cases()) {
    if (matrix.a != std::string("f64") || arch == Arch::gfx90a) continue;
    Machine machine(arch);
    for (int negate = 1; negate < 8; ++negate) {
      prepare(machine, matrix);
      const int count = result_registers(matrix);
      check(machine, {matrix, {0, 0, 0, negate}},
            fmt::format("{} {} neg:[{},{},{}]", matrix.name,
                        operands(matrix, range('v', kD, count), range('v', kC, count)), negate & 1, negate >> 1 & 1,
                        negate >> 2 & 1),
            kC, kD);
    }
  }
}

TEST_CASE("sparse matrix instructions", "[sim]") {
  for (const auto& [arch, matrix] : sparse_cases()) {
    Machine machine(arch);
    const int count = result_registers(matrix);
    const int sets = 32 / (matrix.k / (64 / matrix.m));
    for (int abid = 0; abid < sets; ++abid) {
      prepare(machine, matrix);
      const std::string d = range('v', kD, count);
      check(machine, {matrix, {0, abid, 0, 0}},
            fmt::format("{} {} abid:{}", matrix.name, operands(matrix, d, fmt::format("v{}", kIndex)), abid), kD, kD);
    }
    prepare(machine, matrix);
    check(machine, {matrix, {1, sets - 1, 0, 0}},
          fmt::format("{} {} cbsz:1 abid:{}", matrix.name,
                      operands(matrix, range('v', kD, count), fmt::format("v{}", kIndex)), sets - 1),
          kD, kD);
  }
}

TEST_CASE("f8f6f4 matrix instructions with every pair of formats", "[sim]") {
  static constexpr const char* types[] = {"fp8", "bf8", "fp6", "bf6", "fp4"};
  const auto scaled = GENERATE(false, true);
  for (const int m : {16, 32})
    for (int a = 0; a < 5; ++a)
      for (int b = 0; b < 5; ++b) {
        const Matrix matrix{scaled
                                ? (m == 16 ? "v_mfma_scale_f32_16x16x128_f8f6f4" : "v_mfma_scale_f32_32x32x64_f8f6f4")
                                : (m == 16 ? "v_mfma_f32_16x16x128_f8f6f4" : "v_mfma_f32_32x32x64_f8f6f4"),
                            m,
                            m == 16 ? 128 : 64,
                            1,
                            types[a],
                            types[b]};
        Machine machine;
        prepare(machine, matrix, true);
        Problem problem{matrix, {a, 0, b, 0}, true, scaled, 0, 0};
        std::string extra;
        if (scaled) {
          problem.scale_byte_a = a % 4;
          problem.scale_byte_b = b % 4;
          for (int lane = 0; lane < kLanes; ++lane)  // bytes near 127
            for (const int reg : {kScaleA, kScaleB})
              machine.v(reg)[lane] = 0x7c7c7c7c + (static_cast<std::uint32_t>(machine.random()) & 0x07070707);
          extra = fmt::format(", v{}, v{} op_sel:[{},{},0] op_sel_hi:[{},{},0]", kScaleA, kScaleB, a & 1, b & 1,
                              a >> 1 & 1, b >> 1 & 1);
        }
        const int count = m * m / 64;
        check(machine, problem,
              fmt::format("{} {}{} cbsz:{} blgp:{}", matrix.name,
                          operands(matrix, range('v', kD, count), range('v', kC, count)), extra, a, b),
              kC, kD);
      }
}

TEST_CASE("matrix instructions pass on infinities and NaN", "[sim]") {
  Machine machine;
  const Matrix matrix{"v_mfma_f32_16x16x32_f16", 16, 32, 1, "f16", "f16"};
  prepare(machine, matrix);
  put(machine, kA, operand_spot(matrix, 3, 7, 0, "f16", false), 16, 0x7c00);
  put(machine, kA, operand_spot(matrix, 5, 9, 0, "f16", false), 16, 0x7e00);
  put(machine, kB, operand_spot(matrix, 2, 7, 0, "f16", false), 16, 0x3c00);
  machine.execute("v_mfma_f32_16x16x32_f16 v[192:195], v[0:3], v[64:67], v[128:131]");
  REQUIRE(std::isinf(result(machine, kD, matrix, 3, 2, 0)));
  REQUIRE(std::isnan(result(machine, kD, matrix, 5, 2, 0)));
  REQUIRE(std::isfinite(result(machine, kD, matrix, 4, 2, 0)));
}

TEST_CASE("fp8 encodings that are not numbers", "[sim]") {
  for (const Arch arch : {Arch::gfx942, Arch::gfx950}) {
    Machine machine(arch);
    const Matrix matrix{"v_mfma_f32_16x16x32_fp8_bf8", 16, 32, 1, "fp8", "bf8"};
    prepare(machine, matrix);
    put(machine, kA, operand_spot(matrix, 1, 0, 0, "fp8", false), 8, arch == Arch::gfx942 ? 0x80 : 0x7f);
    put(machine, kA, operand_spot(matrix, 2, 0, 0, "fp8", false), 8, arch == Arch::gfx942 ? 0x7f : 0x80);
    machine.execute("v_mfma_f32_16x16x32_fp8_bf8 v[192:195], v[0:1], v[64:65], 0");
    REQUIRE(std::isnan(result(machine, kD, matrix, 1, 4, 0)));
    REQUIRE(std::isfinite(result(machine, kD, matrix, 2, 4, 0)));
  }
}

}  // namespace headtune::sim
