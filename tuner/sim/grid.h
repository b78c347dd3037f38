// Functional execution of a whole launch.
#pragma once

#include "tuner/sim/workgroup.h"

namespace headtune::sim {

struct GridOptions : WorkgroupOptions {
  /// Host threads; more than one only for kernels without global atomics, whose workgroups cannot see each other.
  int threads = 1;
};

/// Runs every workgroup. Throws Fault for the first one (lowest index) that failed, with the workgroup in its text.
void run_grid(const Launch& launch, Memory& memory, const GridOptions& options);

/// Whether any instruction of the kernel's code object updates global memory atomically.
bool has_global_atomics(const Program& program);

}  // namespace headtune::sim
