// The combine in a guess: stage 2, or what the last workgroup of each head block does for it.
#pragma once

#include "tuner/guess_geometry.h"

namespace headtune {

double combine_us(const Problem& problem, const Config& config, const Arch& arch, const TimedShape& shape,
                  const GuessGeometry& geometry);

}  // namespace headtune
