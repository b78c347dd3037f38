// What the commands print about stored results.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tuner/store.h"
#include "tuner/sweep.h"

namespace headtune::cli {

/// Registers, LDS, spills and occupancy of every compiled variant; failures with their reason.
std::string resources_text(const std::vector<StoredVariant>& variants);
nlohmann::json resources_json(const std::vector<StoredVariant>& variants);

/// The winners of one problem with their time, interval and rate at every point.
std::string winners_text(const Store& store, std::int64_t environment, const ProblemReport& report);
nlohmann::json winners_json(const Store& store, std::int64_t environment, const ProblemReport& report);

/// "4,256,4 ROW_WARPS=2": the first three knobs, and the others where they differ from the default.
std::string short_text(const Config& config);
nlohmann::json config_json(const Config& config);
nlohmann::json problem_json(const Problem& problem);
nlohmann::json counts_json(const SweepCounts& counts);
nlohmann::json timing_json(const StoredTiming& timing);
nlohmann::json retiming_json(const StoredRetiming& retiming);
/// "as a user of the table gets it: within 0.4 % at 9 points, ..."; empty for none.
std::string retiming_text(const std::vector<StoredRetiming>& retimings);

/// "gfx950, 256 CUs (AMD Instinct MI355X), hiprtc 7.0", with "estimated" where it is.
std::string environment_text(const StoredEnvironment& environment);

}  // namespace headtune::cli
