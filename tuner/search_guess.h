// A first guess of how long a configuration takes, from launch geometry and the architecture's data sheet alone: before
// anything is compiled. Only the order matters, and only until times are there (search_model.h corrects it).
#pragma once

#include <span>

#include "headtune/arch.h"
#include "headtune/config.h"
#include "tuner/timing_inputs.h"

namespace headtune {

/// Mean natural logarithm of the guessed time over the shapes; the unit is arbitrary.
double guess(const Problem& problem, const Config& config, const Arch& arch, std::span<const TimedShape> shapes);

}  // namespace headtune
