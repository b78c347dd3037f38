// The gate's rule on synthetic times: what it lets through, what it names, what it refuses to judge.
#include "tuner/judgement.h"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <random>

#include "tuner/stats.h"

namespace headtune {
namespace {

using Catch::Matchers::ContainsSubstring;

/// A device whose kernel takes `us`, with noise of each sample and of each run (placement, clocks).
struct Device {
  std::mt19937_64 random;
  double sample_noise = 0.03, run_noise = 0;
  int samples = 100;  ///< where the stop rule ends at 3 % noise

  PassTime time(double us) {
    std::normal_distribution<double> normal;
    const double run_us = us * (1 + run_noise * normal(random));
    std::vector<double> times;
    for (int i = 0; i < samples; ++i) times.push_back(run_us * (1 + sample_noise * normal(random)));
    const Interval interval = median_interval(times);
    return {median(times), interval.low, interval.high, samples, ""};
  }

  std::vector<PassTime> passes(double us, int count = 5) {
    std::vector<PassTime> all;
    for (int i = 0; i < count; ++i) all.push_back(time(us));
    return all;
  }
};

PassTime quiet(double us, int samples = 20) { return {us, us * 0.999, us * 1.001, samples, ""}; }
std::vector<PassTime> quiet_passes(double us) { return {quiet(us), quiet(us * 1.001), quiet(us * 0.999)}; }

/// Runs of a table of `cells` cells (10 us, 20 us, ...) in which at least one regresses; the last is `slower`.
int red_runs(Device device, int runs, int cells, double slower = 1) {
  int red = 0;
  for (int run = 0; run < runs; ++run) {
    bool any = false;
    for (int cell = 0; cell < cells; ++cell) {
      const double us = 10 + 10 * cell;
      const PassTime baseline = device.time(us);
      any |= judge(baseline, device.passes(cell + 1 < cells ? us : us * slower)).verdict == Verdict::regress;
    }
    red += any;
  }
  return red;
}

}  // namespace

TEST_CASE("the same code passes: at 3 % noise at most 1 % of 200 runs of nine cells are red") {
  CHECK(red_runs(Device{std::mt19937_64(1), 0.03, 0, 100}, 200, 9) <= 2);
}

TEST_CASE("noise between runs, which no single run sees, widens the threshold") {
  // One cell: the stored time itself is off by as much, and nothing tells.
  CHECK(red_runs(Device{std::mt19937_64(2), 0.005, 0.03, 20}, 1000, 1) <= 10);
  CHECK(red_runs(Device{std::mt19937_64(3), 0.005, 0.01, 20}, 200, 9) <= 4);
}

TEST_CASE("8 % more time on one cell is seen in every run") {
  CHECK(red_runs(Device{std::mt19937_64(4), 0.03, 0, 100}, 200, 9, 1.08) == 200);
}

TEST_CASE("a regress says by how much and what was allowed") {
  const Judgement j = judge(quiet(50), quiet_passes(54));
  CHECK(j.verdict == Verdict::regress);
  CHECK(j.baseline_us == 50);
  CHECK(j.present_us == 54);
  CHECK(j.ratio() == 1.08);
  CHECK(j.threshold_us == 1.5);
  CHECK(j.reason == "slower by 4.00 us (+8.0 %); 3 % allows 1.50 us");
}

TEST_CASE("30 % of 2 us is below the floor, 30 % of 20 us is not") {
  const Judgement small = judge(quiet(2), quiet_passes(2.6));
  CHECK(small.verdict == Verdict::pass);
  CHECK_THAT(small.reason, ContainsSubstring("within the absolute floor (0.70 us)"));
  CHECK(judge(quiet(20), quiet_passes(26)).verdict == Verdict::regress);
  GateRule no_floor;
  no_floor.floor_us = 0;
  CHECK(judge(quiet(2), quiet_passes(2.6), no_floor).verdict == Verdict::regress);
}

TEST_CASE("what cannot be told is no verdict, never a pass") {
  SECTION("no stored time") { CHECK(judge({}, quiet_passes(10)).verdict == Verdict::no_verdict); }
  SECTION("too few stored samples") {
    const Judgement j = judge(quiet(10, 5), quiet_passes(10));
    CHECK(j.verdict == Verdict::no_verdict);
    CHECK(j.reason == "too few samples in the baseline: 5, at least 6 needed");
    CHECK(judge(quiet(10, 6), quiet_passes(10)).verdict == Verdict::pass);
  }
  SECTION("too few present samples") {
    std::vector<PassTime> passes = quiet_passes(10);
    passes.front().samples = 3;
    const Judgement j = judge(quiet(10), passes);
    CHECK(j.verdict == Verdict::no_verdict);
    CHECK_THAT(j.reason, ContainsSubstring("2 of 3 passes can be trusted, at least 3 needed: too few samples (3"));
  }
  SECTION("a device that does not settle") {
    std::vector<PassTime> passes = quiet_passes(10);
    for (PassTime& pass : passes) pass.doubt = "unsettled";
    const Judgement j = judge(quiet(10), passes);
    CHECK(j.verdict == Verdict::no_verdict);
    CHECK_THAT(j.reason, ContainsSubstring("0 of 3") && ContainsSubstring("unsettled"));
  }
  SECTION("no pass at all") { CHECK(judge(quiet(10), {}).verdict == Verdict::no_verdict); }
  SECTION("noise that would hide a regress") {
    const std::vector<PassTime> wild = {quiet(90), quiet(100), quiet(110)};
    const Judgement j = judge(quiet(100), wild);
    CHECK(j.verdict == Verdict::no_verdict);
    CHECK_THAT(j.reason, ContainsSubstring("too noisy"));
  }
}

TEST_CASE("one untrusted pass of five does not spoil a cell") {
  std::vector<PassTime> passes = quiet_passes(10);
  passes.push_back(quiet(10));
  passes.push_back({99, 90, 110, 20, "drift"});
  CHECK(judge(quiet(10), passes).verdict == Verdict::pass);
}

TEST_CASE("a faster kernel passes and says that the baseline is old") {
  const Judgement j = judge(quiet(100), quiet_passes(80));
  CHECK(j.verdict == Verdict::pass);
  CHECK_THAT(j.reason, ContainsSubstring("faster by 20.00 us") && ContainsSubstring("sweep again"));
}

TEST_CASE("estimates are compared exactly, to the nanosecond that tables keep") {
  CHECK(judge_estimated(13.413, 13.4129, {}).verdict == Verdict::pass);
  CHECK(judge_estimated(13.413, 13.4129, {}).reason.empty());
  const Judgement slower = judge_estimated(13.4, 13.413, {});
  CHECK(slower.verdict == Verdict::regress);
  CHECK(slower.reason == "estimate slower by 0.013 us (+0.1 %)");
  CHECK(judge_estimated(13.413, 13.4, {}).verdict == Verdict::pass);
  CHECK_THAT(judge_estimated(13.413, 13.4, {}).reason, ContainsSubstring("sweep again"));
  CHECK(judge_estimated(0, 13.4, {}).verdict == Verdict::no_verdict);
}

TEST_CASE("spills are a regress at equal time; registers are only named") {
  const std::vector<CodeFigure> registers = {{"stage1 vgpr", 96, 104, false}, {"stage1 vgpr_spills", 0, 0, true}};
  CHECK(judge_estimated(10, 10, registers).verdict == Verdict::pass);
  CHECK(judge_estimated(10, 10, registers).reason == "stage1 vgpr 96 -> 104");
  const std::vector<CodeFigure> spills = {{"stage1 vgpr_spills", 0, 8, true}};
  CHECK(judge_estimated(10, 10, spills).verdict == Verdict::regress);
  const std::vector<CodeFigure> fewer = {{"stage1 vgpr_spills", 8, 0, true}};
  CHECK(judge_estimated(10, 10, fewer).verdict == Verdict::pass);
}

TEST_CASE("a run is green only when every cell passes and there is one") {
  using V = Verdict;
  const auto of = [](std::vector<V> verdicts) { return overall(verdicts); };
  CHECK(of({}) == V::no_verdict);
  CHECK(of({V::pass, V::pass}) == V::pass);
  CHECK(of({V::pass, V::no_verdict}) == V::no_verdict);
  CHECK(of({V::no_verdict, V::regress, V::pass}) == V::regress);
}

}  // namespace headtune
