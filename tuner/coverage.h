// How much of a problem's space was tried, so that a partial sweep is not mistaken for a full one.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tuner/store.h"

namespace headtune {

struct Coverage {
  int tried = 0;  ///< finished: timed, dropped or failed
  int legal = 0;
  std::string search;  ///< of the last sweep

  int untried() const { return legal - tried; }
  bool partial() const { return untried() > 0; }
};

/// Of the variants with this template hash; nothing where no sweep said what the space holds.
std::optional<Coverage> coverage(const std::optional<StoredSpace>& space, const std::vector<StoredVariant>& variants,
                                 const std::string& template_hash);

/// "tried 12 of 80 legal configurations (15 %; guided, seed 1, budget 12)".
std::string describe(const Coverage& coverage);

}  // namespace headtune
