#include "tuner/merge.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "tuner/check_plan.h"
#include "tuner/error.h"
#include "tuner/select.h"
#include "tuner/space.h"
#include "tuner/sweep.h"

namespace headtune {
namespace {

/// Ids in the new database.
struct CellId {
  std::int64_t environment = 0, problem = 0;
  friend auto operator<=>(const CellId&, const CellId&) = default;
};

/// One problem in one environment of one input.
struct Source {
  std::size_t input = 0;
  std::int64_t environment = 0, problem = 0;
};

struct Result {
  StoredVariant variant;
  std::vector<StoredTiming> timings;
  std::vector<StoredRetiming> retimings;
  std::vector<ExtendBelow> extend_below;
  std::size_t input = 0;  ///< that it came from, for messages
};

using VariantKey = std::pair<std::string, std::string>;  ///< defines, template hash
VariantKey key_of(const StoredVariant& variant) { return {variant.defines, variant.template_hash}; }

bool proven(Status status) { return status >= Status::verified; }

bool same_time(const StoredTiming& a, const StoredTiming& b) {
  return a.median_us == b.median_us && a.low_us == b.low_us && a.high_us == b.high_us && a.samples_us == b.samples_us;
}

template <class A, class B>
bool same_point(const A& a, const B& b) {
  return a.context == b.context && a.batch == b.batch;
}

StoredTiming* find(std::vector<StoredTiming>& timings, const StoredTiming& point) {
  const auto found =
      std::find_if(timings.begin(), timings.end(), [&](const StoredTiming& t) { return same_point(t, point); });
  return found == timings.end() ? nullptr : &*found;
}

class Merge {
 public:
  Merge(Store& out, const std::vector<std::filesystem::path>& files, OnConflict policy) : out_(out), policy_(policy) {
    for (const auto& file : files) inputs_.push_back(std::make_unique<Store>(file, Access::read_only));
  }

  MergeReport run() {
    for (std::size_t i = 0; i < inputs_.size(); ++i) add_keys(i);
    for (const auto& [cell, sources] : cells_) merge_cell(cell, sources);
    // After all times: a measured time removes estimated winners.
    for (const auto& [cell, sources] : cells_) choose_winners(cell, sources);
    return report_;
  }

 private:
  void add_keys(std::size_t input) {
    const Store& in = *inputs_[input];
    for (const auto& [environment, facts] : in.environments())
      for (const auto& [problem, stored] : in.problems())
        if (!in.variants(environment, problem).empty())
          cells_[{out_.add(facts), out_.add(stored)}].push_back({input, environment, problem});
  }

  std::string file(std::size_t input) const { return inputs_[input]->file().string(); }

  std::string describe(const CellId& cell) const {
    const StoredEnvironment e = out_.environments().at(cell.environment);
    const StoredProblem p = out_.problems().at(cell.problem);
    return fmt::format("{}{} ({}), {}, head_dim {}/{}, {}/{} heads, extend_len {}, {}", e.arch, e.features, e.compiler,
                       p.op, p.problem.head_dim, p.problem.v_head_dim, p.problem.num_q_heads, p.problem.num_kv_heads,
                       p.problem.extend_len, p.problem.is_causal ? "causal" : "non-causal");
  }

  void merge_cell(const CellId& cell, const std::vector<Source>& sources) {
    std::map<VariantKey, Result> merged;
    for (const Source& source : sources) {
      const Store& in = *inputs_[source.input];
      for (StoredVariant& variant : in.variants(source.environment, source.problem)) {
        Result incoming{variant, in.timings(variant.id), in.retimings(variant.id), in.extend_below(variant.id),
                        source.input};
        incoming.variant.environment = cell.environment, incoming.variant.problem = cell.problem;
        const auto [entry, fresh] = merged.emplace(key_of(variant), incoming);
        if (!fresh) reconcile(cell, entry->second, incoming);
      }
    }
    write(merged);
    copy_space(cell, sources);
  }

  void write(const std::map<VariantKey, Result>& merged) {
    for (const auto& [key, result] : merged) {
      const std::int64_t id = out_.put(result.variant, result.timings);
      for (const StoredRetiming& retiming : result.retimings) out_.put_retiming(id, retiming);
      for (const ExtendBelow& found : result.extend_below) out_.put_extend_below(id, found);
      ++report_.variants, report_.times += static_cast<int>(result.timings.size());
    }
  }

  /// What was looked at, as the last input says.
  void copy_space(const CellId& cell, const std::vector<Source>& sources) {
    for (const Source& source : sources)
      if (const auto space = inputs_[source.input]->space(source.environment, source.problem))
        out_.put_space(cell.environment, cell.problem, *space);
  }

  /// `kept` becomes the result of both.
  void reconcile(const CellId& cell, Result& kept, const Result& incoming) {
    const Status a = kept.variant.status, b = incoming.variant.status;
    if (proven(a) && proven(b)) return unite(cell, kept, incoming);
    if (failed(a) && failed(b) && a == b) return;
    if (!failed(a) && !failed(b)) {  // one is only compiled: not a result yet
      if (b > a) kept = incoming;
      return;
    }
    if (a == Status::compiled || b == Status::compiled) {  // the other failed later on the way
      if (a == Status::compiled) kept = incoming;
      return;
    }
    conflict(cell, kept, incoming, fmt::format("{} and {}", name(a), name(b)));
    if (incoming_counts(a, b)) kept = incoming;
  }

  /// Of a failure and another result.
  bool incoming_counts(Status a, Status b) const {
    if (policy_ == OnConflict::newest) return true;
    // A wrong result is not unseen by a lucky run; a crash or a timeout may have been the machine's.
    if (a == Status::verify_failed || b == Status::verify_failed) return b == Status::verify_failed;
    return proven(b);
  }

