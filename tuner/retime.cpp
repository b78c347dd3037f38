#include "tuner/retime.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "codegen/render.h"
#include "tables/plan.h"
#include "tuner/build_table.h"
#include "tuner/interrupt.h"
#include "tuner/space.h"
#include "tuner/table_file.h"

namespace headtune {
namespace {

/// Differences that selection itself calls none (SelectOptions::split_regret) need no alarm.
constexpr double tolerated = 0.02;

KernelLaunch kernel_launch(const char* kernel, const Launch& l) {
  const auto count = [](int n) { return static_cast<unsigned>(n); };
  return {kernel,
          {count(l.grid_x), count(l.grid_y), count(l.grid_z)},
          count(l.block_x),
          count(l.dynamic_lds_bytes),
          l.dependent};
}

Plan plan_of(const tables::LaunchPlan& shipped) {
  Plan plan;
  plan.num_splits = shipped.num_splits, plan.min_keys_per_split = shipped.min_keys_per_split;
  plan.partial_out_bytes = static_cast<std::size_t>(shipped.workspace.partial_out_bytes);
  plan.partial_lse_bytes = static_cast<std::size_t>(shipped.workspace.partial_lse_bytes);
  plan.split_done_bytes = static_cast<std::size_t>(shipped.workspace.split_done_bytes);
  plan.launches.push_back(kernel_launch("verify_shared_kv_stage1", shipped.stage1));
  if (!shipped.match.config.fuse_combine)
    plan.launches.push_back(kernel_launch("verify_shared_kv_stage2", shipped.stage2));
  return plan;
}

StoredRetiming retiming(const TimedShape& shape, const Timing& swept, const Timing& table) {
  return {shape.context,       shape.batch,     swept.median_us,    swept.interval.low,
          swept.interval.high, table.median_us, table.interval.low, table.interval.high};
}

/// The winners of one problem against themselves.
class Retimer {
 public:
  Retimer(const SweepSetup& setup, const SweepRequest& request, const Problem& problem, std::int64_t problem_id,
          const Patience& patience)
      : setup_(setup), request_(request), problem_(problem), problem_id_(problem_id), patience_(patience) {}

  std::vector<std::string> run() {
    const auto rows = tuned_rows(setup_.store, setup_.environment, problem_id_);
    if (rows.empty()) return {};
    table_ = table_json({setup_.arch.name, rows});
    const auto variants = setup_.store.variants(setup_.environment, problem_id_);
    for (const StoredWinner& winner : setup_.store.winners(setup_.environment, problem_id_))
      for (const StoredVariant& variant : variants)
        if (variant.id == winner.variant) retime(winner, variant);
    return std::move(alarms_);
  }

 private:
  void retime(const StoredWinner& winner, const StoredVariant& variant) {
    const auto known = setup_.store.retimings(variant.id);
    for (const TimedShape& shape : request_.shapes) {
      if (shape.context < winner.context_min || shape.context > winner.context_max) continue;
      const auto same = std::find_if(known.begin(), known.end(), [&](const StoredRetiming& r) {
        return r.context == shape.context && r.batch == shape.batch;
      });
      if (interrupted()) return;
      if (same == known.end())
        race(variant, shape);
      else
        judge(*same);
    }
  }

  void race(const StoredVariant& variant, const TimedShape& shape) {
    const DeviceKey device{setup_.arch.name, setup_.arch.cu_count, setup_.arch.wave_size};
    const AsShipped shipped = as_shipped(table_, problem_, device, shape);
    if (!(shipped.config == variant.config))
      alarms_.push_back(
          fmt::format("the table gives {} at {}x{}", to_string(shipped.config), shape.batch, shape.context));
    std::vector<VariantJob> jobs = {job(variant.config, "swept"), job(shipped.config, "shipped")};
    jobs[1].plan = shipped.plan;
    const auto outcomes = race_settled([&] { return setup_.runner->race(jobs, shape, MeasureOptions{}); }, patience_);
    for (const RunOutcome& outcome : outcomes) {
      if (interrupted()) return;
      if (outcome.status != RunStatus::ok || outcome.timings.empty()) return fail(shape, outcome);
    }
    // Of two that still moved nothing is known; the next sweep tries again.
    if (std::any_of(outcomes.begin(), outcomes.end(), [](const RunOutcome& o) { return !trusted(o); })) return;
    const StoredRetiming result = retiming(shape, outcomes[0].timings[0].timing, outcomes[1].timings[0].timing);
    setup_.store.put_retiming(variant.id, result);
    judge(result);
  }

  /// The comment makes a source of its own, so that the shipped kernel is compiled and not taken from the cache.
  VariantJob job(const Config& config, const std::string& role) {
    const std::string source = render(request_.op, problem_, config, request_.index_bits);
    const CompileJob compile{role == "swept" ? source : "// " + role + "\n" + source, setup_.target,
                             compile_options(setup_.target, setup_.templates)};
    return {request_.op, problem_, config, request_.index_bits, compile_one(setup_.compile, compile).code};
  }

  void judge(const StoredRetiming& result) {
    if (differs(result)) alarms_.push_back(describe(result));
  }

  void fail(const TimedShape& shape, const RunOutcome& outcome) {
    alarms_.push_back(fmt::format("does not run through the table at {}x{}: {}, {}", shape.batch, shape.context,
                                  name(outcome.status), outcome.reason));
  }

  const SweepSetup& setup_;
  const SweepRequest& request_;
  const Problem& problem_;
  std::int64_t problem_id_;
  const Patience& patience_;
  std::string table_;
  std::vector<std::string> alarms_;
};

}  // namespace

AsShipped as_shipped(const std::string& table_text, const Problem& problem, const DeviceKey& device,
                     const TimedShape& shape) {
  const TunedTable table = parse_table(table_text, "the winners' table");
  std::vector<TableRow> rows;
  for (const TunedRow& row : table.rows) rows.push_back(row.row);
  const tables::Rows shipped{table.arch.c_str(), rows.data(), static_cast<int>(rows.size())};
  const Match match = tables::lookup(shipped, problem, device, shape.context);
  return {match.config, plan_of(tables::plan(match, problem, device, shape.batch, shape.context))};
}

bool differs(const StoredRetiming& r) {
  const bool apart = r.table_low_us > r.swept_high_us || r.table_high_us < r.swept_low_us;
  return apart && std::abs(r.table_us / r.swept_us - 1) > tolerated;
}

std::string describe(const StoredRetiming& r) {
  return fmt::format("{:+.1f} % through the table at {}x{} ({:.2f} us as swept, {:.2f} us)",
                     100 * (r.table_us / r.swept_us - 1), r.batch, r.context, r.swept_us, r.table_us);
}

std::vector<std::string> retime_winners(const SweepSetup& setup, const SweepRequest& request, const Problem& problem,
                                        std::int64_t problem_id, const Patience& patience) {
  if (request.op != "verify_shared_kv") return {};  // the only operator that tables are made for
  return Retimer(setup, request, problem, problem_id, patience).run();
}

}  // namespace headtune
