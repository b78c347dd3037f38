// The parts of lds_ops() that live in files of their own.
#pragma once

#include <span>

#include "tuner/sim/ops/operands.h"

namespace headtune::sim::HEADTUNE_SIM_ISA {

std::span<const OpEntry> lds_atomic_ops();   ///< read-modify-write of LDS
std::span<const OpEntry> lds_permute_ops();  ///< ds_swizzle, ds_permute, ds_bpermute: lanes, not memory

}  // namespace headtune::sim::HEADTUNE_SIM_ISA
