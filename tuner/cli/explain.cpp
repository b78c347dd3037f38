// `headtune explain`: why a configuration won, from the stored results.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>

#include "tuner/build_table.h"
#include "tuner/cli/commands.h"
#include "tuner/cli/parse.h"
#include "tuner/cli/problem_options.h"
#include "tuner/cli/report.h"
#include "tuner/coverage.h"
#include "tuner/same_problem.h"
#include "tuner/sweep.h"

namespace headtune::cli {
namespace {

using nlohmann::json;

struct Options {
  ProblemOptions problem;
  std::string db = "headtune.db", arch;
  int top = 10;
  bool as_json = false;
};

/// One problem in one environment.
struct Explained {
  StoredEnvironment environment;
  std::vector<StoredVariant> variants;
  std::map<std::int64_t, std::vector<StoredTiming>> timings;
  std::vector<StoredWinner> winners;
  std::vector<Choice> choices;  ///< selection over the stored times
  std::optional<StoredSpace> space;
  std::optional<Coverage> coverage;
  std::map<std::int64_t, std::vector<StoredRetiming>> retimings;
};

std::string hash_of_winner(const Explained& e) {
  for (const StoredVariant& variant : e.variants)
    for (const StoredWinner& winner : e.winners)
      if (variant.id == winner.variant) return variant.template_hash;
  return e.variants.empty() ? "" : e.variants.back().template_hash;
}

std::vector<Choice> choices_of(const Store& store, std::int64_t environment, std::int64_t problem,
                               const std::string& hash) {
  const TimedCandidates known = timed_candidates(store, environment, problem, hash);
  std::vector<Candidate> timed;
  for (std::size_t i = 0; i < known.variants.size(); ++i)
    if (known.variants[i].status == Status::timed) timed.push_back(known.candidates[i]);
  return select(timed);
}

std::vector<Explained> collect(const Options& options) {
  const Store store(options.db, Access::read_only);
  const Problem wanted = problem(options.problem);
  std::vector<Explained> all;
  for (const auto& [environment, facts] : store.environments())
    for (const auto& [id, stored] : store.problems()) {
      if (stored.op != options.problem.op || !same_problem(stored.problem, wanted)) continue;
      if (!options.arch.empty() && facts.arch != options.arch) continue;
      Explained e{facts, store.variants(environment, id), {}, store.winners(environment, id), {}, {}, {}, {}};
      if (e.variants.empty()) continue;
      e.space = store.space(environment, id);
      e.coverage = coverage(e.space, e.variants, hash_of_winner(e));
      for (const StoredWinner& winner : e.winners) e.retimings[winner.variant] = store.retimings(winner.variant);
      for (const StoredVariant& variant : e.variants) e.timings[variant.id] = store.timings(variant.id);
      e.choices = choices_of(store, environment, id, hash_of_winner(e));
      all.push_back(std::move(e));
    }
  if (all.empty()) throw UsageError(fmt::format("{}: nothing about {}; sweep it first", options.db, describe(wanted)));
  return all;
}

using Reasons = std::vector<std::pair<int, std::string>>;

Reasons pruned_reasons(const Explained& e) {
  Reasons reasons;
  if (e.space)
    for (const PrunedReason& one : e.space->pruned) reasons.emplace_back(one.count, one.reason);
  return reasons;
}

/// Reasons with the number of configurations they apply to, most frequent first.
Reasons failed_reasons(const Explained& e) {
  std::map<std::string, int> counts;
  for (const StoredVariant& v : e.variants)
    if (failed(v.status)) ++counts[fmt::format("{}: {}", name(v.status), v.reason.substr(0, v.reason.find('\n')))];
  Reasons sorted;
  for (const auto& [reason, count] : counts) sorted.emplace_back(count, reason);
  std::stable_sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  return sorted;
}

/// Finalists whose times decided nothing.
Reasons moving(const Explained& e) {
  Reasons all;
  for (const StoredVariant& v : e.variants) {
    const auto& times = e.timings.at(v.id);
    const auto points = std::count_if(times.begin(), times.end(), [](const StoredTiming& t) { return !trusted(t); });
    if (v.status == Status::timed && points > 0)
      all.emplace_back(static_cast<int>(points), "untrusted times: " + short_text(v.config));
  }
  return all;
}

std::string reasons_text(const std::string& title, const Reasons& list) {
  std::string text = list.empty() ? "" : "  " + title + "\n";
  for (const auto& [count, reason] : list) text += fmt::format("    {:>5} {}\n", count, reason);
  return text;
}

std::string times_text(const Explained& e, const Config& config) {
  std::string text;
  for (const StoredVariant& variant : e.variants) {
    if (variant.status != Status::timed || !(variant.config == config)) continue;
    for (const StoredTiming& t : e.timings.at(variant.id))
      text += fmt::format(" {}x{}:{:.2f}", t.batch, count_text(t.context), t.median_us);
  }
  return text;
}

std::string choice_text(const Explained& e, const Choice& choice, int top) {
  std::string text =
      fmt::format("  contexts {}..{}: {} ({}; {} tied)\n    {:>7} {:>7} {:>8}  configuration, batch x context: us\n",
                  count_text(choice.context_min), count_text(choice.context_max), short_text(choice.winner.config),
                  choice.reason, choice.tied, "ratio", "+- %", "regret %");
  for (const Score& score : choice.ranking) {
    if (top-- == 0) break;
    text += fmt::format("    {:>7.4f} {:>7.2f} {:>8.2f}  {}{}\n", score.ratio, 100 * score.uncertainty,
                        100 * score.max_regret, short_text(score.config), times_text(e, score.config));
  }
  return text;
}

std::string to_text(const Explained& e, int top) {
  std::string text = environment_text(e.environment) + "\n";
  if (e.coverage)
    text += fmt::format("  {}{}\n", e.coverage->partial() ? "partial sweep: " : "", describe(*e.coverage));
  for (const Choice& choice : e.choices) text += choice_text(e, choice, top);
  if (e.choices.empty()) text += "  nothing was verified and timed at every point\n";
  for (const auto& [variant, retimings] : e.retimings) text += retiming_text(retimings);
  return text + reasons_text("left out (points, candidate)", moving(e)) + reasons_text("failed", failed_reasons(e)) +
         reasons_text("pruned", pruned_reasons(e));
}

json variant_json(const Explained& e, const StoredVariant& v) {
  json value = {{"config", config_json(v.config)}, {"status", name(v.status)}, {"reason", v.reason}};
  if (v.verify_error) value["verify_error"] = *v.verify_error, value["verify_tolerance"] = v.verify_tolerance;
  value["times"] = json::array();
  for (const StoredTiming& t : e.timings.at(v.id)) value["times"].push_back(timing_json(t));
  return value;
}

json to_json(const Explained& e) {
  json value = {{"environment", environment_text(e.environment)},
                {"estimated", e.environment.estimated},
                {"choices", json::array()},
                {"variants", json::array()}};
  for (const Choice& c : e.choices) {
    json ranking = json::array();
    for (const Score& s : c.ranking)
      ranking.push_back({{"config", config_json(s.config)},
                         {"ratio", s.ratio},
                         {"uncertainty", s.uncertainty},
                         {"max_regret", s.max_regret}});
    value["choices"].push_back({{"context_min", c.context_min},
                                {"context_max", c.context_max},
                                {"tied", c.tied},
                                {"winner", config_json(c.winner.config)},
                                {"reason", c.reason},
                                {"ranking", ranking}});
  }
  for (const StoredVariant& v : e.variants) value["variants"].push_back(variant_json(e, v));
  if (e.coverage)
    value["space"] = {{"legal", e.coverage->legal}, {"tried", e.coverage->tried}, {"search", e.coverage->search}};
  value["pruned"] = json::array();
  for (const auto& [count, reason] : pruned_reasons(e))
    value["pruned"].push_back({{"count", count}, {"reason", reason}});
  value["through_table"] = json::array();
  for (const auto& [variant, retimings] : e.retimings)
    for (const StoredRetiming& r : retimings) value["through_table"].push_back(retiming_json(r));
  return value;
}

void run(const Options& options) {
  json output = json::array();
  for (const Explained& explained : collect(options)) {
    if (options.as_json)
      output.push_back(to_json(explained));
    else
      fmt::print("{}", to_text(explained, options.top));
  }
  if (options.as_json) fmt::print("{}\n", output.dump(2, ' ', false, json::error_handler_t::replace));
}

}  // namespace

void add_explain(CLI::App& app, Exit&) {
  auto* command = app.add_subcommand("explain", "Show why a configuration won, and why others did not");
  auto o = std::make_shared<Options>();
  command->add_option("--db", o->db, "Results database")->capture_default_str();
  command->add_option("--arch", o->arch, "Only this architecture [all]");
  add_problem_options(*command, o->problem);
  command->add_option("--top", o->top, "Candidates to list")->capture_default_str();
  command->add_flag("--json", o->as_json, "Machine-readable output");
  command->callback([o] { run(*o); });
}

}  // namespace headtune::cli
