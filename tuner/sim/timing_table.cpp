#include "tuner/sim/timing_table.h"

#include <algorithm>
#include <array>
#include <charconv>

namespace headtune::sim {
namespace {

// Sources: LLVM's SISchedule.td (rates and latencies in units of 4 cycles), AMD's CDNA 2/3/4 white papers and ISA
// guides (peak rates, cache sizes and widths), published pointer-chasing measurements of MI250X and MI300X (latencies,
// rounded). Entries marked ? in the header have no public source and are kept equal on all parts.

constexpr CostTable gfx90a{
    .l1_latency = 120,
    .l2_latency = 250,
    .memory_latency = 700,
    .l1_lines = 128,            // 16 KiB
    .l2_bytes_per_cycle = 37,   // 32 channels x 128 B / 110 CUs
    .l2_lines = 600,            // 8 MiB / 110 CUs
    .llc_bytes_per_cycle = 37,  // no memory-side cache: the one L2
};

constexpr CostTable gfx942{
    .l2_latency = 300,
    .memory_latency = 800,
    .l2_bytes_per_cycle = 54,  // 16 channels x 128 B / 38 CUs of a die
    .l2_lines = 860,           // 4 MiB / 38 CUs
    .mfma_f16 = 512,
    .mfma_f16_wide = 512,
    .mfma_8bit = 1024,
    .mfma_f8f6f4 = 1024,
};

constexpr CostTable gfx950{
    .l2_latency = 320,
    .memory_latency = 850,
    .l2_bytes_per_cycle = 64,  // 16 channels x 128 B / 32 CUs of a die
    .l2_lines = 1024,          // 4 MiB / 32 CUs
    .lds_bytes_per_cycle = 256,
    .memory_efficiency_percent = 75,  // reads of 5.8 to 6.1 of 8.0 TB/s are reported
    .mfma_f16 = 512,
    .mfma_f16_wide = 1024,
    .mfma_8bit = 1024,
    .mfma_f8f6f4 = 2048,
};

bool contains(std::string_view text, std::string_view part) { return text.find(part) != text.npos; }

/// M, N, K and blocks of "..._32x32x8..." or "..._4x4x4_16b_...".
struct Shape {
  std::uint32_t m = 0, n = 0, k = 0, blocks = 1;
};

std::uint32_t number_at(std::string_view text, std::size_t& at) {
  std::uint32_t value = 0;
  const auto result = std::from_chars(text.data() + at, text.data() + text.size(), value);
  at = static_cast<std::size_t>(result.ptr - text.data());
  return value;
}

Shape shape_of(std::string_view name) {
  for (std::size_t i = name.find('_'); i != name.npos; i = name.find('_', i + 1)) {
    std::size_t at = i + 1;
    Shape shape;
    shape.m = number_at(name, at);
    if (shape.m == 0 || at >= name.size() || name[at] != 'x') continue;
    shape.n = number_at(name, ++at);
    if (shape.n == 0 || at >= name.size() || name[at] != 'x') continue;
    shape.k = number_at(name, ++at);
    if (at < name.size() && name[at] == '_') {
      std::size_t block_at = at + 1;
      const std::uint32_t blocks = number_at(name, block_at);
      if (blocks != 0 && block_at < name.size() && name[block_at] == 'b') shape.blocks = blocks;
    }
    return shape;
  }
  return {};
}

/// bf16 as CDNA 1 had it ("...x8bf16", without _1k): half the rate.
bool is_early_bf16(std::string_view input) { return contains(input, "bf16") && !contains(input, "_"); }

/// Values of A that a lane holds in the first generations' shapes, whose names leave out the number of blocks.
std::uint32_t values_per_lane(std::string_view input) {
  if (contains(input, "f64") || contains(input, "f32")) return 1;
  return is_early_bf16(input) ? 2 : 4;
}

std::uint32_t implied_blocks(const Shape& shape, std::string_view input) {
  return std::max(1u, kLanes * values_per_lane(input) / (shape.m * shape.k));
}

std::uint32_t rate_of(std::string_view name, const Shape& shape, const CostTable& table) {
  if (contains(name, "f8f6f4")) return table.mfma_f8f6f4;
  const auto input = name.substr(name.rfind('x'));  // behind the shape: the type of A and B
  if (contains(input, "f64")) return table.mfma_f64;
  if (is_early_bf16(input)) return table.mfma_f16 / 2;
  if (contains(input, "f16") || contains(input, "bf16")) {
    const bool wide = shape.m * shape.n * shape.k >= 16 * 16 * 32;
    return wide ? table.mfma_f16_wide : table.mfma_f16;
  }
  if (contains(input, "fp8") || contains(input, "bf8") || contains(input, "i8")) return table.mfma_8bit;
  return table.mfma_f32;
}

constexpr std::string_view quarter_rate[] = {"v_mul_lo_u32",  "v_mul_hi_u32",  "v_mul_hi_i32",   "v_mad_u64_u32",
                                             "v_mad_i64_i32", "v_mul_lo_i32",  "v_cvt_f64_i32",  "v_cvt_f64_u32",
                                             "v_cvt_i32_f64", "v_cvt_u32_f64", "v_div_scale_f64"};

bool is_quarter_rate(std::string_view name) {
  return std::find(std::begin(quarter_rate), std::end(quarter_rate), name) != std::end(quarter_rate);
}

Cost valu_cost(const Inst& inst, const CostTable& table) {
  const std::uint32_t busy = is_quarter_rate(inst.name) ? table.integer_mul : table.issue;
  return {Unit::valu, busy, table.issue, std::max(busy, table.valu_latency), 0};
}

Cost mfma_cost(const Inst& inst, const CostTable& table) {
  const std::uint32_t cycles = std::max(table.issue, mfma_cycles(inst.name, table));
  return {Unit::mfma, cycles, table.issue, cycles + table.mfma_extra, cycles};
}

/// s_nop N waits N + 1 issue slots; s_sleep N waits 64 N cycles; the rest is one slot.
Cost other_cost(const Inst& inst, const CostTable& table) {
  const auto argument = static_cast<std::uint32_t>(inst.op[0].value & 127);
  if (inst.name == "s_nop") return {Unit::none, 0, table.issue * (argument + 1), 0, 0};
  if (inst.name == "s_sleep") return {Unit::none, 0, table.issue + 64 * argument, 0, 0};
  return {Unit::none, 0, table.issue, 0, 0};
}

}  // namespace

const CostTable& cost_table(Arch arch) {
  static constexpr const CostTable* tables[] = {&gfx90a, &gfx942, &gfx950};
  return *tables[static_cast<int>(arch)];
}

std::uint32_t mfma_cycles(std::string_view name, const CostTable& table) {
  const Shape shape = shape_of(name);
  if (shape.m == 0) return 0;
  const std::uint32_t rate = rate_of(name, shape, table);
  const std::uint32_t blocks = std::max(shape.blocks, implied_blocks(shape, name.substr(name.rfind('x'))));
  const std::uint32_t flop = 2 * shape.m * shape.n * shape.k * blocks;
  return flop / rate;
}

Cost cost_of(const Inst& inst, const CostTable& table) {
  switch (inst.klass) {
    case Class::salu:
    case Class::branch:
      return {Unit::salu, table.issue, table.issue, table.issue, 0};
    case Class::valu:
    case Class::lane:
      return valu_cost(inst, table);
    case Class::valu_f64:
      return {Unit::valu, table.valu_f64, table.issue, std::max(table.valu_f64, table.valu_latency), 0};
    case Class::trans:
      return {Unit::valu, table.trans, table.issue, table.trans_latency, 0};
    case Class::mfma:
      return mfma_cost(inst, table);
    case Class::smem:
      return {Unit::salu, table.issue, table.issue, 0, 0};
    case Class::lds:
      return {Unit::lds, 0, table.issue, 0, 0};
    case Class::vmem_load:
    case Class::vmem_store:
    case Class::vmem_atomic:
      return {Unit::vmem, 0, table.issue, 0, 0};
    case Class::barrier:
    case Class::wait:
    case Class::end:
    case Class::other:
      break;
  }
  return other_cost(inst, table);
}

}  // namespace headtune::sim
