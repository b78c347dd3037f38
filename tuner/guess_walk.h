// Stage 1 in a guess: cycles of a CU for the walk over one tile, and for all of stage 1.
#pragma once

#include "tuner/guess_geometry.h"

namespace headtune {

double walk_cycles(const Problem& problem, const Config& config, const Arch& arch, const GuessGeometry& geometry);

}  // namespace headtune
