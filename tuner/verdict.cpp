#include "tuner/verdict.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "codegen/render.h"
#include "tuner/interrupt.h"
#include "tuner/outcome.h"

namespace headtune {
namespace {

using Clock = std::chrono::steady_clock;

class Verdict {
 public:
  Verdict(const SweepSetup& setup, const SweepRequest& request, const Patience& patience, ProblemReport& report,
          SweepObserver& observer)
      : setup_(setup), request_(request), patience_(patience), report_(report), observer_(observer) {
    options_ = compile_options(setup.target, setup.templates);
    template_hash_ = template_hash(request.op, setup.templates);
  }

  /// Estimates do not vary, so screening was already the last word. Measured candidates near the best race once more.
  void settle_finalists() {
    const TimedCandidates known = candidates();
    std::vector<std::size_t> best;
    if (setup_.estimated)
      for (std::size_t i = 0; i < known.variants.size(); ++i) best.push_back(i);
    else
      best = finalists(known.candidates);
    if (!setup_.estimated) race(known, best);
    for (std::size_t i = 0; i < known.variants.size(); ++i) {
      const StoredVariant& variant = known.variants[i];
      const bool is_best = std::find(best.begin(), best.end(), i) != best.end();
      const auto present = setup_.store.find(variant);
      if (!present || failed(present->status)) continue;
      if (is_best || present->status != Status::timed)
        setup_.store.set_status(variant.id, is_best ? Status::timed : Status::outraced, "");
    }
  }

  void choose(const std::optional<Config>& incumbent) {
    const TimedCandidates known = candidates();
    std::vector<Candidate> timed;
    std::vector<StoredVariant> variants;
    for (std::size_t i = 0; i < known.variants.size(); ++i)
      if (known.variants[i].status == Status::timed)
        timed.push_back(known.candidates[i]), variants.push_back(known.variants[i]);
    SelectOptions options;
    options.incumbent = incumbent;
    report_.choices = select(timed, options);
    report_.left_out =
        static_cast<int>(std::count_if(timed.begin(), timed.end(), [](const Candidate& c) { return !trusted(c); }));
    if (!timed.empty() && report_.left_out == static_cast<int>(timed.size())) report_.no_verdict = moving_text();
    put_winners(variants);
  }

 private:
  TimedCandidates candidates() const {
    return timed_candidates(setup_.store, setup_.environment, report_.problem_id, template_hash_);
  }

  /// Interleaved times of the finalists at every shape, replacing their screening times.
  void race(const TimedCandidates& known, const std::vector<std::size_t>& best) {
    const bool settled = std::all_of(best.begin(), best.end(), [&](std::size_t i) {
      return known.variants[i].status == Status::timed && trusted(known.candidates[i]);
    });
    if (settled) return;
    const std::vector<VariantJob> jobs = finalist_jobs(known, best);
    for (const TimedShape& shape : request_.shapes) {
      if (interrupted()) throw Interrupted("interrupted; everything finished is kept, the same command goes on");
      observer_.step(report_.counts,
                     fmt::format("race of {} at context {}, batch {}", jobs.size(), shape.context, shape.batch));
      const auto start = Clock::now();
      const auto outcomes = race_settled([&] { return setup_.runner->race(jobs, shape, MeasureOptions{}); }, patience_);
      report_.seconds.device += std::chrono::duration<double>(Clock::now() - start).count();
      for (std::size_t i = 0; i < outcomes.size(); ++i) put_race(known.variants[best[i]], outcomes[i]);
    }
  }

  std::vector<VariantJob> finalist_jobs(const TimedCandidates& known, const std::vector<std::size_t>& best) const {
    const auto config = [&](std::size_t i) -> const Config& { return known.variants[best[i]].config; };
    std::vector<CompileJob> compile_jobs;
    for (std::size_t i = 0; i < best.size(); ++i)
      compile_jobs.push_back(
          {render(request_.op, report_.problem, config(i), request_.index_bits), setup_.target, options_});
    std::vector<VariantJob> jobs(best.size());
    CompileQueue queue(setup_.compile, std::move(compile_jobs));  // from the cache
    while (auto compiled = queue.next())
      jobs[compiled->first] = {request_.op, report_.problem, config(compiled->first), request_.index_bits,
                               std::move(compiled->second.code)};
    return jobs;
  }

  void put_race(const StoredVariant& variant, const RunOutcome& outcome) {
    if (outcome.status != RunStatus::ok) return;  // its screening time stays
    for (const ShapeTiming& timing : outcome.timings)
      setup_.store.put_timing(variant.id, stored(timing, report_.problem, setup_.estimated));
  }

  void put_winners(const std::vector<StoredVariant>& variants) {
    std::vector<StoredWinner> winners;
    for (const Choice& choice : report_.choices)
      for (const StoredVariant& variant : variants)
        if (variant.config == choice.winner.config)
          winners.push_back({variant.id, choice.context_min, choice.context_max, choice.reason});
    setup_.store.put_winners(setup_.environment, {report_.problem_id}, winners);
  }

  std::string moving_text() const {
    return fmt::format(
        "the times of all {} finalists still moved after {} attempts (unsettled or drift: a clock that ramps or "
        "throttles); let the device settle and run the same command",
        report_.left_out, 1 + patience_.retries);
  }

  const SweepSetup& setup_;
  const SweepRequest& request_;
  const Patience& patience_;
  ProblemReport& report_;
  SweepObserver& observer_;
  std::vector<std::string> options_;
  std::string template_hash_;
};

}  // namespace

void decide(const SweepSetup& setup, const SweepRequest& request, const std::optional<Config>& incumbent,
            const Patience& patience, ProblemReport& report, SweepObserver& observer) {
  Verdict verdict(setup, request, patience, report, observer);
  verdict.settle_finalists();
  verdict.choose(incumbent);
}

TimedCandidates timed_candidates(const Store& store, std::int64_t environment, std::int64_t problem,
                                 const std::string& template_hash) {
  TimedCandidates all;
  for (const StoredVariant& variant : store.variants(environment, problem)) {
    if (variant.status < Status::verified || variant.template_hash != template_hash) continue;
    Candidate candidate{variant.config, variant.registers(), {}};
    for (const StoredTiming& t : store.timings(variant.id))
      candidate.times.push_back({{t.context, t.batch}, t.median_us, t.low_us, t.high_us, trusted(t)});
    all.candidates.push_back(std::move(candidate));
    all.variants.push_back(variant);
  }
  return all;
}

}  // namespace headtune
