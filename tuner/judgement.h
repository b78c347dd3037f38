// The gate's verdict on one cell: stored time against present times. Pure: no device, no clock, no file, so that the
// rule of docs/check.md is tested with synthetic times.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

namespace headtune {

enum class Verdict { pass, regress, no_verdict };

/// "pass", "regress", "no-verdict".
const char* name(Verdict verdict);

/// A kernel prepared, preheated and timed once. Passes of one cell are the A/A comparison: the same kernel, other runs.
struct PassTime {
  double median_us = 0;
  double low_us = 0;  ///< 95 % interval of the median
  double high_us = 0;
  int samples = 0;
  std::string doubt;  ///< why it may decide nothing ("unsettled", "drift"); empty when trusted
  std::map<std::string, long long> counters = {};  ///< simulated devices: instructions, cache lines, bank conflicts

  /// Half the width of the interval, us.
  double half_width() const { return (high_us - low_us) / 2; }
};

struct GateRule {
  /// A change below this is no regress however large its share. Times of few us move by this much between builds
  /// without any change to the kernel: placement of pools, clock steps.
  double floor_us = 0.7;
  double relative = 0.03;       ///< least relative change that can be a regress: identical code has been seen to differ
  double noise_factor = 2;      ///< a change must exceed the noise by this factor
  double max_threshold = 0.15;  ///< noise that would hide this much allows no pass
  int min_samples = 6;          ///< fewer have no 95 % interval
  int min_passes = 3;           ///< trusted ones; two cannot tell an outlier from noise
};

struct Judgement {
  Verdict verdict = Verdict::no_verdict;
  double baseline_us = 0;   ///< 0: there is none
  double present_us = 0;    ///< median of the passes' medians; 0: not timed
  double threshold_us = 0;  ///< present - baseline beyond this is a regress
  double noise_us = 0;      ///< A/A noise and both intervals together
  std::string reason;       ///< one line

  /// 0 when either time is missing.
  double ratio() const { return baseline_us > 0 ? present_us / baseline_us : 0; }
};

/// Measured times:
///   present    median of the medians of the trusted passes
///   noise      root of the sum of squares of: largest difference between two passes, median half-width of a pass,
///              half-width of the stored interval
///   threshold  the largest of floor_us, relative * baseline, noise_factor * noise
/// regress when present - baseline > threshold.
Judgement judge(const PassTime& baseline, std::span<const PassTime> passes, const GateRule& rule = {});

/// A figure of the stored code and of the present one: registers, LDS, spills, instructions.
struct CodeFigure {
  std::string what;  ///< "stage1 vgpr"
  long long stored = 0, present = 0;
  bool must_not_grow = false;  ///< spills and scratch: more of them is a regress even at equal time
};

/// Estimated times repeat exactly, so any slower estimate is a regress. Every figure that differs is named.
Judgement judge_estimated(double baseline_us, double present_us, std::span<const CodeFigure> figures);

/// "stage1 vgpr 96 -> 104, stage1 vgpr_spills 0 -> 8"; empty when nothing differs.
std::string differences(std::span<const CodeFigure> figures);

/// Of all cells that were asked for: regress when any regressed, else no-verdict when any has none or there is no cell.
Verdict overall(std::span<const Verdict> verdicts);

}  // namespace headtune
