// The shipped kernels beside the generic one and beside plain memory traffic, all in one run: what `headtune bench`
// prints. Nothing is tuned: configurations come from the table, as an engine would take them.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "headtune/config.h"
#include "headtune/table.h"
#include "tuner/session.h"

namespace headtune {

/// GB/s of the device, over 2 GiB of scattered rows; of its data sheet where times are estimated.
struct MemoryRates {
  double read = 0;
  double copy = 0;  ///< bytes read plus bytes written
};

/// One cell: microseconds of one call, cold, candidates interleaved.
struct BenchCell {
  TimedShape shape;
  Match match;       ///< the table's row for this context
  Timing verify;     ///< verify_shared_kv, both stages
  Timing extend;     ///< extend_attention; no samples where it does not compute the problem
  Timing read;       ///< the same rows of K and V read and nothing else
  double bytes = 0;  ///< that any implementation must move

  double floor_us(double gb_per_s) const { return bytes / gb_per_s / 1e3; }
  double share(double gb_per_s) const { return floor_us(gb_per_s) / verify.median_us; }
};

/// The problems of kernels.md that the project's goals are stated for: head_dim 64, 128, 256 and MLA 576/512.
std::vector<Problem> benchmark_problems();

/// Throws UnavailableError when a kernel does not compile, run or verify.
MemoryRates memory_rates(Session& session);

/// The table's choice for a problem on a device.
using Lookup = std::function<Match(const Problem& problem, const DeviceKey& device, int context)>;

/// Verifies, then times every shape; calls `done` after each cell. Throws as memory_rates does, and Interrupted.
void bench(Session& session, const Problem& problem, const std::vector<TimedShape>& shapes, const Lookup& lookup,
           const std::function<void(const BenchCell&)>& done);

}  // namespace headtune