  void unite(const CellId& cell, Result& kept, const Result& incoming) {
    StoredVariant& v = kept.variant;
    // Times of finalists were taken interleaved; screening times do not replace them, whichever is less.
    const bool incoming_final = incoming.variant.status == Status::timed, kept_final = v.status == Status::timed;
    for (const StoredTiming& timing : incoming.timings) {
      StoredTiming* present = find(kept.timings, timing);
      if (present == nullptr) {
        kept.timings.push_back(timing);
      } else {
        if (same_time(*present, timing)) continue;
        conflict(cell, kept, incoming,
                 fmt::format("context {} batch {}: {:.3f} us and {:.3f} us", timing.context, timing.batch,
                             present->median_us, timing.median_us));
        // A time that was still moving decides nothing.
        const bool take = policy_ == OnConflict::newest          ? true
                          : trusted(timing) != trusted(*present) ? trusted(timing)
                          : incoming_final != kept_final         ? incoming_final
                                                                 : timing.median_us < present->median_us;
        if (!take) continue;
        *present = timing;
      }
      take_retiming(kept, incoming, timing);
    }
    if (kept.extend_below.empty() || (policy_ == OnConflict::newest && !incoming.extend_below.empty()))
      kept.extend_below = incoming.extend_below;
    // Both passed; the worse error says more about the variant.
    if (incoming.variant.verify_error > v.verify_error)
      v.verify_error = incoming.variant.verify_error, v.verify_tolerance = incoming.variant.verify_tolerance;
    v.status = policy_ == OnConflict::newest && finished(incoming.variant.status)
                   ? incoming.variant.status
                   : std::max(v.status, incoming.variant.status);
  }

  /// A retiming belongs to the time beside which it was taken.
  static void take_retiming(Result& kept, const Result& incoming, const StoredTiming& point) {
    std::erase_if(kept.retimings, [&](const StoredRetiming& r) { return same_point(r, point); });
    for (const StoredRetiming& retiming : incoming.retimings)
      if (same_point(retiming, point)) kept.retimings.push_back(retiming);
  }

  void conflict(const CellId& cell, const Result& a, const Result& b, const std::string& what) {
    ++report_.conflicts;
    if (policy_ != OnConflict::fail) return;
    throw UsageError(fmt::format("{} and {} disagree on {}, {}: {}; choose with --on-conflict fastest or newest",
                                 file(a.input), file(b.input), describe(cell), to_string(a.variant.config), what));
  }

  void choose_winners(const CellId& cell, const std::vector<Source>& sources) {
    std::vector<Source> with_winners;
    for (const Source& source : sources)
      if (!inputs_[source.input]->winners(source.environment, source.problem).empty()) with_winners.push_back(source);
    if (with_winners.empty()) return;
    if (beaten_by_measured(cell)) {
      report_.dethroned.push_back(describe(cell));
    } else if (sources.size() == 1) {
      copy_winners(cell, sources.front());
      ++report_.problems_kept;
    } else {
      select_winners(cell, with_winners.back());
      report_.rechosen.push_back(describe(cell));
    }
  }

  /// As the database's trigger asks: an estimate cannot win beside measured times of the same device.
  bool beaten_by_measured(const CellId& cell) const {
    const auto environments = out_.environments();
    const StoredEnvironment& mine = environments.at(cell.environment);
    if (!mine.estimated) return false;
    for (const auto& [id, e] : environments) {
      if (e.estimated || e.arch != mine.arch || e.cu_count != mine.cu_count || e.wave_size != mine.wave_size) continue;
      for (const StoredVariant& variant : out_.variants(id, cell.problem))
        if (variant.status == Status::timed) return true;
    }
    return false;
  }

  void copy_winners(const CellId& cell, const Source& source) {
    const Store& in = *inputs_[source.input];
    std::map<std::int64_t, StoredVariant> old;
    for (StoredVariant& variant : in.variants(source.environment, source.problem)) old[variant.id] = std::move(variant);
    std::vector<StoredWinner> winners = in.winners(source.environment, source.problem);
    for (StoredWinner& winner : winners) {
      StoredVariant key = old.at(winner.variant);
      key.environment = cell.environment, key.problem = cell.problem;
      winner.variant = out_.find(key)->id;
    }
    out_.put_winners(cell.environment, {cell.problem}, winners);
  }

  /// Selection over the variants of the templates that the last input's winners have; that winner is the incumbent.
  void select_winners(const CellId& cell, const Source& last) {
    const Store& in = *inputs_[last.input];
    const std::int64_t incumbent = in.winners(last.environment, last.problem).front().variant;
    SelectOptions options;
    std::string hash;
    for (const StoredVariant& variant : in.variants(last.environment, last.problem))
      if (variant.id == incumbent) options.incumbent = variant.config, hash = variant.template_hash;
    const TimedCandidates known = timed_candidates(out_, cell.environment, cell.problem, hash);
    std::vector<Candidate> timed;
    for (std::size_t i = 0; i < known.variants.size(); ++i)
      if (known.variants[i].status == Status::timed) timed.push_back(known.candidates[i]);
    std::vector<StoredWinner> winners;
    for (const Choice& choice : select(timed, options))
      for (const StoredVariant& variant : known.variants)
        if (variant.status == Status::timed && variant.config == choice.winner.config)
          winners.push_back({variant.id, choice.context_min, choice.context_max, choice.reason});
    out_.put_winners(cell.environment, {cell.problem}, winners);
  }

  Store& out_;
  OnConflict policy_;
  std::vector<std::unique_ptr<Store>> inputs_;
  std::map<CellId, std::vector<Source>> cells_;
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
