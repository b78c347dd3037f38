// DPP controls as lane permutations.
#pragma once

#include <string_view>

#include "tuner/sim/inst.h"

namespace headtune::sim {

/// Fills `from` for one control, as LLVM prints it: name "row_shl", argument "1"; name "quad_perm", argument
/// "[1,0,3,2]". Returns false when it is not a DPP control.
bool plan_lanes(std::string_view name, std::string_view argument, LanePlan& plan);

/// Lanes of the rows in row_mask and the banks (4 lanes) in bank_mask.
std::uint64_t masked_lanes(unsigned row_mask, unsigned bank_mask);

}  // namespace headtune::sim
