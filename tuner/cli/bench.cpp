// `headtune bench`: the tuned kernels beside extend_attention, plain reads and the byte floor.
#include "tuner/bench.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "tuner/cli/commands.h"
#include "tuner/cli/parse.h"
#include "tuner/cli/problem_options.h"
#include "tuner/cli/report.h"
#include "tuner/cli/table_choice.h"
#include "tuner/interrupt.h"
#include "tuner/table_file.h"

namespace headtune::cli {
namespace {

using nlohmann::json;

struct Options {
  ProblemOptions problem;
  SessionOptions session;
  std::string rocm, contexts = "8k,16k,32k", batch = "1,8,32", file, table;
  bool named = false;  ///< a problem was given; else those of the project's goals
  bool as_json = false;
};

json timing_json(const Timing& t) {
  return {{"median_us", t.median_us}, {"low_us", t.interval.low},       {"high_us", t.interval.high},
          {"method", t.method},       {"samples", t.samples_us.size()}, {"flags", t.flags()}};
}

json cell_json(const Problem& problem, const BenchCell& cell, const MemoryRates& rates) {
  json value = {{"problem", problem_json(problem)},
                {"batch", cell.shape.batch},
                {"context", cell.shape.context},
                {"config", config_json(cell.match.config)},
                {"match", match_level_text(cell.match.level)},
                {"verify_shared_kv", timing_json(cell.verify)},
                {"plain_read", timing_json(cell.read)},
                {"floor_bytes", cell.bytes},
                {"read_floor_us", cell.floor_us(rates.read)},
                {"copy_floor_us", cell.floor_us(rates.copy)}};
  if (!cell.verify.counters.empty()) value["verify_shared_kv"]["counters"] = cell.verify.counters;
  if (!cell.extend.samples_us.empty()) value["extend_attention"] = timing_json(cell.extend);
  return value;
}

/// "one CU: 52 l2_lines, 0 lds_conflict_cycles, ..." for simulated devices, else empty.
std::string counters_text(const Timing& timing) {
  std::string text;
  for (const auto& [name, count] : timing.counters)
    text += fmt::format("{}{} {}", text.empty() ? "                   one CU: " : ", ", count, name);
  return text.empty() ? "" : text + "\n";
}

constexpr const char* columns =
    "  batch  context    verify us   floor us  of read  of copy    plain read     extend us    gain\n";

std::string cell_text(const BenchCell& cell, const MemoryRates& rates) {
  const std::string flags = cell.verify.flags();
  const std::string extend =
      cell.extend.samples_us.empty()
          ? fmt::format("{:>14} {:>7}", "-", "-")
          : fmt::format("{:14.1f} {:6.2f}x", cell.extend.median_us, cell.extend.median_us / cell.verify.median_us);
  return fmt::format("{:7} {:>8} {:12.1f} {:10.1f} {:7.0f}% {:7.0f}% {:13.1f}{}{}{}\n", cell.shape.batch,
                     count_text(cell.shape.context), cell.verify.median_us, cell.floor_us(rates.read),
                     100 * cell.share(rates.read), 100 * cell.share(rates.copy), cell.read.median_us, extend,
                     flags.empty() ? "" : "  ", flags) +
         counters_text(cell.verify);
}

/// Says which row of the table the cells below took, whenever it is another one.
class MatchLine {
 public:
  void print(const Match& match) {
    const std::string line = fmt::format("  {} ({})\n", short_text(match.config), match_level_text(match.level));
    if (line != printed_) fmt::print("{}{}", line, printed_.empty() ? columns : "");
    printed_ = line;
  }

 private:
  std::string printed_;
};

std::vector<Problem> chosen_problems(const Options& options) {
  return options.named ? problems(options.problem) : benchmark_problems();
}

void run(Options options) {
  options.session.rocm = options.rocm;
  const auto all = chosen_problems(options);
  auto shapes = parse_shapes(options.contexts, options.batch);
  std::sort(shapes.begin(), shapes.end());  // batch by batch
  const Lookup lookup = lookup_of(options.table);
  catch_interrupts();
  Session session(options.session);
  const MemoryRates rates = memory_rates(session);
  json result = {{"environment", environment_text(session.environment())},
                 {"estimated", session.environment().estimated},
                 {"read_gb_per_s", rates.read},
                 {"copy_gb_per_s", rates.copy},
                 {"cells", json::array()}};
  if (!options.as_json)
    fmt::print("{}\nread {:.0f} GB/s, copy {:.0f} GB/s{}\n", environment_text(session.environment()), rates.read,
               rates.copy, session.environment().estimated ? " (data sheet)" : " (2 GiB, scattered rows)");
  for (const Problem& problem : all) {
    MatchLine matched;
    if (!options.as_json) fmt::print("{}\n", describe(problem));
    bench(session, problem, shapes, lookup, [&](const BenchCell& cell) {
      result["cells"].push_back(cell_json(problem, cell, rates));
      if (options.as_json) return;
      matched.print(cell.match);
      fmt::print("{}", cell_text(cell, rates));
      std::fflush(stdout);
    });
  }
  if (options.as_json) fmt::print("{}\n", result.dump(2, ' ', false, json::error_handler_t::replace));
  if (!options.file.empty()) write_file(options.file, pretty(result) + "\n");
}

}  // namespace

void add_bench(CLI::App& app, Exit&) {
  auto* command = app.add_subcommand("bench", "Time the tuned kernels beside extend_attention and the byte floor");
  auto o = std::make_shared<Options>();
  command->add_option("--device", o->session.device, "rocm:0, cuda:0, sim:gfx950 or auto")->capture_default_str();
  add_problem_options(*command, o->problem);
  command->remove_option(command->get_option("--op"));
  command->add_option("--contexts", o->contexts, "Prefix lengths in keys")->capture_default_str();
  command->add_option("--batch", o->batch, "Requests per call")->capture_default_str();
  command->add_option("--timeout", o->session.timeout_seconds, "Seconds per compile and per step on the device")
      ->capture_default_str();
  command->add_option("--rocm", o->rocm, "ROCm root or private hipRTC prefix [search]");
  command->add_option("--table", o->table, "tables/<arch>.json [those compiled in]");
  command->add_option("-o,--output", o->file, "Also write the result as JSON to this file");
  command->add_flag("--json", o->as_json, "Machine-readable output");
  command->footer("Without --head-dim and --heads: head_dim 64, 128, 256 and MLA 576/512 as docs/kernels.md has them.");
  command->callback([o, command] {
    o->named = command->count("--head-dim") + command->count("--heads") > 0;
    run(*o);
  });
}

}  // namespace headtune::cli
