// What `headtune check` prints and writes: text for people, JSON for programs, JUnit for CI servers, Markdown for pull
// requests.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "tuner/check.h"

namespace headtune::cli {

/// What a report says about how it was made.
struct CheckFacts {
  std::string baseline;  ///< file as given
  int passes = 0;
  GateRule rule;
  bool allow_stale = false;
};

std::string check_text(const CheckReport& report, const CheckFacts& facts);
nlohmann::json check_json(const CheckReport& report, const CheckFacts& facts);
/// One test case per cell of the baseline. regress: failure; no verdict: error, since a skipped test would look green;
/// not asked for: skipped.
std::string check_junit(const CheckReport& report, const CheckFacts& facts);
/// A line and one table.
std::string check_markdown(const CheckReport& report, const CheckFacts& facts);

/// "head_dim 64, 8/2 heads, L 7, non-causal, bf16, context 8k, batch 1".
std::string cell_text(const CheckCell& cell);

/// Text of an XML attribute, on one line; what XML 1.0 cannot hold becomes '?'.
std::string xml_escaped(const std::string& text);
/// Text of an XML element: the same, its lines kept.
std::string xml_content(const std::string& text);

}  // namespace headtune::cli
