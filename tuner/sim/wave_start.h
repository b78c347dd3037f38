// The start state of a wave: user and system SGPRs and packed work-item ids, as the kernel descriptor asks for them.
// Source: "AMDGPU usage", initial kernel execution state, in LLVM's documentation.
#pragma once

#include "tuner/sim/workgroup.h"

namespace headtune::sim {

/// Scalar registers, mode and program counter.
void set_start_scalars(Wave& wave, const PlacedLaunch& launch, const Extent& workgroup);

/// Work-item ids in v0, execution mask, and a fixed pattern in all other allocated registers: hardware leaves there
/// what the last wave left, here a run must repeat.
void set_start_lanes(Wave& wave, const Launch& launch);

}  // namespace headtune::sim
