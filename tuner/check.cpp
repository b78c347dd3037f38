#include "tuner/check.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "codegen/render.h"
#include "tuner/build_table.h"
#include "tuner/check_cell.h"
#include "tuner/check_passes.h"
#include "tuner/same_problem.h"

namespace headtune {
namespace {

class Check {
 public:
  Check(const Session& session, const TunedTable& baseline, const CheckRequest& request, CheckObserver& observer)
      : session_(session), baseline_(baseline), request_(request), observer_(observer) {
    plan_ = plan_check(baseline, {session.environment(), template_hash(checked_op, request.templates)}, request.filter,
                       request.allow_stale);
  }

  CheckReport run() {
    make_subjects();
    compile();
    const CheckPasses passes(session_, baseline_, request_, plan_, observer_);
    for (std::size_t begin = 0, end; begin < subjects_.size(); begin = end) {
      for (end = begin + 1; end < subjects_.size() && same_problem(subjects_[begin].problem, subjects_[end].problem);)
        ++end;
      passes.run({subjects_.begin() + static_cast<std::ptrdiff_t>(begin), end - begin});
    }
    return report();
  }

 private:
  /// One per row that has a cell to compare; the rows of a problem are neighbours, since tables are sorted.
  void make_subjects() {
    std::map<std::size_t, std::size_t> of_row;
    for (std::size_t i = 0; i < plan_.cells.size(); ++i) {
      const CheckCell& cell = plan_.cells[i];
      if (!cell.obstacle.empty()) continue;
      const auto [entry, fresh] = of_row.emplace(cell.row, subjects_.size());
      if (fresh) subjects_.push_back({cell.problem, baseline_.rows[cell.row].row.config, {}, {}, false, {}, {}});
      subjects_[entry->second].cells.push_back(i);
    }
  }

  void compile() {
    std::vector<CompileJob> jobs;
    const auto options = compile_options(session_.target(), request_.templates);
    for (const CheckSubject& s : subjects_)
      jobs.push_back({render(checked_op, s.problem, s.config, checked_index_bits), session_.target(), options});
    if (jobs.empty()) return;
    observer_.step(fmt::format("compile {} configurations", jobs.size()));
    session_.compile()(jobs, [&](std::size_t i, Binary binary) {
      subjects_[i].failed = failure_of(binary);
      subjects_[i].binary = std::move(binary);
    });
  }

  CheckReport report() {
    CheckReport report{session_.environment(), {}, plan_.not_asked, plan_.elsewhere, plan_.stale};
    for (const CheckCell& cell : plan_.cells) {
      report.cells.push_back({cell, {}, {}});
      report.cells.back().judgement.baseline_us = cell.baseline.median_us;
      report.cells.back().judgement.reason = cell.obstacle;
      if (cell.baseline.median_us > 0) report.cells.back().config = baseline_.rows[cell.row].row.config;
    }
    for (const CheckSubject& subject : subjects_)
      for (const std::size_t i : subject.cells) report.cells[i].judgement = judged(subject, plan_.cells[i]);
    return report;
  }

  Judgement judged(const CheckSubject& subject, const CheckCell& cell) const {
    return judge_cell(subject, cell, baseline_.rows[cell.row].evidence, session_.environment().estimated,
                      request_.rule);
  }

  const Session& session_;
  const TunedTable& baseline_;
  const CheckRequest& request_;
  CheckObserver& observer_;
  CheckPlan plan_;
  std::vector<CheckSubject> subjects_;
};

}  // namespace

int CheckReport::count(Verdict verdict) const {
  return static_cast<int>(std::count_if(cells.begin(), cells.end(),
                                        [&](const CheckedCell& cell) { return cell.judgement.verdict == verdict; }));
}

Verdict CheckReport::verdict() const {
  std::vector<Verdict> verdicts;
  for (const CheckedCell& cell : cells) verdicts.push_back(cell.judgement.verdict);
  return overall(verdicts);
}

CheckReport check(const Session& session, const TunedTable& baseline, const CheckRequest& request,
                  CheckObserver& observer) {
  if (session.runner() == nullptr) throw UsageError("--device none: a check needs a device to time on");
  TunedTable sorted = baseline;
  sort_rows(sorted);
  return Check(session, sorted, request, observer).run();
}

Exit exit_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::pass:
      return Exit::ok;
    case Verdict::regress:
      return Exit::regress;
    case Verdict::no_verdict:
      return Exit::no_verdict;
  }
  return Exit::no_verdict;
}

}  // namespace headtune
