#include "tuner/check.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <span>

#include "codegen/render.h"
#include "tuner/build_table.h"
#include "tuner/interrupt.h"
#include "tuner/retry.h"

namespace headtune {
namespace {

constexpr const char* checked_op = "verify_shared_kv";
constexpr int index_bits = 32;  ///< as the sweep times

/// What a failure of a variant that once won means.
struct Failed {
  Verdict verdict = Verdict::regress;
  std::string reason;
};

/// One row of the baseline on its way through the device.
struct Subject {
  Problem problem;
  Config config;
  std::vector<std::size_t> cells;  ///< of the plan
  Binary binary;
  bool verified = false;
  std::optional<Failed> failed;
  std::map<TimedShape, std::vector<PassTime>> passes;
};

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

std::optional<Failed> failure_of(const Binary& binary) {
  switch (binary.status) {
    case CompileStatus::ok:
      return std::nullopt;
    case CompileStatus::error: {
      const auto error = binary.log.find("error:");
      return Failed{Verdict::regress,
                    "no longer compiles: " + first_line(binary.log.substr(error == std::string::npos ? 0 : error))};
    }
    case CompileStatus::crashed:
      return Failed{Verdict::regress, fmt::format("no longer compiles: compiler ended by signal {}", binary.signal)};
    case CompileStatus::timed_out:  // of this machine, not of the kernel
      return Failed{Verdict::no_verdict, "the compiler was killed after its time limit; raise --timeout"};
  }
  return std::nullopt;
}

std::optional<Failed> failure_of(const RunOutcome& outcome) {
  switch (outcome.status) {
    case RunStatus::ok:
      return std::nullopt;
    case RunStatus::verify_failed:
      return Failed{Verdict::regress, "verification failed: " + outcome.reason};
    case RunStatus::device_fault:
      return Failed{Verdict::regress, "device fault: " + outcome.reason};
    case RunStatus::crashed:
      return Failed{Verdict::regress, "crashed: " + outcome.reason};
    case RunStatus::timed_out:
      return Failed{Verdict::no_verdict, "timed out: " + outcome.reason + "; raise --timeout"};
    case RunStatus::unavailable:
      return Failed{Verdict::no_verdict, "the device could not run it: " + outcome.reason};
  }
  return std::nullopt;
}

PassTime pass_of(const Timing& timing) {
  return {timing.median_us,
          timing.interval.low,
          timing.interval.high,
          static_cast<int>(timing.samples_us.size()),
          timing.trusted() ? ""
          : timing.settled ? "drift"
                           : "unsettled",
          timing.counters};
}

PassTime pass_of(const CellTime& stored) {
  return {stored.median_us, stored.low_us, stored.high_us, stored.samples, "", stored.counters};
}

std::vector<CodeFigure> code_figures(const Evidence& evidence, const Binary& binary) {
  std::vector<CodeFigure> figures;
  for (const KernelResources& stored : evidence.kernels) {
    const auto found = binary.kernels.find(stored.kernel);
    if (found == binary.kernels.end()) continue;
    const KernelResources present = kernel_resources(found->first, found->second);
    for (const KernelFigure& figure : kernel_figures)
      figures.push_back(
          {stored.kernel + " " + figure.name, stored.*figure.member, present.*figure.member, figure.is_spill});
  }
  return figures;
}

/// What the simulator counted, where the baseline has it: it tells where an estimate's cycles went.
void add_counters(std::vector<CodeFigure>& figures, const PassTime& stored, const PassTime& present) {
  for (const auto& [name, count] : stored.counters)
    if (const auto found = present.counters.find(name); found != present.counters.end())
      figures.push_back({name, count, found->second, false});
}

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
    for (std::size_t begin = 0, end; begin < subjects_.size(); begin = end) {
      for (end = begin + 1; end < subjects_.size() && same_problem(subjects_[begin].problem, subjects_[end].problem);)
        ++end;
      measure({subjects_.begin() + static_cast<std::ptrdiff_t>(begin), end - begin});
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
    for (const Subject& s : subjects_)
      jobs.push_back({render(checked_op, s.problem, s.config, index_bits), session_.target(), options});
    if (jobs.empty()) return;
    observer_.step(fmt::format("compile {} configurations", jobs.size()));
    session_.compile()(jobs, [&](std::size_t i, Binary binary) {
      subjects_[i].failed = failure_of(binary);
      subjects_[i].binary = std::move(binary);
    });
  }

