// What changed from one table to another. Pure. Rows are compared context by context, since two tables may cut the
// contexts of a problem into different ranges.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "codegen/tuned_table.h"

namespace headtune {

/// Present in both tables at one context.
struct TimeChange {
  int batch = 0;
  CellTime before, after;
  /// The intervals do not overlap. Estimated times have no noise: any difference is one.
  bool beyond_noise() const;
  bool same() const;  ///< to the nanosecond that tables keep
};

enum class RowChange { same, added, removed, changed };

/// One problem on one device at one context.
struct RowDiff {
  TableRow row;  ///< of A; of B when added. context_min and context_max are the one context
  RowChange change = RowChange::same;
  std::optional<Config> before, after;  ///< empty on the side that lacks it
  std::vector<TimeChange> times;        ///< batches that both have
  std::vector<int> batches_added, batches_removed;
  std::vector<std::string> evidence;  ///< "compiler hiprtc 6.4 -> hiprtc 7.0"
  bool comparable = true;             ///< false when only one of them is estimated

  bool config_changed() const { return before && after && !(*before == *after); }
  /// Something that the noise of the times does not explain.
  bool differs() const;
};

struct TableDiff {
  std::vector<RowDiff> rows;  ///< all, in the tables' order

  bool differs() const;
};

TableDiff diff(const TunedTable& a, const TunedTable& b);

}  // namespace headtune
