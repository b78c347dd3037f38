#include "tuner/sweep.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <map>
#include <optional>

#include "codegen/render.h"
#include "tables/tables.h"
#include "tuner/extend_below.h"
#include "tuner/interrupt.h"
#include "tuner/op.h"
#include "tuner/retime.h"
#include "tuner/retry.h"
#include "tuner/search_guess.h"
#include "tuner/space.h"
#include "tuner/tolerance.h"

namespace headtune {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

constexpr const char* screened = "screened";  ///< reason of a verified variant whose screening times are complete

/// Screening ranks; the finalists are timed again, interleaved and to full precision.
MeasureOptions screening() {
  MeasureOptions options;
  options.sample_us = 500;
  options.preheat = {3, 0.03, 1, 60};
  options.stop = {0.03, 6, 12, 60'000};
  return options;
}

/// Constants of the rendered source, without its layout: "HEAD_DIM=64 BLOCK_H=4 ...".
std::string defines_of(const std::string& source, const std::vector<std::string>& options) {
  std::string defines;
  constexpr std::string_view mark = "static constexpr int ";
  for (std::size_t at = 0; (at = source.find(mark, at)) != std::string::npos;) {
    at += mark.size();
    std::string constant = source.substr(at, source.find(';', at) - at);
    constant.erase(std::remove(constant.begin(), constant.end(), ' '), constant.end());
    defines += (defines.empty() ? "" : " ") + constant;
  }
  for (const std::string& option : options)
    if (option.rfind("-I", 0) != 0) defines += " " + option;
  return defines;
}

Status status_of(const Binary& binary) {
  switch (binary.status) {
    case CompileStatus::ok:
      return Status::compiled;
    case CompileStatus::error:
      return Status::compile_error;
    case CompileStatus::crashed:
      return Status::compile_crashed;
    case CompileStatus::timed_out:
      return Status::compile_timed_out;
  }
  return Status::compile_error;
}

Status status_of(RunStatus status) {
  switch (status) {
    case RunStatus::ok:
      return Status::verified;
    case RunStatus::verify_failed:
      return Status::verify_failed;
    case RunStatus::device_fault:
      return Status::device_fault;
    case RunStatus::unavailable:
      return Status::unavailable;
    case RunStatus::crashed:
      return Status::crashed;
    case RunStatus::timed_out:
      return Status::timed_out;
  }
  return Status::crashed;
}

std::string reason_of(const Binary& binary) {
  if (binary.status == CompileStatus::crashed) return fmt::format("compiler ended by signal {}", binary.signal);
  if (binary.status == CompileStatus::timed_out) return "compiler killed after its time limit";
  const auto error = binary.log.find("error:");
  return binary.status == CompileStatus::ok ? "" : binary.log.substr(error == std::string::npos ? 0 : error, 400);
}

StoredTiming stored(const ShapeTiming& shape, const Problem& problem, bool estimated) {
  const Timing& t = shape.timing;
  const Case work = uniform_case("", shape.shape.batch, shape.shape.context, problem.extend_len);
  return {shape.shape.context,
          shape.shape.batch,
          t.method,
          t.median_us,
          t.interval.low,
          t.interval.high,
          static_cast<long long>(byte_floor(problem, work)),
          t.clock_mhz,
          t.flags(),
          estimated,
          t.samples_us};
}

double error_bound(const Problem& problem) {
  int keys = 1;
  for (const Case& shape : quick_cases(problem)) keys = std::max(keys, shape.longest_prefix() + problem.extend_len);
  return relative_l2_bound(tolerance(problem, keys));
}

/// Reasons with their numbers of configurations, most frequent first.
std::vector<PrunedReason> by_reason(const std::vector<Pruned>& pruned) {
  std::map<std::string, PrunedReason> reasons;
  for (const Pruned& one : pruned) ++reasons.try_emplace(one.reason, one.reason, 0, one.config).first->second.count;
  std::vector<PrunedReason> sorted;
  for (const auto& [text, reason] : reasons) sorted.push_back(reason);
  std::stable_sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) { return a.count > b.count; });
  return sorted;
}

/// Selection's objective up to a constant, which the other candidates decide; infinity without every time.
double score_of(const std::vector<StoredTiming>& timings, std::size_t shapes) {
  if (timings.size() < shapes) return std::numeric_limits<double>::infinity();
  double sum = 0;
  for (const StoredTiming& timing : timings) sum += std::log(timing.median_us);
  return sum / static_cast<double>(timings.size());
}

