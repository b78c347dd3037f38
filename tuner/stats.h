// Estimators and stop rules for timing samples. No device, no clock: everything is tested with synthetic samples.
// Order statistics throughout, because timing noise is skewed and has outliers.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace headtune {

/// NaN for no samples.
double median(std::span<const double> samples);

struct Interval {
  double low = 0, high = 0;
  double width() const { return high - low; }
};

/// Confidence interval of the median from order statistics (binomial, exact; no assumption on the distribution).
/// Below 6 samples no interval reaches 95 %; then the whole range is returned.
Interval median_interval(std::span<const double> samples, double confidence = 0.95);

/// Median absolute deviation, scaled to equal the standard deviation of normal samples.
double robust_deviation(std::span<const double> samples);

/// Samples more than `limit` robust deviations above the median: interrupted or throttled runs.
std::size_t count_outliers(std::span<const double> samples, double limit = 5);

/// Whether the samples drift (a clock that ramps or throttles): Mann-Kendall trend beyond 3 sigma, and first and last
/// third apart by more than `relative`.
bool has_drift(std::span<const double> samples, double relative = 0.01);

/// Whether two sets of samples of different candidates cannot be told apart: medians within `noise` (relative) of each
/// other, or a rank-sum test below 2.58 sigma (99 %).
bool is_tie(std::span<const double> a, std::span<const double> b, double noise);

/// Relative difference of the medians of even and odd samples: what comparing a kernel with itself shows.
double self_noise(std::span<const double> samples);

/// Preheating is over when the medians of successive windows agree.
class Preheat {
 public:
  struct Options {
    std::size_t window = 3;   ///< samples per median
    double agreement = 0.01;  ///< relative
    std::size_t windows = 2;  ///< successive agreements wanted, so that one coincidence during a ramp does not count
    std::size_t limit = 300;  ///< samples after which it gives up: the device never settles
  };
  Preheat() = default;
  explicit Preheat(Options options) : options_(options) {}

  void add(double sample);
  bool settled() const { return agreements_ >= options_.windows; }
  bool gave_up() const { return !settled() && samples_ >= options_.limit; }
  bool done() const { return settled() || gave_up(); }

 private:
  Options options_;
  std::vector<double> window_;
  double previous_ = 0;
  std::size_t agreements_ = 0, samples_ = 0;
};

/// Sampling stops when the interval of the median is narrow, or when the budget of samples or GPU time ends.
/// GPU time, not wall time: host load must not shorten a measurement.
class StopRule {
 public:
  struct Options {
    double relative_width = 0.01;  ///< of the interval
    std::size_t min_samples = 7;   ///< fewer than 6 have no 95 % interval
    std::size_t max_samples = 100;
    double budget_us = 400'000;  ///< GPU time
  };
  StopRule() = default;
  explicit StopRule(Options options) : options_(options) {}

  /// `gpu_us`: what taking the sample cost.
  void add(double sample, double gpu_us);
  bool converged() const;
  bool exhausted() const { return samples_.size() >= options_.max_samples || spent_us_ >= options_.budget_us; }
  bool done() const { return converged() || exhausted(); }

  const std::vector<double>& samples() const { return samples_; }
  double spent_us() const { return spent_us_; }

 private:
  Options options_;
  std::vector<double> samples_;
  double spent_us_ = 0;
};

}  // namespace headtune
