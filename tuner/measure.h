// Cold timing of kernels on a device (tuner.md "Timing").
//
// A candidate is anything that can be enqueued: `enqueue(stream, pool)` enqueues one complete call that reads the
// inputs of pool `pool`. Pools are copies of the inputs (or disjoint parts of one KV pool) that together exceed twice
// the last-level cache, so that no call finds its data cached; pool_count() says how many are needed.
//
//     Timing t = measure(device, [&](hip::Stream s, int pool) { kernels.launch(plan, params[pool], s); }, options);
//
// One sample is one captured graph of enough calls to run well past launch overhead, with events around it. Sampling
// starts when the medians of successive windows agree and stops when the interval of the median is narrow enough.
// race() interleaves its candidates (A B C A B C), so that a clock that moves does not reorder them, and drops those
// whose interval lies above the best one's.
#pragma once

#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "tuner/hip/provider.h"
#include "tuner/stats.h"

namespace headtune {

using Enqueue = std::function<void(hip::Stream stream, int pool)>;

struct MeasureOptions {
  int pools = 1;            ///< enqueue() takes 0 .. pools - 1
  double sample_us = 1000;  ///< GPU time of one sample at least: 100 times the few us that submitting a graph may cost
  int max_calls = 1024;     ///< calls in one graph at most (each is a few graph nodes)
  Preheat::Options preheat;
  StopRule::Options stop;
  bool drop_losers = true;      ///< race(): a candidate that cannot win any more is not timed to the end
  double overhead_limit = 0.05;  ///< share of a sample beyond which the flag launch_overhead is set; 1: not looked at
};

struct Timing {
  double median_us = 0;  ///< one call
  Interval interval;     ///< 95 % of the median, us
  std::vector<double> samples_us;
  std::string method;         ///< "graph of 48 calls, 16 pools", "estimated"
  double overhead_share = 0;  ///< of a sample, not spent in calls
  int clock_mhz = 0;          ///< while it ran; 0: not readable
  bool throttled = false;     ///< heat or power held the clock down while it ran, where the device says so
  bool settled = true;        ///< preheating ended in agreement
  bool drift = false;         ///< samples still had a trend
  bool converged = true;      ///< the interval is as narrow as asked for
  bool outraced = false;      ///< race() dropped it; the figures stand on few samples
  double gpu_us = 0;          ///< spent on measuring
  /// Simulated devices: instructions, memory_lines, l2_lines, lds_conflict_cycles of one call on one CU.
  std::map<std::string, long long> counters = {};

  /// Whether the figures may decide anything.
  bool trusted() const { return settled && !drift; }
  /// "unsettled drift wide launch_overhead throttled", as stored.
  std::string flags(double overhead_limit = 0.05) const;
};

/// Calls that rotate through fewer pools than this would find data in a cache of `llc_bytes`.
int pool_count(long long bytes_per_call, long long llc_bytes);

/// Throws hip::DeviceError.
Timing measure(const hip::Device& device, const Enqueue& enqueue, const MeasureOptions& options);

/// Timings in the order of `candidates`.
std::vector<Timing> race(const hip::Device& device, std::span<const Enqueue> candidates, const MeasureOptions& options);

}  // namespace headtune