/// The sweep of one problem.
class ProblemSweep {
 public:
  ProblemSweep(const SweepSetup& setup, const SweepRequest& request, const Problem& problem, SweepObserver& observer)
      : setup_(setup), request_(request), problem_(problem), observer_(observer) {
    report_.problem = problem;
    report_.problem_id = setup.store.add(StoredProblem{request.op, problem});
    options_ = compile_options(setup.target, setup.templates);
    template_hash_ = template_hash(request.op, setup.templates);
  }

  ProblemReport run() {
    const auto start = Clock::now();
    plan();
    report_.seconds.plan = seconds_since(start);
    work();
    if (setup_.runner != nullptr) {
      settle_finalists();
      choose();
      const auto retiming = Clock::now();
      report_.alarms = retime_winners(setup_, request_, problem_, report_.problem_id, patience());
      find_extend_below(setup_, request_, problem_, report_.problem_id, patience());
      report_.seconds.device += seconds_since(retiming);
    }
    report_.seconds.wall = seconds_since(start);
    return report_;
  }

 private:
  struct Pending {
    StoredVariant variant;
    bool verified = false;  ///< in an earlier sweep; only times are missing
    std::size_t index = 0;  ///< in the space
  };

  /// Fills pending_ with what the database lacks.
  void plan() {
    const Space space = read_space(setup_.templates / "headtune" / request_.op / "space.json");
    const Candidates candidates = enumerate(space, problem_, setup_.arch);
    if (candidates.legal.empty()) require_legal(space, problem_, setup_.arch);  // throws with the reasons
    counts().total = static_cast<int>(candidates.legal.size() + candidates.pruned.size());
    counts().pruned = static_cast<int>(candidates.pruned.size());
    setup_.store.put_space(
        setup_.environment, report_.problem_id,
        {static_cast<int>(candidates.legal.size()), request_.search.text(), by_reason(candidates.pruned)});
    incumbent_ = incumbent();
    trials_.emplace(request_.search, search_space(space, candidates.legal));
    for (std::size_t i = 0; i < candidates.legal.size(); ++i) plan_variant(i, candidates.legal[i]);
    counts().untried = trials_->left_out();
    observer_.step(counts(), "planned");
  }

  SearchSpace search_space(const Space& space, const std::vector<Config>& legal) const {
    SearchSpace result{legal, {}, {}};
    for (const Parameter& parameter : space.parameters) result.axes.push_back(parameter.name);
    if (request_.search.kind == SearchKind::guided && request_.op == "verify_shared_kv")
      for (const Config& config : legal)
        result.guesses.push_back(guess(problem_, config, setup_.arch, request_.shapes));
    return result;
  }

  void plan_variant(std::size_t index, const Config& config) {
    StoredVariant variant = blank(config, defines_of(render_source(config), options_), template_hash_);
    const auto known = setup_.store.find(variant);
    if (!known || request_.fresh) {
      pending_[index] = {variant, false, index};
    } else if ((known->status == Status::compiled && setup_.runner == nullptr) || failed(known->status) ||
               (missing_shapes(known->id).empty() && known->status != Status::compiled)) {
      ++counts().resumed;
      trials_->finished(index, score(*known));
    } else {
      pending_[index] = {*known, known->status != Status::compiled, index};
    }
  }

  StoredVariant blank(const Config& config, std::string defines, std::string hash) const {
    StoredVariant variant;
    variant.environment = setup_.environment;
    variant.problem = report_.problem_id;
    variant.config = config;
    variant.defines = std::move(defines);
    variant.template_hash = std::move(hash);
    return variant;
  }

  std::string render_source(const Config& config) const {
    return render(request_.op, problem_, config, request_.index_bits);
  }

  CompileJob compile_job(const Config& config) const { return {render_source(config), setup_.target, options_}; }

  /// Without a time, or with one that was taken while the device moved.
  std::vector<TimedShape> missing_shapes(std::int64_t variant) const {
    std::vector<TimedShape> missing = request_.shapes;
    for (const StoredTiming& timing : setup_.store.timings(variant))
      if (trusted(timing)) std::erase(missing, TimedShape{timing.batch, timing.context});
    return missing;
  }

  double score(const StoredVariant& variant) const {
    return score_of(failed(variant.status) ? std::vector<StoredTiming>{} : wanted_timings(variant.id),
                    request_.shapes.size());
  }

  /// Of the shapes of this sweep; earlier ones may have timed others.
  std::vector<StoredTiming> wanted_timings(std::int64_t variant) const {
    std::vector<StoredTiming> timings = setup_.store.timings(variant);
    std::erase_if(timings, [&](const StoredTiming& t) {
      const TimedShape shape{t.batch, t.context};
      return std::find(request_.shapes.begin(), request_.shapes.end(), shape) == request_.shapes.end();
    });
    return timings;
  }

