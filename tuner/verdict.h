// The end of a problem's sweep: finalists race, the best of those that can be trusted wins.
#pragma once

#include <optional>

#include "tuner/retry.h"
#include "tuner/sweep.h"

namespace headtune {

/// Races what screening left near the best, stores the winners, and fills `report` (choices, no_verdict, left_out).
/// Throws Interrupted between races.
void decide(const SweepSetup& setup, const SweepRequest& request, const std::optional<Config>& incumbent,
            const Patience& patience, ProblemReport& report, SweepObserver& observer);

}  // namespace headtune
