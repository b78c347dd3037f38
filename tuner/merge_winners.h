// Winners of a merged database: copied where one input alone knows a problem, chosen by selection where several do.
#pragma once

#include <cstdint>
#include <vector>

#include "tuner/store.h"

namespace headtune {

/// One problem in one environment of the new database.
struct MergedCell {
  std::int64_t environment = 0, problem = 0;
  friend auto operator<=>(const MergedCell&, const MergedCell&) = default;
};

/// One problem in one environment of one input.
struct MergeSource {
  const Store* input = nullptr;
  std::int64_t environment = 0, problem = 0;
};

enum class WinnersFrom {
  nowhere,    ///< no input has any
  dethroned,  ///< estimates, beside measured times of the same device
  one_input,
  selection
};

/// `sources`: all that know the cell, in the order of the inputs. Needs every input's times in `out`.
WinnersFrom choose_winners(Store& out, const MergedCell& cell, const std::vector<MergeSource>& sources);

}  // namespace headtune
