#include "tuner/extend_below.h"

#include <algorithm>
#include <optional>
#include <set>

#include "codegen/render.h"
#include "tuner/interrupt.h"
#include "tuner/space.h"

namespace headtune {
namespace {

constexpr int shortest = 64;  ///< keys: below one tile there is nothing to choose

class Crossover {
 public:
  Crossover(const SweepSetup& setup, const SweepRequest& request, const Problem& problem, const Patience& patience)
      : setup_(setup), request_(request), problem_(problem), patience_(patience) {}

  /// False where either kernel does not compile, or the generic one does not compute the problem or is wrong.
  bool prepare(const Config& winner) {
    const auto space = setup_.templates / "headtune" / "extend_attention" / "space.json";
    const Candidates generic = enumerate(read_space(space), problem_, setup_.arch);
    if (generic.legal.empty()) return false;
    jobs_ = {job(request_.op, winner), job("extend_attention", generic.legal.front())};
    if (jobs_[0].code.empty() || jobs_[1].code.empty()) return false;
    RunPlan verify;
    return setup_.runner->run(jobs_[1], verify).status == RunStatus::ok;
  }

  /// None when a race failed or stayed unsettled.
  std::optional<ExtendBelow> find(int batch, int longest) const {
    for (int context = shortest; context <= longest; context *= 2) {
      if (interrupted()) return std::nullopt;
      const auto outcomes = race_settled(
          [&] {
            return setup_.runner->race(jobs_, {batch, context}, MeasureOptions{});
          },
          patience_);
      for (const RunOutcome& outcome : outcomes)
        if (outcome.status != RunStatus::ok || outcome.timings.empty() || !trusted(outcome)) return std::nullopt;
      const Timing &tuned = outcomes[0].timings[0].timing, &generic = outcomes[1].timings[0].timing;
      if (tuned.median_us <= generic.median_us) return ExtendBelow{batch, context == shortest ? 0 : context};
    }
    return ExtendBelow{batch, longest};
  }

 private:
  VariantJob job(const std::string& op, const Config& config) const {
    const CompileJob compile{render(op, problem_, config, request_.index_bits), setup_.target,
                             compile_options(setup_.target, setup_.templates)};
    return {op, problem_, config, request_.index_bits, compile_one(setup_.compile, compile).code};
  }

  const SweepSetup& setup_;
  const SweepRequest& request_;
  const Problem& problem_;
  const Patience& patience_;
  std::vector<VariantJob> jobs_;
};

std::vector<StoredVariant> winners_of(const SweepSetup& setup, std::int64_t problem_id) {
  std::set<std::int64_t> ids;
  for (const StoredWinner& winner : setup.store.winners(setup.environment, problem_id)) ids.insert(winner.variant);
  std::vector<StoredVariant> winners = setup.store.variants(setup.environment, problem_id);
  std::erase_if(winners, [&](const StoredVariant& variant) { return !ids.contains(variant.id); });
  return winners;
}

}  // namespace

void find_extend_below(const SweepSetup& setup, const SweepRequest& request, const Problem& problem,
                       std::int64_t problem_id, const Patience& patience) {
  if (request.op != "verify_shared_kv") return;
  int longest = 0;
  for (const TimedShape& shape : request.shapes) longest = std::max(longest, shape.context);
  for (const StoredVariant& winner : winners_of(setup, problem_id)) {
    std::set<int> batches;
    for (const TimedShape& shape : request.shapes) batches.insert(shape.batch);
    for (const ExtendBelow& known : setup.store.extend_below(winner.id))
      if (!request.fresh) batches.erase(known.batch);
    Crossover crossover(setup, request, problem, patience);
    if (batches.empty() || !crossover.prepare(winner.config)) continue;
    for (const int batch : batches)
      if (const auto found = crossover.find(batch, longest)) setup.store.put_extend_below(winner.id, *found);
  }
}

}  // namespace headtune
