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
#include "tuner/outcome.h"
#include "tuner/retime.h"
#include "tuner/retry.h"
#include "tuner/search_guess.h"
#include "tuner/space.h"
#include "tuner/verdict.h"

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
      decide(setup_, request_, incumbent_, patience(), report_, observer_);
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

  void verify_and_screen(Pending& pending, std::vector<std::byte> code) {
    StoredVariant& variant = pending.variant;
    RunPlan run;
    run.verify = !pending.verified;
    run.shapes = pending.verified ? missing_shapes(variant.id) : request_.shapes;
    run.inputs_for = request_.shapes;  // a sweep that goes on must repeat the times of one that was not interrupted
    run.measure = screening();
    const VariantJob job{request_.op, problem_, variant.config, request_.index_bits, std::move(code)};
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

}  // namespace headtune
