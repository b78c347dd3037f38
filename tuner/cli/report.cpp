#include "tuner/cli/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>

#include "tuner/cli/parse.h"
#include "tuner/cli/problem_options.h"
#include "tuner/coverage.h"
#include "tuner/dtype.h"
#include "tuner/retime.h"
#include "tuner/space.h"

namespace headtune::cli {
namespace {

using nlohmann::json;

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

double interval_percent(const StoredTiming& t) { return 50 * (t.high_us - t.low_us) / t.median_us; }

/// Bytes per microsecond are MB/s; GB/s read more easily.
double gb_per_s(const StoredTiming& t) { return static_cast<double>(t.floor_bytes) / t.median_us / 1000; }

const StoredVariant* winner_of(const std::vector<StoredVariant>& variants, const Choice& choice) {
  for (const StoredVariant& variant : variants)
    if (variant.status == Status::timed && variant.config == choice.winner.config) return &variant;
  return nullptr;
}

std::string timing_line(const StoredTiming& t) {
  return fmt::format("  {:>8} {:>6} {:>10.2f} {:>7.2f} {:>8.0f}  {}\n", count_text(t.context), t.batch, t.median_us,
                     interval_percent(t), gb_per_s(t), t.flags);
}

std::string choice_text(const Choice& choice) {
  return fmt::format("  contexts {}..{}: {}\n    {}; {} tied of {} ranked; worst regret {:.1f} % at {}\n",
                     count_text(choice.context_min), count_text(choice.context_max), short_text(choice.winner.config),
                     choice.reason, choice.tied, choice.ranking.size(), 100 * choice.winner.max_regret,
                     count_text(choice.winner.max_regret_context));
}

std::string resource_line(const std::string& config, const std::string& kernel, const Resources& r) {
  return fmt::format("  {:<28} {:>5} {:>5} {:>5} {:>7} {:>8} {:>7} {:>6}  {}\n", kernel, r.vgpr, r.agpr, r.sgpr,
                     r.lds_bytes, r.scratch_bytes, r.vgpr_spills + r.sgpr_spills, r.waves_per_simd, config);
}

}  // namespace

std::string resources_text(const std::vector<StoredVariant>& variants) {
  std::string text = fmt::format("  {:<28} {:>5} {:>5} {:>5} {:>7} {:>8} {:>7} {:>6}  configuration\n", "kernel",
                                 "vgpr", "agpr", "sgpr", "lds", "scratch", "spills", "waves");
  for (const StoredVariant& variant : variants) {
    if (failed(variant.status))
      text +=
          fmt::format("  {}: {}  {}\n", name(variant.status), first_line(variant.reason), short_text(variant.config));
    for (const auto& [kernel, resources] : variant.resources)
      text += resource_line(short_text(variant.config), kernel, resources);
  }
  return text;
}

std::string short_text(const Config& config) {
  std::string text = fmt::format("{},{},{}", config.block_h, config.block_n, config.num_warps);
  const Config defaults;
  for (const Knob& knob : std::span(knobs).subspan(3))
    if (config.*knob.member != defaults.*knob.member) text += fmt::format(" {}={}", knob.name, config.*knob.member);
  return text;
}

json config_json(const Config& config) {
  json values = json::object();
  for (const Knob& knob : knobs) values[knob.name] = config.*knob.member;
  return values;
}

json problem_json(const Problem& p) {
  return {{"head_dim", p.head_dim},         {"v_head_dim", p.v_head_dim},       {"num_q_heads", p.num_q_heads},
          {"num_kv_heads", p.num_kv_heads}, {"extend_len", p.extend_len},       {"is_causal", p.is_causal},
          {"dtype", to_string(p.dtype)},    {"kv_dtype", to_string(p.kv_dtype)}};
}

json counts_json(const SweepCounts& c) {
  return {{"total", c.total},       {"pruned", c.pruned}, {"known", c.resumed}, {"compiled", c.compiled},
          {"verified", c.verified}, {"timed", c.timed},   {"failed", c.failed}, {"untried", c.untried}};
}

json timing_json(const StoredTiming& t) {
  return {{"context", t.context},     {"batch", t.batch},        {"median_us", t.median_us},
          {"low_us", t.low_us},       {"high_us", t.high_us},    {"samples", t.samples_us.size()},
          {"gb_per_s", gb_per_s(t)},  {"method", t.method},      {"flags", t.flags},
          {"estimated", t.estimated}, {"clock_mhz", t.clock_mhz}};
}

json resources_json(const std::vector<StoredVariant>& variants) {
  json all = json::array();
  for (const StoredVariant& variant : variants) {
    json entry = {{"config", config_json(variant.config)},
                  {"status", name(variant.status)},
                  {"reason", variant.reason},
                  {"compile_seconds", variant.compile_seconds}};
    for (const auto& [kernel, r] : variant.resources)
      entry["kernels"][kernel] = {{"vgpr", r.vgpr},
                                  {"agpr", r.agpr},
                                  {"sgpr", r.sgpr},
                                  {"lds_bytes", r.lds_bytes},
                                  {"scratch_bytes", r.scratch_bytes},
                                  {"vgpr_spills", r.vgpr_spills},
                                  {"sgpr_spills", r.sgpr_spills},
                                  {"waves_per_simd", r.waves_per_simd}};
    all.push_back(std::move(entry));
  }
  return all;
}

std::string retiming_text(const std::vector<StoredRetiming>& retimings) {
  if (retimings.empty()) return "";
  const auto off = [](const StoredRetiming& r) { return std::abs(r.table_us / r.swept_us - 1); };
  const StoredRetiming& worst =
      *std::max_element(retimings.begin(), retimings.end(), [&](auto& a, auto& b) { return off(a) < off(b); });
  return fmt::format("    as a user of the table gets it: within {:.1f} % at {} points, worst {}\n", 100 * off(worst),
                     retimings.size(), describe(worst));
}

json retiming_json(const StoredRetiming& r) {
  return {{"context", r.context},
          {"batch", r.batch},
          {"swept_us", r.swept_us},
          {"table_us", r.table_us},
          {"differs", differs(r)}};
}

std::string winners_text(const Store& store, std::int64_t environment, const ProblemReport& report) {
  if (!report.no_verdict.empty()) return "  no verdict\n";
  if (report.choices.empty()) return "  no configuration was verified and timed at every point\n";
  const auto variants = store.variants(environment, report.problem_id);
  std::string text;
  if (report.left_out > 0)
    text += fmt::format("  {} finalists left out: their times still moved (headtune explain)\n", report.left_out);
  const StoredVariant* first = winner_of(variants, report.choices.front());
  if (report.counts.untried > 0 && first != nullptr)
    if (const auto covered = coverage(store.space(environment, report.problem_id), variants, first->template_hash))
      text += "  partial sweep: " + describe(*covered) + "\n";
  for (const Choice& choice : report.choices) {
    text += choice_text(choice);
    text += fmt::format("  {:>8} {:>6} {:>10} {:>7} {:>8}\n", "context", "batch", "us", "+- %", "GB/s");
    if (const StoredVariant* winner = winner_of(variants, choice))
      for (const StoredTiming& timing : store.timings(winner->id))
        if (timing.context >= choice.context_min && timing.context <= choice.context_max) text += timing_line(timing);
    if (const StoredVariant* winner = winner_of(variants, choice)) text += retiming_text(store.retimings(winner->id));
  }
  return text;
}

json winners_json(const Store& store, std::int64_t environment, const ProblemReport& report) {
  const auto variants = store.variants(environment, report.problem_id);
  json rows = json::array();
  for (const Choice& choice : report.choices) {
    json row = {{"context_min", choice.context_min},
                {"context_max", choice.context_max},
                {"config", config_json(choice.winner.config)},
                {"ratio", choice.winner.ratio},
                {"max_regret", choice.winner.max_regret},
                {"reason", choice.reason},
                {"times", json::array()},
                {"through_table", json::array()}};
    if (const StoredVariant* winner = winner_of(variants, choice))
      for (const StoredRetiming& r : store.retimings(winner->id)) row["through_table"].push_back(retiming_json(r));
    if (const StoredVariant* winner = winner_of(variants, choice))
      for (const StoredTiming& timing : store.timings(winner->id))
        if (timing.context >= choice.context_min && timing.context <= choice.context_max)
          row["times"].push_back(timing_json(timing));
    rows.push_back(std::move(row));
  }
  return rows;
}

std::string environment_text(const StoredEnvironment& e) {
  return fmt::format("{}{}, {} CUs ({}), {}{}", e.arch, e.features, e.cu_count, e.device_name, e.compiler,
                     e.estimated ? ", times estimated" : "");
}

}  // namespace headtune::cli
