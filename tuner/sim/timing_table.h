// Every number of the cycle model, by name and with its source. One table per architecture in timing_table.cpp.
#pragma once

#include <cstdint>
#include <string_view>

#include "tuner/sim/inst.h"
#include "tuner/sim/state.h"

namespace headtune::sim {

/// Part of the environment's fingerprint: estimates of different versions are not compared. Raise it with every change
/// of a number or a rule that moves an estimate.
inline constexpr int cycle_model_version = 2;

/// Cycles of the CU clock unless the name says otherwise.
struct CostTable {
  // Issue: how long an instruction keeps its unit busy.
  std::uint32_t issue = 4;     ///< a wave issues at most one instruction each 4 cycles; VALU f32 on 64 lanes takes 4
  std::uint32_t valu_f64 = 4;  ///< full rate on these parts (vector f64 TFLOP/s equals vector f32's)
  std::uint32_t trans = 16;    ///< exp, log, rcp, rsq, sqrt, sin, cos: quarter rate
  std::uint32_t integer_mul = 16;   ///< 32 x 32 bit multiplies: quarter rate
  std::uint32_t branch_taken = 32;  ///< refill of the instruction buffer; LLVM's model: 8 units of 4
  std::uint32_t barrier = 16;       ///< from the last arrival to the first issue behind it; ?
  // Results: from issue until a dependent instruction of the wave may issue.
  std::uint32_t valu_latency = 4;  ///< the next 4-cycle slot
  std::uint32_t trans_latency = 16;
  std::uint32_t mfma_extra = 12;     ///< XDL result to a VALU or another operand: passes + 3 wait states of 4
  std::uint32_t lds_latency = 64;    ///< without conflicts; LLVM: 5 units of 4 at least, "between 2 and 64"
  std::uint32_t smem_latency = 120;  ///< scalar cache hit; ?
  std::uint32_t l1_latency = 120;    ///< vector cache hit
  std::uint32_t l2_latency = 300;
  std::uint32_t memory_latency = 800;
  // Throughput.
  std::uint32_t line_bytes = 128;
  std::uint32_t l1_lines = 256;                  ///< lines of the vector cache
  std::uint32_t l1_bytes_per_cycle = 64;         ///< of one CU
  std::uint32_t l2_bytes_per_cycle = 64;         ///< of one CU when all are busy
  std::uint32_t l2_lines = 1024;                 ///< a CU's share of its die's L2
  std::uint32_t llc_bytes_per_cycle = 26;        ///< of one CU, from the memory-side cache: 17 TB/s over all CUs
  std::uint32_t lds_bytes_per_cycle = 128;       ///< read; also 4 x banks
  std::uint32_t memory_efficiency_percent = 80;  ///< of the nominal HBM bandwidth that a read stream reaches
  // Per SIMD, in FLOP per cycle: dense matrix rates. Peak TFLOP/s / (CUs x 4 x clock).
  std::uint32_t mfma_f16 = 256;       ///< f16 and bf16, the shapes of the first generations
  std::uint32_t mfma_f16_wide = 256;  ///< shapes with 8 values of k per lane (gfx950)
  std::uint32_t mfma_8bit = 256;
  std::uint32_t mfma_f8f6f4 = 256;
  std::uint32_t mfma_f32 = 64;
  std::uint32_t mfma_f64 = 64;
  // Around the kernel.
  std::uint32_t dispatch = 20;     ///< between workgroups that one CU receives; ?
  std::uint32_t wave_start = 100;  ///< from dispatch to the first instruction; ?
  double launch_us = 2.0;          ///< a kernel's fixed cost within a graph; ?
};

const CostTable& cost_table(Arch arch);

/// The unit that an instruction occupies. Those of a SIMD and those of a CU.
enum class Unit : std::uint8_t { none, salu, valu, mfma, lds, vmem, count };

/// What the model needs to know of one instruction, worked out once per program.
struct Cost {
  Unit unit = Unit::none;
  std::uint32_t busy = 4;     ///< cycles the unit is taken; LDS and vector memory add what the addresses cause
  std::uint32_t next = 4;     ///< cycles until the wave may issue again
  std::uint32_t latency = 4;  ///< until registers written may be read; 0 when a counter guards them
  std::uint32_t accumulate_latency = 0;  ///< MFMA: until the same registers may be accumulated into again
};

Cost cost_of(const Inst& inst, const CostTable& table);

/// Cycles that the matrix unit is busy: 2 * M * N * K * blocks over the rate for the type. 0 for a name it cannot read.
std::uint32_t mfma_cycles(std::string_view name, const CostTable& table);

}  // namespace headtune::sim
