#include "tuner/cli/diff_report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tuner/check_plan.h"
#include "tuner/cli/parse.h"
#include "tuner/cli/problem_options.h"
#include "tuner/cli/report.h"

namespace headtune::cli {
namespace {

using nlohmann::json;

struct Counts {
  int added = 0, removed = 0, configurations = 0, beyond = 0, within = 0, same = 0, incomparable = 0;
};

Counts count(const TableDiff& diff) {
  Counts c;
  for (const RowDiff& row : diff.rows) {
    c.added += row.change == RowChange::added, c.removed += row.change == RowChange::removed;
    c.configurations += row.config_changed();
    for (const TimeChange& time : row.times) {
      if (!row.comparable)
        ++c.incomparable;
      else if (time.same())
        ++c.same;
      else if (time.beyond_noise())
        ++c.beyond;
      else
        ++c.within;
    }
  }
  return c;
}

const char* name(RowChange change) {
  switch (change) {
    case RowChange::same:
      return "same";
    case RowChange::added:
      return "added";
    case RowChange::removed:
      return "removed";
    case RowChange::changed:
      return "changed";
  }
  return "unknown";
}

std::string time_line(const TimeChange& t, bool comparable) {
  const char* noise = !comparable ? "not comparable" : t.beyond_noise() ? "beyond noise" : "within noise";
  return fmt::format("    batch {}: {:.2f} -> {:.2f} us ({:+.1f} %), {}\n", t.batch, t.before.median_us,
                     t.after.median_us, 100 * (t.after.median_us / t.before.median_us - 1), noise);
}

std::string row_text(const RowDiff& row) {
  const std::string context = "  context " + count_text(row.row.context_min) + ": ";
  if (row.change == RowChange::added) return context + "added: " + short_text(*row.after) + "\n";
  if (row.change == RowChange::removed) return context + "removed: " + short_text(*row.before) + "\n";
  std::string text =
      context +
      (row.config_changed() ? short_text(*row.before) + " -> " + short_text(*row.after) : short_text(*row.before)) +
      "\n";
  for (const TimeChange& time : row.times)
    if (!time.same() || !row.comparable) text += time_line(time, row.comparable);
  if (!row.batches_added.empty()) text += fmt::format("    batches added: {}\n", fmt::join(row.batches_added, ", "));
  if (!row.batches_removed.empty())
    text += fmt::format("    batches removed: {}\n", fmt::join(row.batches_removed, ", "));
  for (const std::string& change : row.evidence) text += "    " + change + "\n";
  return text;
}

std::string heading(const TableRow& row) { return fmt::format("{}, {} CUs", describe(problem_of(row)), row.cu_count); }

json time_json(const TimeChange& t, bool comparable) {
  json value = {
      {"batch", t.batch}, {"before_us", t.before.median_us}, {"after_us", t.after.median_us}, {"same", t.same()}};
  value["beyond_noise"] = comparable ? json(t.beyond_noise()) : json(nullptr);
  return value;
}

json row_json(const RowDiff& row) {
  json value = {{"problem", problem_json(problem_of(row.row))},
                {"cu_count", row.row.cu_count},
                {"context", row.row.context_min},
                {"change", name(row.change)},
                {"config_changed", row.config_changed()},
                {"times", json::array()},
                {"batches_added", row.batches_added},
                {"batches_removed", row.batches_removed},
                {"evidence", row.evidence}};
  value["before"] = row.before ? config_json(*row.before) : json(nullptr);
  value["after"] = row.after ? config_json(*row.after) : json(nullptr);
  for (const TimeChange& time : row.times) value["times"].push_back(time_json(time, row.comparable));
  return value;
}

}  // namespace

std::string diff_text(const TableDiff& diff, const std::string& a, const std::string& b) {
  std::string text = fmt::format("{} -> {}\n", a, b), present;
  for (const RowDiff& row : diff.rows) {
    if (row.change == RowChange::same) continue;
    if (heading(row.row) != present) text += (present = heading(row.row)) + "\n";
    text += row_text(row);
  }
  const Counts c = count(diff);
  return text + fmt::format(
                    "{}: {} rows added, {} removed, {} with another configuration; {} times beyond noise, {} "
                    "within, {} equal{}\n",
                    diff.differs() ? "different" : "same", c.added, c.removed, c.configurations, c.beyond, c.within,
                    c.same, c.incomparable ? fmt::format(", {} not comparable", c.incomparable) : "");
}

json diff_json(const TableDiff& diff, const std::string& a, const std::string& b) {
  json value = {{"a", a}, {"b", b}, {"different", diff.differs()}, {"rows", json::array()}};
  for (const RowDiff& row : diff.rows)
    if (row.change != RowChange::same) value["rows"].push_back(row_json(row));
  return value;
}

}  // namespace headtune::cli
