#include "tuner/retry.h"

#include <algorithm>

namespace headtune {
namespace {

std::vector<TimedShape> untrusted_shapes(const RunOutcome& outcome) {
  std::vector<TimedShape> shapes;
  for (const ShapeTiming& timing : outcome.timings)
    if (!timing.timing.trusted()) shapes.push_back(timing.shape);
  return shapes;
}

void replace(RunOutcome& outcome, const ShapeTiming& again) {
  for (ShapeTiming& timing : outcome.timings)
    if (timing.shape == again.shape) timing = again;
}

/// A candidate that the race dropped is slower than the best whatever the clock did: both met the same one.
bool decides(const RunOutcome& outcome) {
  return outcome.status == RunStatus::ok &&
         std::none_of(outcome.timings.begin(), outcome.timings.end(), [](const auto& t) { return t.timing.outraced; });
}

std::ptrdiff_t untrusted_count(const std::vector<RunOutcome>& race) {
  return std::count_if(race.begin(), race.end(), [](const RunOutcome& o) { return decides(o) && !trusted(o); });
}

}  // namespace

bool trusted(const RunOutcome& outcome) { return untrusted_shapes(outcome).empty(); }

RunOutcome run_settled(const std::function<RunOutcome(const RunPlan&)>& run, const RunPlan& plan,
                       const Patience& patience) {
  RunOutcome outcome = run(plan);
  for (int i = 0; i < patience.retries && outcome.status == RunStatus::ok && !trusted(outcome) && patience.more();
       ++i) {
    RunPlan again = plan;
    again.verify = false;
    again.shapes = untrusted_shapes(outcome);
    const RunOutcome retried = run(again);
    outcome.measure_seconds += retried.measure_seconds;
    outcome.status = retried.status, outcome.reason = retried.reason;
    for (const ShapeTiming& timing : retried.timings) replace(outcome, timing);
  }
  return outcome;
}

std::vector<RunOutcome> race_settled(const std::function<std::vector<RunOutcome>()>& race, const Patience& patience) {
  std::vector<RunOutcome> best = race();
  for (int i = 0; i < patience.retries && untrusted_count(best) > 0 && patience.more(); ++i) {
    std::vector<RunOutcome> again = race();
    if (untrusted_count(again) < untrusted_count(best)) best = std::move(again);
  }
  return best;
}

}  // namespace headtune
