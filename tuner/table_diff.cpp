#include "tuner/table_diff.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

namespace headtune {
namespace {

using Key = std::vector<int>;

Key key_of(const TableRow& row, int context) {
  Key key = cell_key(row);
  key.push_back(context);
  return key;
}

/// A row's part at one context.
struct Slice {
  const TunedRow* row = nullptr;
  std::map<int, CellTime> by_batch;
};

std::map<Key, Slice> slices_of(const TunedTable& table) {
  std::map<Key, Slice> slices;
  for (const TunedRow& row : table.rows)
    for (const CellTime& time : row.evidence.times) {
      Slice& slice = slices[key_of(row.row, time.context)];
      slice.row = &row;
      slice.by_batch[time.batch] = time;
    }
  return slices;
}

std::vector<std::string> evidence_changes(const TunedRow& a, const TunedRow& b) {
  std::vector<std::string> changes;
  const auto compare = [&](const char* what, const std::string& x, const std::string& y) {
    if (x != y) changes.push_back(fmt::format("{} {} -> {}", what, x, y));
  };
  compare("times", a.row.estimated ? "estimated" : "measured", b.row.estimated ? "estimated" : "measured");
  compare("provider", a.evidence.provider, b.evidence.provider);
  compare("features", a.evidence.features, b.evidence.features);
  compare("templates", a.evidence.template_hash.substr(0, 12), b.evidence.template_hash.substr(0, 12));
  compare("compiler", a.evidence.compiler, b.evidence.compiler);
  compare("runtime", a.evidence.runtime, b.evidence.runtime);
  compare("driver", a.evidence.driver, b.evidence.driver);
  return changes;
}

TableRow row_at(const TunedRow& tuned, int context) {
  TableRow row = tuned.row;
  row.context_min = row.context_max = context;
  return row;
}

RowDiff one_sided(const Slice& slice, int context, RowChange change) {
  RowDiff diff;
  diff.row = row_at(*slice.row, context);
  diff.change = change;
  (change == RowChange::added ? diff.after : diff.before) = slice.row->row.config;
  return diff;
}

RowDiff compare(const Slice& a, const Slice& b, int context) {
  RowDiff diff;
  diff.row = row_at(*a.row, context);
  diff.before = a.row->row.config, diff.after = b.row->row.config;
  diff.evidence = evidence_changes(*a.row, *b.row);
  diff.comparable = a.row->row.estimated == b.row->row.estimated;
  for (const auto& [batch, time] : a.by_batch) {
    const auto found = b.by_batch.find(batch);
    if (found == b.by_batch.end())
      diff.batches_removed.push_back(batch);
    else
      diff.times.push_back({batch, time, found->second});
  }
  for (const auto& [batch, time] : b.by_batch)
    if (!a.by_batch.count(batch)) diff.batches_added.push_back(batch);
  const bool times_same = std::all_of(diff.times.begin(), diff.times.end(), [](const auto& t) { return t.same(); });
  if (!times_same || diff.differs() || !diff.evidence.empty()) diff.change = RowChange::changed;
  return diff;
}

}  // namespace

bool TimeChange::same() const { return std::abs(before.median_us - after.median_us) <= 0.0005001; }

bool TimeChange::beyond_noise() const {
  return !same() && (after.low_us > before.high_us || after.high_us < before.low_us);
}

bool RowDiff::differs() const {
  return change == RowChange::added || change == RowChange::removed || config_changed() || !comparable ||
         !batches_added.empty() || !batches_removed.empty() ||
         std::any_of(times.begin(), times.end(), [](const TimeChange& time) { return time.beyond_noise(); });
}

bool TableDiff::differs() const {
  return std::any_of(rows.begin(), rows.end(), [](const RowDiff& row) { return row.differs(); });
}

TableDiff diff(const TunedTable& a, const TunedTable& b) {
  const auto before = slices_of(a), after = slices_of(b);
  std::map<Key, RowDiff> rows;
  for (const auto& [key, slice] : before) {
    const auto found = after.find(key);
    rows.emplace(key, found == after.end() ? one_sided(slice, key.back(), RowChange::removed)
                                           : compare(slice, found->second, key.back()));
  }
  for (const auto& [key, slice] : after)
    if (!before.count(key)) rows.emplace(key, one_sided(slice, key.back(), RowChange::added));
  TableDiff all;
  for (auto& [key, row] : rows) all.rows.push_back(std::move(row));
  return all;
}

}  // namespace headtune
