// Times taken while the device moved are taken again, within bounds.
#include "tuner/retry.h"

#include <catch2/catch_test_macros.hpp>

namespace headtune {
namespace {

ShapeTiming timing(int batch, double us, bool settled) {
  ShapeTiming one;
  one.shape = {batch, 8192};
  one.timing.median_us = us;
  one.timing.settled = settled;
  return one;
}

RunOutcome outcome(const ShapeTiming& timing) {
  RunOutcome one;
  one.timings = {timing};
  return one;
}

TEST_CASE("only the shapes that moved run again, unverified, and replace their times") {
  std::vector<RunPlan> plans;
  const RunOutcome result = run_settled(
      [&](const RunPlan& plan) {
        plans.push_back(plan);
        RunOutcome one;
        for (const TimedShape& shape : plan.shapes)
          one.timings.push_back(
              timing(shape.batch, 10.0 * double(plans.size()), shape.batch == 1 || plans.size() == 3));
        return one;
      },
      RunPlan{.verify = true, .shapes = {{1, 8192}, {8, 8192}}, .measure = {}}, Patience{});
  REQUIRE(plans.size() == 3);
  CHECK(plans[0].verify);
  CHECK_FALSE(plans[1].verify);
  CHECK(plans[1].shapes == std::vector<TimedShape>{{8, 8192}});
  CHECK(trusted(result));
  CHECK(result.timings[0].timing.median_us == 10);
  CHECK(result.timings[1].timing.median_us == 30);
}

TEST_CASE("a device that never settles costs the retries and stays untrusted; an ended budget costs none") {
  int runs = 0;
  const auto moving = [&](const RunPlan&) {
    ++runs;
    return outcome(timing(1, 10, false));
  };
  const RunPlan plan{.verify = false, .shapes = {{1, 8192}}, .measure = {}};
  CHECK_FALSE(trusted(run_settled(moving, plan, Patience{})));
  CHECK(runs == 3);
  run_settled(moving, plan, Patience{.more = [] { return false; }});
  CHECK(runs == 4);
}

TEST_CASE("a failure of a retry is the outcome") {
  int runs = 0;
  const RunOutcome outcome = run_settled(
      [&](const RunPlan&) {
        RunOutcome one;
        if (++runs == 1)
          one.timings = {timing(1, 10, false)};
        else
          one.status = RunStatus::device_fault, one.reason = "fault";
        return one;
      },
      RunPlan{.verify = true, .shapes = {{1, 8192}}, .measure = {}}, Patience{});
  CHECK(runs == 2);
  CHECK(outcome.status == RunStatus::device_fault);
  CHECK(outcome.reason == "fault");
}

TEST_CASE("a race is repeated whole; losers that were dropped do not ask for it") {
  int races = 0;
  const auto racer = [](double us, bool settled, bool outraced) {
    RunOutcome one = outcome(timing(1, us, settled));
    one.timings[0].timing.outraced = outraced;
    return one;
  };
  auto result = race_settled(
      [&] {
        ++races;
        return std::vector{racer(races, races == 2, false), racer(9, false, true)};
      },
      Patience{});
  CHECK(races == 2);
  CHECK(result[0].timings[0].timing.median_us == 2);
  races = 0;
  result = race_settled([&] { return ++races, std::vector{racer(races, false, false)}; }, Patience{});
  CHECK(races == 3);
  CHECK_FALSE(trusted(result[0]));
}

}  // namespace
}  // namespace headtune
