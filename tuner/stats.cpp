#include "tuner/stats.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace headtune {
namespace {

std::vector<double> sorted(std::span<const double> samples) {
  std::vector<double> result(samples.begin(), samples.end());
  std::sort(result.begin(), result.end());
  return result;
}

/// P(X <= k) for X ~ Binomial(n, 1/2), through logarithms so that large n does not underflow.
double binomial_half_cdf(std::size_t n, std::size_t k) {
  double sum = 0;
  for (std::size_t i = 0; i <= k; ++i)
    sum += std::exp(std::lgamma(n + 1.0) - std::lgamma(i + 1.0) - std::lgamma(n - i + 1.0) - n * std::log(2.0));
  return sum;
}

bool agree(double a, double b, double relative) { return std::abs(a - b) <= relative * std::max(a, b); }

/// Rank-sum (Mann-Whitney) z value of `a` against `b`; ties count half.
double rank_sum_z(std::span<const double> a, std::span<const double> b) {
  double wins = 0;
  for (double x : a)
    for (double y : b) wins += x < y ? 1 : x == y ? 0.5 : 0;
  const double n = double(a.size()), m = double(b.size());
  return (wins - n * m / 2) / std::sqrt(n * m * (n + m + 1) / 12);
}

/// Mann-Kendall trend statistic as a z value.
double trend_z(std::span<const double> samples) {
  double sum = 0;
  for (std::size_t i = 0; i < samples.size(); ++i)
    for (std::size_t j = i + 1; j < samples.size(); ++j)
      sum += samples[j] > samples[i] ? 1 : samples[j] < samples[i] ? -1 : 0;
  const double n = double(samples.size());
  return sum / std::sqrt(n * (n - 1) * (2 * n + 5) / 18);
}

}  // namespace

double median(std::span<const double> samples) {
  if (samples.empty()) return std::numeric_limits<double>::quiet_NaN();
  const auto ordered = sorted(samples);
  const std::size_t middle = ordered.size() / 2;
  return ordered.size() % 2 ? ordered[middle] : (ordered[middle - 1] + ordered[middle]) / 2;
}

Interval median_interval(std::span<const double> samples, double confidence) {
  if (samples.empty()) return {};
  const auto ordered = sorted(samples);
  std::size_t cut = 0;  // samples dropped on each side: P(median outside) = 2 P(X <= cut)
  while (cut + 1 < ordered.size() / 2 && 2 * binomial_half_cdf(ordered.size(), cut + 1) <= 1 - confidence) ++cut;
  // Cutting k on each side covers with probability 1 - 2 P(X <= k).
  return {ordered[cut], ordered[ordered.size() - 1 - cut]};
}

double robust_deviation(std::span<const double> samples) {
  const double middle = median(samples);
  std::vector<double> distances;
  for (double sample : samples) distances.push_back(std::abs(sample - middle));
  return 1.4826 * median(distances);  // 1 / the 75 % quantile of the normal distribution
}

std::size_t count_outliers(std::span<const double> samples, double limit) {
  const double bound = median(samples) + limit * robust_deviation(samples);
  return static_cast<std::size_t>(std::count_if(samples.begin(), samples.end(), [&](double s) { return s > bound; }));
}

bool has_drift(std::span<const double> samples, double relative) {
  if (samples.size() < 6) return false;
  const std::size_t third = samples.size() / 3;
  const double first = median(samples.first(third)), last = median(samples.last(third));
  return std::abs(trend_z(samples)) > 3 && !agree(first, last, relative);
}

bool is_tie(std::span<const double> a, std::span<const double> b, double noise) {
  if (a.empty() || b.empty()) return false;
  return agree(median(a), median(b), noise) || std::abs(rank_sum_z(a, b)) < 2.58;
}

double self_noise(std::span<const double> samples) {
  std::vector<double> halves[2];
  for (std::size_t i = 0; i < samples.size(); ++i) halves[i % 2].push_back(samples[i]);
  if (halves[1].empty()) return 0;
  return std::abs(median(halves[0]) - median(halves[1])) / median(samples);
}

void Preheat::add(double sample) {
  ++samples_;
  window_.push_back(sample);
  if (window_.size() < options_.window) return;
  const double current = median(window_);
  agreements_ = previous_ > 0 && agree(current, previous_, options_.agreement) ? agreements_ + 1 : 0;
  previous_ = current;
  window_.clear();
}

void StopRule::add(double sample, double gpu_us) {
  samples_.push_back(sample);
  spent_us_ += gpu_us;
}

bool StopRule::converged() const {
  if (samples_.size() < options_.min_samples) return false;
  return median_interval(samples_).width() <= options_.relative_width * median(samples_);
}

}  // namespace headtune
