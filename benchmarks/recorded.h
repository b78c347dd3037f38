// Recorded full sweeps (benchmarks/recorded/*.csv, written by record_sweep.py): what searches are judged on.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "headtune/arch.h"
#include "tuner/search.h"
#include "tuner/timing_inputs.h"

namespace headtune {

struct RecordedSweep {
  std::string name;  ///< of the file
  Arch arch;
  Problem problem;
  std::vector<TimedShape> shapes;
  SearchSpace space;           ///< with guesses
  std::vector<double> scores;  ///< mean log time over the shapes, as a sweep tells a search
};

/// Throws std::runtime_error naming file and line.
RecordedSweep read_recorded(const std::filesystem::path& file);

/// Best share of the optimum (1: found) after each trial of a search that is told every score.
std::vector<double> replay_search(const RecordedSweep& sweep, SearchKind kind, unsigned seed);

}  // namespace headtune
