// The simulated devices behind HIP's entry points.
//
// Launches execute when they are enqueued, so a fault is the result of the launch itself; time is simulated: events
// carry the cycle model's estimate of the work between them.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "tuner/hip/api.h"
#include "tuner/sim/timing.h"
#include "tuner/toolchain.h"

namespace headtune::sim {

/// Disassembles a whole code object for "gfx942": Toolchain::disassemble, or a table in tests.
using Disassembler = std::function<std::vector<Instruction>(std::span<const std::byte> code, const std::string& arch)>;

struct Options {
  Disassembler disassemble = {};
  int threads = 0;                  ///< host threads of a launch; 0: one per core
  bool check_races = false;         ///< LDS accesses of several waves without a barrier in between
  bool check_uninitialised = true;  ///< reads of never-written global memory
};

/// Applies to what comes after. Devices: 0 gfx90a, 1 gfx942, 2 gfx950.
void configure(Options options);

/// Changes only what the checker looks for.
void set_checks(bool races, bool uninitialised);

const hip::Api& api();

/// Ordinal of "gfx950"; -1 when there is no such simulated device.
int ordinal_of(const std::string& arch);

/// One line on the last failure of this thread: kernel, pc, instruction, lane, address. Empty when nothing failed.
const std::string& last_fault_text();

/// While on, launches of the process take simulated time but compute nothing: only the sample that the cycle model
/// needs is executed, on a private copy of memory. For timing after results have been verified.
void set_timing_only(bool on);

/// The cycle model's figures of the launch that was timed last on the current device.
const Estimate& last_estimate();

/// Counters (counters_of) of everything timed on the current device since it was last asked for.
std::map<std::string, long long> take_counters();

}  // namespace headtune::sim
