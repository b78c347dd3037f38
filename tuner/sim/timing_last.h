// Kernels whose workgroups count themselves and whose last one does something for all (a fused combine): which of them
// the simulated CU should end with.
#pragma once

#include <cstdint>
#include <optional>

#include "tuner/sim/workgroup.h"

namespace headtune::sim {

/// The latest workgroup that updates global memory atomically and does no less than most of those that do: grids end in
/// workgroups without work (splits that a request does not use) and in short ones, whose CU would be done before the
/// others. None when no workgroup was seen to update memory so: then it does not matter which CU is looked at.
///
/// Executes workgroups from the end of the grid on, as many that count as there are CUs or `budget` instructions in
/// all, on `placed`'s memory, which must be in a trial. Throws Fault.
std::optional<std::uint64_t> last_counting_workgroup(const PlacedLaunch& placed, std::uint64_t cu_count,
                                                     std::uint64_t budget);

}  // namespace headtune::sim
