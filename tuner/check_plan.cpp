#include "tuner/check_plan.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "tuner/build_table.h"
#include "tuner/same_problem.h"

namespace headtune {
namespace {

bool asked(const std::vector<int>& list, int value) {
  return list.empty() || std::find(list.begin(), list.end(), value) != list.end();
}

std::string device_text(const std::string& provider, const std::string& arch, const std::string& features, int cu_count,
                        int wave_size, bool estimated) {
  return fmt::format("{} {}{}, {} CUs, wave {}, {}", provider, arch, features, cu_count, wave_size,
                     estimated ? "estimated" : "measured");
}

class Planner {
 public:
  Planner(const TunedTable& baseline, const PresentSetup& present, const CheckFilter& filter, bool allow_stale)
      : baseline_(baseline), present_(present), filter_(filter), allow_stale_(allow_stale) {}

  CheckPlan plan() {
    for (std::size_t i = 0; i < baseline_.rows.size(); ++i) add_row(i);
    add_missing_head_dims();
    add_missing_points();
    return std::move(plan_);
  }

 private:
  const TunedRow& row(std::size_t i) const { return baseline_.rows[i]; }

  bool of_this_device(const TunedRow& tuned) const {
    return other_device(tuned, baseline_.arch, present_.environment).empty();
  }

  bool has_row_here(const Problem& problem) const {
    return std::any_of(baseline_.rows.begin(), baseline_.rows.end(), [&](const TunedRow& other) {
      return of_this_device(other) && same_problem(problem_of(other.row), problem);
    });
  }

  void add_row(std::size_t i) {
    const Problem problem = problem_of(row(i).row);
    std::string obstacle = other_device(row(i), baseline_.arch, present_.environment);
    if (!obstacle.empty() && has_row_here(problem)) {
      plan_.elsewhere.push_back(fmt::format("{}: {}", describe(row(i).row), obstacle));
      return;
    }
    std::vector<CheckCell> wanted;
    for (const CellTime& time : row(i).evidence.times) {
      CheckCell cell{problem, {time.batch, time.context}, i, time, ""};
      (is_asked(cell) ? wanted : plan_.not_asked).push_back(std::move(cell));
    }
    if (wanted.empty()) return;
    obstacle = obstacle.empty() ? stale_obstacle(i) : "other device: " + obstacle;
    for (CheckCell& cell : wanted) {
      cell.obstacle = obstacle;
      plan_.cells.push_back(std::move(cell));
    }
  }

  bool is_asked(const CheckCell& cell) const {
    return asked(filter_.head_dims, cell.problem.head_dim) && asked(filter_.contexts, cell.shape.context) &&
           asked(filter_.batches, cell.shape.batch);
  }

  std::string stale_obstacle(std::size_t i) {
    const std::string why = stale_because(row(i).evidence, present_);
    if (why.empty()) return "";
    plan_.stale.push_back(fmt::format("{}: {}", describe(row(i).row), why));
    return allow_stale_ ? "" : "stale: " + why;
  }

  void add_missing(const Problem& problem, const TimedShape& shape) {
    CheckCell cell;
    cell.problem = problem, cell.shape = shape, cell.obstacle = "no baseline: the table has no time here";
    plan_.cells.push_back(std::move(cell));
  }

  void add_missing_head_dims() {
    for (const int head_dim : filter_.head_dims) {
      Problem none;
      none.head_dim = none.v_head_dim = head_dim;
      if (std::none_of(baseline_.rows.begin(), baseline_.rows.end(),
                       [&](const TunedRow& tuned) { return tuned.row.head_dim == head_dim; }))
        add_missing(none, {0, 0});
    }
  }

  /// Every problem must have a time at every context and batch that was named.
  void add_missing_points() {
    std::vector<Problem> seen;
    for (const TunedRow& tuned : baseline_.rows) {
      const Problem problem = problem_of(tuned.row);
      const bool known =
          std::any_of(seen.begin(), seen.end(), [&](const Problem& p) { return same_problem(p, problem); });
      if (known || !asked(filter_.head_dims, problem.head_dim)) continue;
      seen.push_back(problem);
      add_missing_points(problem);
    }
  }

  void add_missing_points(const Problem& problem) {
    const std::vector<int> any = {0};  // 0 stands for whatever the problem has
    for (const int context : filter_.contexts.empty() ? any : filter_.contexts)
      for (const int batch : filter_.batches.empty() ? any : filter_.batches)
        if ((context != 0 || batch != 0) && !has_point(problem, context, batch)) add_missing(problem, {batch, context});
  }

  bool has_point(const Problem& problem, int context, int batch) const {
    return std::any_of(plan_.cells.begin(), plan_.cells.end(), [&](const CheckCell& cell) {
      return same_problem(cell.problem, problem) && (context == 0 || cell.shape.context == context) &&
             (batch == 0 || cell.shape.batch == batch);
    });
  }

  const TunedTable& baseline_;
  const PresentSetup& present_;
  const CheckFilter& filter_;
  bool allow_stale_;
  CheckPlan plan_;
};

}  // namespace

CheckPlan plan_check(const TunedTable& baseline, const PresentSetup& present, const CheckFilter& filter,
                     bool allow_stale) {
  return Planner(baseline, present, filter, allow_stale).plan();
}

std::string stale_because(const Evidence& evidence, const PresentSetup& present) {
  const StoredEnvironment& e = present.environment;
  std::vector<std::string> parts;
  const auto compare = [&](const char* what, const std::string& stored, const std::string& now) {
    if (stored != now) parts.push_back(fmt::format("{} expected {}, found {}", what, stored, now));
  };
  compare("templates", evidence.template_hash.substr(0, 12), present.template_hash.substr(0, 12));
  compare("compiler", evidence.compiler, e.compiler);
  compare("runtime", evidence.runtime, e.runtime);
  compare("driver", evidence.driver, e.driver);
  return fmt::format("{}", fmt::join(parts, "; "));
}

std::string other_device(const TunedRow& tuned, const std::string& arch, const StoredEnvironment& e) {
  const std::string stored = device_text(tuned.evidence.provider, arch, tuned.evidence.features, tuned.row.cu_count,
                                         tuned.row.wave_size, tuned.row.estimated);
  const std::string now = device_text(e.provider, e.arch, e.features, e.cu_count, e.wave_size, e.estimated);
  return stored == now ? "" : fmt::format("expected {}, found {}", stored, now);
}

Problem problem_of(const TableRow& row) {
  return {row.head_dim,     row.v_head_dim, row.kv_group_num * row.num_kv_heads,
          row.num_kv_heads, row.extend_len, row.is_causal,
          row.dtype,        row.kv_dtype};
}

}  // namespace headtune
