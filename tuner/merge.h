// Several results databases into a new one. Inputs are opened read-only.
//
// A result is one variant in one environment: its status, its verification and its time at each point. Points that only
// one input has are taken over. Two results of one variant conflict when one failed and the other did not, or when a
// point has two times.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "tuner/store.h"

namespace headtune {

enum class OnConflict {
  fastest,  ///< the faster time of each point; a failed verification outweighs any time
  newest,   ///< that of the later input: databases hold no dates, so the order of arguments says which is newer
  fail      ///< throws UsageError that names the first one
};

/// Throws UsageError.
OnConflict parse_on_conflict(const std::string& name);

struct MergeReport {
  int variants = 0, times = 0, conflicts = 0;
  int problems_kept = 0;               ///< known to one input only: its winners are copied
  std::vector<std::string> rechosen;   ///< known to several: winners chosen by selection over the merged times
  std::vector<std::string> dethroned;  ///< estimated winners left out, since another input has measured times
};

/// `out` must be empty. Throws UsageError.
MergeReport merge(Store& out, const std::vector<std::filesystem::path>& inputs, OnConflict policy);

}  // namespace headtune
