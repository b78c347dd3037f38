// What a check of frozen paths prints and writes, in the formats of `headtune check`.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tuner/frozen.h"

namespace headtune::cli {

/// Every finding a line, the differing instructions under it, and a last line with the verdict.
std::string findings_text(const std::vector<FrozenFinding>& findings);
nlohmann::json findings_json(const std::vector<FrozenFinding>& findings);
/// One test case per kernel. changed: failure; no record: error, since a skipped test would look green.
std::string findings_junit(const std::vector<FrozenFinding>& findings);
/// The verdict, and of what changed the differing instructions.
std::string findings_markdown(const std::vector<FrozenFinding>& findings);

}  // namespace headtune::cli
