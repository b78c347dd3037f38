// Executes a wave.
#pragma once

#include <cstdint>

#include "tuner/sim/program.h"
#include "tuner/sim/state.h"

namespace headtune::sim {

/// Runs until the wave ends, reaches a barrier or has executed `budget` instructions. Throws Fault with pc and text.
Stop run(Wave& wave, std::uint64_t budget);

/// Executes one instruction and returns it; Wave::access tells what memory it touched.
const Inst& step(Wave& wave);

}  // namespace headtune::sim
