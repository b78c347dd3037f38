// How many workgroups that run at the same time read the same cache lines: query heads that share keys, requests that
// share a prefix. Such lines come from HBM once and from the memory-side cache for the others.
#pragma once

#include <cstdint>

#include "tuner/sim/workgroup.h"

namespace headtune::sim {

/// Workgroups per line among the first of the grid, in percent: 100 when every one reads lines of its own. Executes the
/// beginning of those workgroups on `placed`'s memory, which must be in a trial.
std::uint32_t sharing_percent(const PlacedLaunch& placed, std::uint32_t line_bytes);

}  // namespace headtune::sim
