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

  /// Compiles and verifies the generic kernel. False where it does not compute the problem, compile or come out right.
  bool prepare() {
    const auto config = extend_config(problem_, setup_.arch, setup_.templates);
    if (!config) return false;
    generic_ = job("extend_attention", *config);
    return !generic_.code.empty() && setup_.runner->run(generic_, RunPlan{}).status == RunStatus::ok;
  }

  /// False where the winner does not compile.
  bool race_against(const Config& winner) {
    jobs_ = {job(request_.op, winner), generic_};
    return !jobs_.front().code.empty();
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
  VariantJob generic_;
  std::vector<VariantJob> jobs_;  ///< tuned, generic
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
  std::optional<Crossover> crossover;
  for (const StoredVariant& winner : winners_of(setup, problem_id)) {
    std::set<int> batches;
    for (const TimedShape& shape : request.shapes) batches.insert(shape.batch);
    for (const ExtendBelow& known : setup.store.extend_below(winner.id))
      if (!request.fresh) batches.erase(known.batch);
    if (batches.empty()) continue;
    if (!crossover && !crossover.emplace(setup, request, problem, patience).prepare()) return;
    if (!crossover->race_against(winner.config)) continue;
    for (const int batch : batches)
      if (const auto found = crossover->find(batch, longest)) setup.store.put_extend_below(winner.id, *found);
  }
}

}  // namespace headtune
