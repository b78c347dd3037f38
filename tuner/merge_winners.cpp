#include "tuner/merge_winners.h"

#include <map>
#include <string>

#include "tuner/select.h"
#include "tuner/sweep.h"

namespace headtune {
namespace {

/// As the database's trigger asks: an estimate cannot win beside measured times of the same device.
bool beaten_by_measured(const Store& out, const MergedCell& cell) {
  const auto environments = out.environments();
  const StoredEnvironment& mine = environments.at(cell.environment);
  if (!mine.estimated) return false;
  for (const auto& [id, e] : environments) {
    if (e.estimated || e.arch != mine.arch || e.cu_count != mine.cu_count || e.wave_size != mine.wave_size) continue;
    for (const StoredVariant& variant : out.variants(id, cell.problem))
      if (variant.status == Status::timed) return true;
  }
  return false;
}

void copy_winners(Store& out, const MergedCell& cell, const MergeSource& source) {
  const Store& in = *source.input;
  std::map<std::int64_t, StoredVariant> old;
  for (StoredVariant& variant : in.variants(source.environment, source.problem)) old[variant.id] = std::move(variant);
  std::vector<StoredWinner> winners = in.winners(source.environment, source.problem);
  for (StoredWinner& winner : winners) {
    StoredVariant key = old.at(winner.variant);
    key.environment = cell.environment, key.problem = cell.problem;
    winner.variant = out.find(key)->id;
  }
  out.put_winners(cell.environment, {cell.problem}, winners);
}

/// The variants that may win, with their ids.
TimedCandidates finalists(const Store& out, const MergedCell& cell, const std::string& template_hash) {
  const TimedCandidates known = timed_candidates(out, cell.environment, cell.problem, template_hash);
  TimedCandidates timed;
  for (std::size_t i = 0; i < known.variants.size(); ++i)
    if (known.variants[i].status == Status::timed) {
      timed.candidates.push_back(known.candidates[i]);
      timed.variants.push_back(known.variants[i]);
    }
  return timed;
}

/// Selection over the variants of the templates that the last input's winners have; that winner is the incumbent.
void select_winners(Store& out, const MergedCell& cell, const MergeSource& last) {
  const std::int64_t incumbent = last.input->winners(last.environment, last.problem).front().variant;
  SelectOptions options;
  std::string template_hash;
  for (const StoredVariant& variant : last.input->variants(last.environment, last.problem))
    if (variant.id == incumbent) options.incumbent = variant.config, template_hash = variant.template_hash;
  const TimedCandidates timed = finalists(out, cell, template_hash);
  std::vector<StoredWinner> winners;
  for (const Choice& choice : select(timed.candidates, options))
    for (const StoredVariant& variant : timed.variants)
      if (variant.config == choice.winner.config)
        winners.push_back({variant.id, choice.context_min, choice.context_max, choice.reason});
  out.put_winners(cell.environment, {cell.problem}, winners);
}

}  // namespace

WinnersFrom choose_winners(Store& out, const MergedCell& cell, const std::vector<MergeSource>& sources) {
  const MergeSource* last = nullptr;  // that has winners
  for (const MergeSource& source : sources)
    if (!source.input->winners(source.environment, source.problem).empty()) last = &source;
  if (last == nullptr) return WinnersFrom::nowhere;
  if (beaten_by_measured(out, cell)) return WinnersFrom::dethroned;
  if (sources.size() == 1) return copy_winners(out, cell, *last), WinnersFrom::one_input;
  return select_winners(out, cell, *last), WinnersFrom::selection;
}

}  // namespace headtune
