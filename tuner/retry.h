// Times that were taken while the device still moved (Timing::trusted()) decide nothing; before they are left out they
// are taken again. What runs is passed in, so that this needs no device.
#pragma once

#include <functional>
#include <vector>

#include "tuner/device_work.h"

namespace headtune {

struct Patience {
  int retries = 2;                                   ///< a clock that has not settled in three attempts will not
  std::function<bool()> more = [] { return true; };  ///< false: the budget has ended, no further attempt
};

/// Whether every time of the outcome may decide something.
bool trusted(const RunOutcome& outcome);

/// Runs `plan`, then its untrusted shapes again. The outcome holds the last time of each shape; a failure of a later
/// attempt is a failure.
RunOutcome run_settled(const std::function<RunOutcome(const RunPlan&)>& run, const RunPlan& plan,
                       const Patience& patience);

/// Races until every candidate that was not dropped is trusted; a race is repeated whole, since its candidates must
/// meet the same clocks. Returns the race with the fewest untrusted candidates.
std::vector<RunOutcome> race_settled(const std::function<std::vector<RunOutcome>()>& race, const Patience& patience);

}  // namespace headtune
