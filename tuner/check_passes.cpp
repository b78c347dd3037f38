#include "tuner/check_passes.h"

#include <fmt/format.h>

#include <algorithm>

#include "tuner/check_cell.h"
#include "tuner/interrupt.h"
#include "tuner/retry.h"
#include "tuner/same_problem.h"

namespace headtune {
namespace {

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

}  // namespace

void CheckPasses::run(std::span<CheckSubject> subjects) const {
  const int passes = session_.environment().estimated ? 1 : request_.passes;
  for (int i = 1; i <= passes; ++i)
    for (CheckSubject& subject : subjects) pass(subject, fmt::format("pass {} of {}", i, passes));
  if (session_.environment().estimated) return;
  for (int i = 1; i <= passes; ++i)
    for (CheckSubject& subject : subjects)
      if (looks_slower(subject)) pass(subject, fmt::format("once more, pass {} of {}", i, passes));
}

/// Decided on the first passes: what follows them must not end the repetition half-way.
bool CheckPasses::looks_slower(const CheckSubject& s) const {
  if (s.failed) return false;
  const auto first_passes = static_cast<std::size_t>(request_.passes);
  return std::any_of(s.cells.begin(), s.cells.end(), [&](std::size_t i) {
    const auto found = s.passes.find(plan_.cells[i].shape);
    const std::size_t count = found == s.passes.end() ? 0 : std::min(found->second.size(), first_passes);
    return count &&
           judge(pass_of(plan_.cells[i].baseline), std::span(found->second).first(count), request_.rule).verdict ==
               Verdict::regress;
  });
}

void CheckPasses::pass(CheckSubject& subject, const std::string& what) const {
  if (subject.failed) return;
  if (interrupted()) throw Interrupted("interrupted; nothing was judged");
  observer_.step(fmt::format("head_dim {}, {}", subject.problem.head_dim, what));
  RunPlan run;
  run.verify = !subject.verified;
  for (const std::size_t i : subject.cells) run.shapes.push_back(plan_.cells[i].shape);
  run.inputs_for = swept_shapes(subject.problem);
  const VariantJob job{checked_op, subject.problem, subject.config, checked_index_bits, subject.binary.code};
  const RunOutcome outcome = run_settled([&](const RunPlan& plan) { return session_.runner()->run(job, plan); }, run,
                                         {.retries = 1, .more = [] { return !interrupted(); }});
  // Ctrl-C reaches the runner too; its end then says nothing about the kernel.
  if (interrupted()) throw Interrupted("interrupted; nothing was judged");
  subject.verified = true;
  subject.failed = failure_of(outcome);
  for (const ShapeTiming& timing : outcome.timings) subject.passes[timing.shape].push_back(pass_of(timing.timing));
}

/// Everything that the baseline has times of, asked for or not: as the sweep's inputs were made.
std::vector<TimedShape> CheckPasses::swept_shapes(const Problem& problem) const {
  std::vector<TimedShape> shapes;
  for (const TunedRow& row : baseline_.rows)
    if (same_problem(problem_of(row.row), problem) && other_device(row, baseline_.arch, session_.environment()).empty())
      for (const CellTime& time : row.evidence.times) shapes.push_back({time.batch, time.context});
  return shapes;
}

}  // namespace headtune
