// What of a launch bounds its time: how its work lies on the device. Known before anything is compiled.
#pragma once

#include "headtune/arch.h"
#include "headtune/config.h"
#include "tuner/timing_inputs.h"

namespace headtune {

struct GuessGeometry {
  int splits = 0;       ///< with keys
  int tiles = 0;        ///< of one split
  int rounds = 0;       ///< of workgroups on the busiest CU
  int together = 0;     ///< workgroups that are resident on it at a time
  int busy_cus = 0;     ///< with at least one workgroup
  int head_blocks = 0;  ///< of all requests
  int readers = 0;      ///< head blocks that read the same keys
  int row_blocks = 0;   ///< of 16 rows, of one workgroup
  double tile_bytes = 0;
  /// Bytes of K and V that a busy CU gets in a cycle: its share of HBM, where each line comes once for all its readers,
  /// or what L2 gives a CU.
  double bytes_per_cycle = 0;
};

GuessGeometry guess_geometry(const Problem& problem, const Config& config, const Arch& arch, const TimedShape& shape);

constexpr double cycles_per_us(const Arch& arch) { return arch.clock_ghz * 1e3; }

}  // namespace headtune