  /// Passes of one problem's rows take turns, so that a clock that moves meets all of them alike.
  void measure(std::span<Subject> subjects) {
    const int passes = session_.environment().estimated ? 1 : request_.passes;
    for (int i = 1; i <= passes; ++i)
      for (Subject& subject : subjects) pass(subject, fmt::format("pass {} of {}", i, passes));
    if (session_.environment().estimated) return;
    for (int i = 1; i <= passes; ++i)
      for (Subject& subject : subjects)
        if (looks_slower(subject)) pass(subject, fmt::format("once more, pass {} of {}", i, passes));
  }

  /// Decided on the first passes: what follows them must not end the repetition half-way.
  bool looks_slower(const Subject& s) const {
    if (s.failed) return false;
    return std::any_of(s.cells.begin(), s.cells.end(), [&](std::size_t i) {
      const auto found = s.passes.find(plan_.cells[i].shape);
      const std::size_t count = found == s.passes.end() ? 0 : std::min<std::size_t>(found->second.size(), passes());
      return count &&
             judge(pass_of(plan_.cells[i].baseline), std::span(found->second).first(count), request_.rule).verdict ==
                 Verdict::regress;
    });
  }

  std::size_t passes() const { return static_cast<std::size_t>(request_.passes); }

  void pass(Subject& subject, const std::string& what) {
    if (subject.failed) return;
    if (interrupted()) throw Interrupted("interrupted; nothing was judged");
    observer_.step(fmt::format("head_dim {}, {}", subject.problem.head_dim, what));
    RunPlan run;
    run.verify = !subject.verified;
    for (const std::size_t i : subject.cells) run.shapes.push_back(plan_.cells[i].shape);
    run.inputs_for = swept_shapes(subject.problem);
    const VariantJob job{checked_op, subject.problem, subject.config, index_bits, subject.binary.code};
    const RunOutcome outcome = run_settled([&](const RunPlan& plan) { return session_.runner()->run(job, plan); }, run,
                                           {.retries = 1, .more = [] { return !interrupted(); }});
    // Ctrl-C reaches the runner too; its end then says nothing about the kernel.
    if (interrupted()) throw Interrupted("interrupted; nothing was judged");
    subject.verified = true;
    subject.failed = failure_of(outcome);
    for (const ShapeTiming& timing : outcome.timings) subject.passes[timing.shape].push_back(pass_of(timing.timing));
  }

  /// Everything that the baseline has times of, asked for or not: as the sweep's inputs were made.
  std::vector<TimedShape> swept_shapes(const Problem& problem) const {
    std::vector<TimedShape> shapes;
    for (const TunedRow& row : baseline_.rows)
      if (same_problem(problem_of(row.row), problem) &&
          other_device(row, baseline_.arch, session_.environment()).empty())
        for (const CellTime& time : row.evidence.times) shapes.push_back({time.batch, time.context});
    return shapes;
  }

  CheckReport report() {
    CheckReport report{session_.environment(), {}, plan_.not_asked, plan_.elsewhere, plan_.stale};
    for (const CheckCell& cell : plan_.cells) {
      report.cells.push_back({cell, {}, {}});
      report.cells.back().judgement.baseline_us = cell.baseline.median_us;
      report.cells.back().judgement.reason = cell.obstacle;
      if (cell.baseline.median_us > 0) report.cells.back().config = baseline_.rows[cell.row].row.config;
    }
    for (const Subject& subject : subjects_)
      for (const std::size_t i : subject.cells) report.cells[i].judgement = judgement(subject, plan_.cells[i]);
    return report;
  }

  Judgement judgement(const Subject& subject, const CheckCell& cell) const {
    if (subject.failed) {
      Judgement j;
      j.verdict = subject.failed->verdict, j.reason = subject.failed->reason, j.baseline_us = cell.baseline.median_us;
      return j;
    }
    const auto& passes = subject.passes.at(cell.shape);
    auto figures = code_figures(baseline_.rows[cell.row].evidence, subject.binary);
    add_counters(figures, pass_of(cell.baseline), passes.front());
    if (session_.environment().estimated)
      return judge_estimated(cell.baseline.median_us, passes.front().median_us, figures);
    Judgement j = judge(pass_of(cell.baseline), passes, request_.rule);
    if (const std::string changed = differences(figures); j.verdict == Verdict::regress && !changed.empty())
      j.reason += "; " + changed;
    return j;
  }

  const Session& session_;
  const TunedTable& baseline_;
  const CheckRequest& request_;
  CheckObserver& observer_;
  CheckPlan plan_;
  std::vector<Subject> subjects_;
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
