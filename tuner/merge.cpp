#include "tuner/merge.h"

#include <fmt/format.h>

#include <map>
#include <memory>

#include "tuner/error.h"
#include "tuner/merge_result.h"
#include "tuner/merge_winners.h"
#include "tuner/space.h"

namespace headtune {
namespace {

using VariantKey = std::pair<std::string, std::string>;  ///< defines, template hash
VariantKey key_of(const StoredVariant& variant) { return {variant.defines, variant.template_hash}; }

class Merge {
 public:
  Merge(Store& out, const std::vector<std::filesystem::path>& files, OnConflict policy) : out_(out), policy_(policy) {
    for (const auto& file : files) inputs_.push_back(std::make_unique<Store>(file, Access::read_only));
  }

  MergeReport run() {
    for (const auto& input : inputs_) add_keys(*input);
    for (const auto& [cell, sources] : cells_) merge_cell(cell, sources);
    // After all times: a measured time removes estimated winners.
    for (const auto& [cell, sources] : cells_) note(cell, choose_winners(out_, cell, sources));
    return report_;
  }

 private:
  void add_keys(const Store& in) {
    for (const auto& [environment, facts] : in.environments())
      for (const auto& [problem, stored] : in.problems())
        if (!in.variants(environment, problem).empty())
          cells_[{out_.add(facts), out_.add(stored)}].push_back({&in, environment, problem});
  }

  std::string describe(const MergedCell& cell) const {
    const StoredEnvironment e = out_.environments().at(cell.environment);
    const StoredProblem p = out_.problems().at(cell.problem);
    return fmt::format("{}{} ({}), {}, head_dim {}/{}, {}/{} heads, extend_len {}, {}", e.arch, e.features, e.compiler,
                       p.op, p.problem.head_dim, p.problem.v_head_dim, p.problem.num_q_heads, p.problem.num_kv_heads,
                       p.problem.extend_len, p.problem.is_causal ? "causal" : "non-causal");
  }

  void merge_cell(const MergedCell& cell, const std::vector<MergeSource>& sources) {
    std::map<VariantKey, MergeResult> merged;
    for (const MergeSource& source : sources) {
      const Store& in = *source.input;
      for (StoredVariant& variant : in.variants(source.environment, source.problem)) {
        MergeResult incoming{variant, in.timings(variant.id), in.retimings(variant.id), in.extend_below(variant.id),
                             &in};
        incoming.variant.environment = cell.environment, incoming.variant.problem = cell.problem;
        const auto [entry, fresh] = merged.emplace(key_of(variant), incoming);
        if (!fresh) unite(cell, entry->second, incoming);
      }
    }
    write(merged);
    copy_space(cell, sources);
  }

  void unite(const MergedCell& cell, MergeResult& kept, const MergeResult& incoming) {
    const std::string first = kept.input->file().string();
    for (const std::string& what : reconcile(kept, incoming, policy_)) {
      ++report_.conflicts;
      if (policy_ == OnConflict::fail)
        throw UsageError(fmt::format("{} and {} disagree on {}, {}: {}; choose with --on-conflict fastest or newest",
                                     first, incoming.input->file().string(), describe(cell),
                                     to_string(incoming.variant.config), what));
    }
  }

  void write(const std::map<VariantKey, MergeResult>& merged) {
    for (const auto& [key, result] : merged) {
      const std::int64_t id = out_.put(result.variant, result.timings);
      for (const StoredRetiming& retiming : result.retimings) out_.put_retiming(id, retiming);
      for (const ExtendBelow& found : result.extend_below) out_.put_extend_below(id, found);
      ++report_.variants, report_.times += static_cast<int>(result.timings.size());
    }
  }

  /// What was looked at, as the last input says.
  void copy_space(const MergedCell& cell, const std::vector<MergeSource>& sources) {
    for (const MergeSource& source : sources)
      if (const auto space = source.input->space(source.environment, source.problem))
        out_.put_space(cell.environment, cell.problem, *space);
  }

  void note(const MergedCell& cell, WinnersFrom from) {
    if (from == WinnersFrom::dethroned) report_.dethroned.push_back(describe(cell));
    if (from == WinnersFrom::one_input) ++report_.problems_kept;
    if (from == WinnersFrom::selection) report_.rechosen.push_back(describe(cell));
  }

  Store& out_;
  OnConflict policy_;
  std::vector<std::unique_ptr<Store>> inputs_;
  std::map<MergedCell, std::vector<MergeSource>> cells_;
  MergeReport report_;
};

}  // namespace

OnConflict parse_on_conflict(const std::string& name) {
  if (name == "fastest") return OnConflict::fastest;
  if (name == "newest") return OnConflict::newest;
  if (name == "fail") return OnConflict::fail;
  throw UsageError(fmt::format("--on-conflict: expected fastest, newest or fail, not '{}'", name));
}

MergeReport merge(Store& out, const std::vector<std::filesystem::path>& inputs, OnConflict policy) {
  return Merge(out, inputs, policy).run();
}

}  // namespace headtune