  /// Batch after batch until the search has nothing left or its budget ends.
  void work() {
    for (auto batch = trials_->next_batch(); !batch.empty(); batch = trials_->next_batch()) work(batch);
    counts().untried = counts().total - counts().done() + counts().untried - compile_only();
    observer_.step(counts(), "");
  }

  /// Compiled variants are an end of their own where there is no device.
  int compile_only() const { return setup_.runner == nullptr ? report_.counts.compiled : 0; }

  /// Compiles a batch and runs each variant as soon as it is compiled.
  void work(const std::vector<std::size_t>& batch) {
    std::vector<CompileJob> jobs;
    for (const std::size_t index : batch) jobs.push_back(compile_job(pending_.at(index).variant.config));
    CompileQueue queue(setup_.compile, std::move(jobs));
    for (auto waiting = Clock::now();; waiting = Clock::now()) {
      auto compiled = queue.next();
      report_.seconds.compile_wait += seconds_since(waiting);
      if (interrupted()) throw Interrupted("interrupted; everything finished is kept, the same command goes on");
      if (!compiled) return;
      Pending& pending = pending_.at(batch[compiled->first]);
      finish(pending, std::move(compiled->second));
      trials_->finished(pending.index, score(pending.variant));
      if (trials_->out_of_time()) return;
    }
  }

  void finish(Pending& pending, Binary binary) {
    StoredVariant& variant = pending.variant;
    report_.seconds.compile += binary.cached ? 0 : binary.seconds;
    if (!pending.verified) {
      variant.status = status_of(binary);
      variant.reason = reason_of(binary);
      variant.resources = binary.kernels;
      variant.compile_seconds = binary.seconds;
      variant.verify_error.reset();
      // What runs next is stored with its outcome: one commit a variant.
      if (setup_.runner == nullptr || binary.status != CompileStatus::ok) variant.id = setup_.store.put(variant);
    }
    if (binary.status != CompileStatus::ok) {
      ++counts().failed;
    } else {
      ++counts().compiled;
      if (setup_.runner != nullptr) verify_and_screen(pending, std::move(binary.code));
    }
    observer_.step(counts(), "");
  }

  VariantJob variant_job(const Config& config, std::vector<std::byte> code) const {
    return {request_.op, problem_, config, request_.index_bits, std::move(code)};
  }

  void verify_and_screen(Pending& pending, std::vector<std::byte> code) {
    StoredVariant& variant = pending.variant;
    RunPlan run;
    run.verify = !pending.verified;
    run.shapes = pending.verified ? missing_shapes(variant.id) : request_.shapes;
    run.measure = screening();
    const VariantJob job = variant_job(variant.config, std::move(code));
    const RunOutcome outcome =
        run_settled([&](const RunPlan& plan) { return setup_.runner->run(job, plan); }, run, patience());
    // Ctrl-C reaches the runner too; its end then says nothing about the variant.
    if (interrupted() && outcome.status != RunStatus::ok) return;
    report_.seconds.device += outcome.verify_seconds + outcome.measure_seconds;
    variant.status = status_of(outcome.status);
    variant.reason = outcome.status == RunStatus::ok ? screened : outcome.reason;
    if (outcome.status == RunStatus::ok && run.verify) {
      variant.verify_error = outcome.verification.relative_l2;
      variant.verify_tolerance = error_bound(problem_);
    }
    std::vector<StoredTiming> timings;
    if (outcome.status == RunStatus::ok)
      for (const ShapeTiming& timing : outcome.timings) timings.push_back(stored(timing, problem_, setup_.estimated));
    if (outcome.status != RunStatus::ok || run.verify) {
      variant.id = setup_.store.put(variant, timings);
    } else {
      setup_.store.set_status(variant.id, Status::verified, screened);
      for (const StoredTiming& timing : timings) setup_.store.put_timing(variant.id, timing);
    }
    outcome.status == RunStatus::ok ? ++counts().verified : ++counts().failed;
    if (outcome.status == RunStatus::ok) ++counts().timed;
  }

  Patience patience() const {
    return {.more = [this] { return !interrupted() && !trials_->out_of_time(); }};
  }

