// The cycle model: how long a launch takes, estimated from one CU in steady state. Deterministic.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "tuner/sim/device.h"
#include "tuner/sim/launch.h"
#include "tuner/sim/memory.h"

namespace headtune::sim {

/// What the model found for one launch. Counts are of the simulated CU unless said otherwise.
struct Estimate {
  double microseconds = 0;          ///< of the whole launch, with the fixed cost of a launch
  std::uint64_t cycles = 0;         ///< of the whole grid
  std::uint64_t instructions = 0;   ///< wave-instructions executed
  std::uint64_t workgroups = 0;     ///< executed
  std::uint64_t cu_workgroups = 0;  ///< that fall to this CU; more than `workgroups` when the rest is extrapolated
  std::uint64_t memory_lines = 0;   ///< cache lines fetched from beyond L2
  std::uint64_t l2_lines = 0;       ///< cache lines fetched from L2
  std::uint64_t lds_conflict_cycles = 0;
  std::uint64_t mfma_cycles = 0;         ///< of all SIMDs together
  std::uint64_t valu_cycles = 0;         ///< of all SIMDs together
  std::uint64_t memory_wait_cycles = 0;  ///< waves waiting at s_waitcnt, added over waves
  std::uint32_t sharing_percent = 100;   ///< CUs that read each line, times 100
  int resident_workgroups = 0;           ///< occupancy
};

/// What tells two kernels apart beside their time, by name. Of the simulated CU, as Estimate has them.
std::map<std::string, long long> counters_of(const Estimate& estimate);

struct TimingOptions {
  /// Workgroups of the CU beyond this many executed instructions are extrapolated.
  std::uint64_t instruction_budget = 2'000'000;
  /// A kernel with global atomics may give its last workgroup the work of all (a fused combine): instructions of other
  /// workgroups that are executed beforehand, so that the sampled CU finds memory as the last one does.
  std::uint64_t others_budget = 12'000'000;
  /// Instructions spent on finding out which workgroup may be that last one (timing_last.h).
  std::uint64_t trailing_budget = 1'000'000;
};

/// Executes the sample on `memory` and undoes what it stored there. Throws Fault.
Estimate estimate(const Launch& launch, Memory& memory, const DeviceModel& device, const TimingOptions& options = {});

}  // namespace headtune::sim
