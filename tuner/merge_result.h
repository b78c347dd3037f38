// One variant's result and how two of them become one (tuner/merge.h says what counts as a conflict).
#pragma once

#include <string>
#include <vector>

#include "tuner/merge.h"

namespace headtune {

struct MergeResult {
  StoredVariant variant;
  std::vector<StoredTiming> timings;
  std::vector<StoredRetiming> retimings;
  std::vector<ExtendBelow> extend_below;
  const Store* input = nullptr;  ///< that it came from, for messages
};

/// `kept` becomes the result of both; `incoming` comes from a later input. Returns what they disagreed on, one text
/// each, empty when nothing; with OnConflict::fail the caller gives up then.
std::vector<std::string> reconcile(MergeResult& kept, const MergeResult& incoming, OnConflict policy);

}  // namespace headtune