  TimedCandidates candidates() const {
    return timed_candidates(setup_.store, setup_.environment, report_.problem_id, template_hash_);
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

  /// Interleaved times of the finalists at every shape, replacing their screening times.
  void race(const TimedCandidates& known, const std::vector<std::size_t>& best) {
    const bool settled = std::all_of(best.begin(), best.end(), [&](std::size_t i) {
      return known.variants[i].status == Status::timed && trusted(known.candidates[i]);
    });
    if (settled) return;
    std::vector<VariantJob> jobs = finalist_jobs(known, best);
    for (const TimedShape& shape : request_.shapes) {
      if (interrupted()) throw Interrupted("interrupted; everything finished is kept, the same command goes on");
      observer_.step(counts(),
                     fmt::format("race of {} at context {}, batch {}", jobs.size(), shape.context, shape.batch));
      const auto start = Clock::now();
      const auto outcomes =
          race_settled([&] { return setup_.runner->race(jobs, shape, MeasureOptions{}); }, patience());
      report_.seconds.device += seconds_since(start);
      for (std::size_t i = 0; i < outcomes.size(); ++i) put_race(known.variants[best[i]], outcomes[i]);
    }
  }

  std::vector<VariantJob> finalist_jobs(const TimedCandidates& known, const std::vector<std::size_t>& best) {
    std::vector<CompileJob> compile_jobs;
    for (const std::size_t i : best) compile_jobs.push_back(compile_job(known.variants[i].config));
    std::vector<VariantJob> jobs(best.size());
    CompileQueue queue(setup_.compile, std::move(compile_jobs));  // from the cache
    while (auto compiled = queue.next())
      jobs[compiled->first] =
          variant_job(known.variants[best[compiled->first]].config, std::move(compiled->second.code));
    return jobs;
  }

  void put_race(const StoredVariant& variant, const RunOutcome& outcome) {
    if (outcome.status != RunStatus::ok) return;  // its screening time stays
    for (const ShapeTiming& timing : outcome.timings)
      setup_.store.put_timing(variant.id, stored(timing, problem_, setup_.estimated));
  }

  void choose() {
    const TimedCandidates known = candidates();
    std::vector<Candidate> timed;
    std::vector<StoredVariant> variants;
    for (std::size_t i = 0; i < known.variants.size(); ++i)
      if (known.variants[i].status == Status::timed)
        timed.push_back(known.candidates[i]), variants.push_back(known.variants[i]);
    SelectOptions options;
    options.incumbent = incumbent_;
    report_.choices = select(timed, options);
    const bool none = std::none_of(timed.begin(), timed.end(), [](const Candidate& c) { return trusted(c); });
    if (none && !timed.empty()) report_.no_verdict = untrusted_text(variants);
    std::vector<StoredWinner> winners;
    for (const Choice& choice : report_.choices)
      for (const StoredVariant& variant : variants)
        if (variant.config == choice.winner.config)
          winners.push_back({variant.id, choice.context_min, choice.context_max, choice.reason});
    setup_.store.put_winners(setup_.environment, {report_.problem_id}, winners);
  }

  std::string untrusted_text(const std::vector<StoredVariant>& variants) const {
    return fmt::format(
        "the times of all {} finalists still moved after {} attempts (unsettled or drift: a clock that ramps or "
        "throttles); let the device settle and run the same command",
        variants.size(), 1 + patience().retries);
  }

  /// The configuration that won before: in this database, else in the table that headtune ships for this device.
  std::optional<Config> incumbent() const {
    const auto winners = setup_.store.winners(setup_.environment, report_.problem_id);
    for (const StoredVariant& variant : setup_.store.variants(setup_.environment, report_.problem_id))
      if (!winners.empty() && variant.id == winners.front().variant) return variant.config;
    if (request_.op != "verify_shared_kv" || request_.shapes.empty()) return std::nullopt;
    const DeviceKey device{setup_.arch.name, setup_.arch.cu_count, setup_.arch.wave_size};
    const Match match = tables::lookup(problem_, device, request_.shapes.front().context);
    return match.level == MatchLevel::exact ? std::optional(match.config) : std::nullopt;
  }

  SweepCounts& counts() { return report_.counts; }

  const SweepSetup& setup_;
  const SweepRequest& request_;
  const Problem problem_;
  SweepObserver& observer_;
  std::vector<std::string> options_;
  std::string template_hash_;
  std::map<std::size_t, Pending> pending_;  ///< by place in the space
  std::optional<Trials> trials_;
  std::optional<Config> incumbent_;
  ProblemReport report_;
};

}  // namespace

ProblemReport sweep(const SweepSetup& setup, const SweepRequest& request, const Problem& problem,
                    SweepObserver& observer) {
  return ProblemSweep(setup, request, problem, observer).run();
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
