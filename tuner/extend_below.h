// Prefixes so short that the generic kernel, one launch, beats the tuned one with its two: found by racing both from
// short to long, recorded in the table, for engines that route each call.
#pragma once

#include <cstdint>

#include "tuner/retry.h"
#include "tuner/sweep.h"

namespace headtune {

/// Races every stored winner against extend_attention at every batch of the request, from 64 keys on, until the winner is
/// faster; stores what it found. Does nothing for other operators, without winners, where
/// extend_attention does not compute the problem or does not run, and where it is known already.
void find_extend_below(const SweepSetup& setup, const SweepRequest& request, const Problem& problem,
                       std::int64_t problem_id, const Patience& patience);

}  // namespace headtune
