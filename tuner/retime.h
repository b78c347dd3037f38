// Winners as their users will run them. The winning row is written as a table, read back, looked up as tables.h does
// and planned as plan.h does; its kernel is compiled anew. It then races the variant as the sweep ran it: a difference
// beyond noise means that the sweep measured something its users do not get.
#pragma once

#include <string>
#include <vector>

#include "headtune/table.h"
#include "tuner/retry.h"
#include "tuner/sweep.h"

namespace headtune {

/// What a table's row makes of one shape.
struct AsShipped {
  Config config;
  Plan plan;
};

/// `table_text`: the table's file.
AsShipped as_shipped(const std::string& table_text, const Problem& problem, const DeviceKey& device,
                     const TimedShape& shape);

/// Whether the two times differ beyond noise.
bool differs(const StoredRetiming& retiming);

/// "+8.0 % through the table at 1x8k (20.00 us as swept, 21.60 us)".
std::string describe(const StoredRetiming& retiming);

/// Times what has not been timed of the stored winners of `problem`; stores it. Returns one line for every winner and
/// shape that differs or fails. Operators without tables have nothing to time.
std::vector<std::string> retime_winners(const SweepSetup& setup, const SweepRequest& request, const Problem& problem,
                                        std::int64_t problem_id, const Patience& patience);

}  // namespace headtune
