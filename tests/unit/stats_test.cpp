#include "tuner/stats.h"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_floating_point.hpp>
#include <random>

using namespace headtune;
using Catch::Matchers::WithinAbs;

namespace {

std::vector<double> normal(double mean, double deviation, std::size_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<double> distribution(mean, deviation);
  std::vector<double> samples(count);
  for (double& sample : samples) sample = distribution(random);
  return samples;
}

}  // namespace

TEST_CASE("median of odd, even and no samples") {
  CHECK(median(std::vector{3.0, 1.0, 2.0}) == 2);
  CHECK(median(std::vector{4.0, 1.0, 2.0, 3.0}) == 2.5);
  CHECK(std::isnan(median({})));
}

TEST_CASE("the interval of the median uses the exact order statistics") {
  std::vector<double> samples;
  for (int i = 1; i <= 5; ++i) samples.push_back(i);
  CHECK(median_interval(samples).low == 1);  // 5 samples: 93.75 % at best
  while (samples.size() < 9) samples.push_back(double(samples.size() + 1));
  // n = 9: dropping one sample on each side covers 1 - 2 * 10 / 512 = 96.1 %, dropping two 82 %.
  CHECK(median_interval(samples).low == 2);
  CHECK(median_interval(samples).high == 8);
}

TEST_CASE("the interval covers the true median as often as it says") {
  int covered = 0;
  for (unsigned seed = 0; seed < 1000; ++seed) {
    const Interval interval = median_interval(normal(100, 3, 21, seed));
    covered += interval.low <= 100 && 100 <= interval.high;
  }
  CHECK(covered >= 940);
  CHECK(covered <= 990);
}

TEST_CASE("one interrupted sample moves neither median nor deviation, and is counted") {
  auto samples = normal(20, 0.1, 30, 1);
  samples[4] = 900;
  CHECK_THAT(median(samples), WithinAbs(20, 0.1));
  CHECK(robust_deviation(samples) < 0.2);
  CHECK(count_outliers(samples) == 1);
}

TEST_CASE("a ramping clock is drift, noise is not") {
  std::vector<double> ramp;
  for (int i = 0; i < 30; ++i) ramp.push_back(100.0 + i);
  CHECK(has_drift(ramp));
  int alarms = 0;
  for (unsigned seed = 0; seed < 200; ++seed) alarms += has_drift(normal(100, 3, 30, seed));
  CHECK(alarms <= 4);
}

TEST_CASE("equal candidates tie, a candidate 5 % slower does not") {
  int false_wins = 0, missed = 0;
  for (unsigned seed = 0; seed < 200; ++seed) {
    const auto a = normal(100, 1, 15, seed), same = normal(100, 1, 15, seed + 1000),
               slower = normal(105, 1, 15, seed + 2000);
    false_wins += !is_tie(a, same, 0);
    missed += is_tie(a, slower, 0.01);
  }
  CHECK(false_wins <= 6);  // 1 % level
  CHECK(missed == 0);
  CHECK(is_tie(std::vector(10, 100.0), std::vector(10, 100.4), 0.005));
}

TEST_CASE("comparing a kernel with itself shows its noise") {
  CHECK(self_noise(normal(100, 1, 400, 3)) < 0.005);
  CHECK(self_noise(std::vector{100.0, 110.0, 100.0, 110.0}) == 0.1 / 1.05);
}

TEST_CASE("preheating ends when the clock has arrived, not before") {
  Preheat preheat;
  int sample = 0;
  for (; !preheat.done(); ++sample) preheat.add(20 / std::min(1.0, 0.6 + 0.01 * sample));
  CHECK(preheat.settled());
  CHECK(sample >= 40);
  CHECK(sample < 60);
}

TEST_CASE("preheating gives up on a device that never settles") {
  Preheat preheat;
  for (int i = 0; !preheat.done(); ++i) preheat.add(100.0 * (1 + i % 40));
  CHECK(preheat.gave_up());
  CHECK_FALSE(preheat.settled());
}

TEST_CASE("sampling stops early when quiet, late when noisy, and at the budget") {
  const auto samples_taken = [](double noise, double budget_us) {
    StopRule::Options options;
    options.budget_us = budget_us;
    StopRule rule(options);
    for (double sample : normal(100, noise * 100, 1000, 5)) {
      if (rule.done()) break;
      rule.add(sample, 1000);
    }
    return rule.samples().size();
  };
  CHECK(samples_taken(0.001, 1e9) == 7);
  CHECK(samples_taken(0.02, 1e9) > 20);
  CHECK(samples_taken(0.5, 1e9) == 100);
  CHECK(samples_taken(0.5, 20'000) == 20);
}
