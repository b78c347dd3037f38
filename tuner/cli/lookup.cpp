// `headtune lookup`: which row of a table a problem takes on a device, as the compiled header would answer.
#include <fmt/format.h>

#include <cstdio>
#include <nlohmann/json.hpp>

#include "tuner/cli/commands.h"
#include "tuner/cli/parse.h"
#include "tuner/cli/problem_options.h"
#include "tuner/cli/report.h"
#include "tuner/cli/table_choice.h"

namespace headtune::cli {
namespace {

struct Options {
  ProblemOptions problem;
  std::string arch = "gfx950", context = "8k", table;
  int cu_count = 0;
  bool as_json = false;
};

Match find(const Options& options) {
  const Problem what = problem(options.problem);
  const Arch& arch = parse_arch(options.arch);
  const DeviceKey device{options.arch.c_str(), options.cu_count > 0 ? options.cu_count : arch.cu_count, arch.wave_size};
  const int context = parse_counts(options.context, "--context").front();
  return lookup_of(options.table)(what, device, context);
}

void run(const Options& options) {
  const Match match = find(options);
  const char* level = match_level_text(match.level);
  if (options.as_json) {
    const nlohmann::json value = {{"config", config_json(match.config)}, {"level", level},
                                  {"cu_count", match.cu_count},          {"context_min", match.context_min},
                                  {"context_max", match.context_max},    {"estimated", match.estimated},
                                  {"extend_below", match.extend_below}};
    fmt::print("{}\n", value.dump(2));
    return;
  }
  const std::string row =
      match.level == MatchLevel::default_config
          ? "no row"
          : fmt::format("row of {} CUs, extend_len {}, contexts {}..{}{}", match.cu_count, match.extend_len,
                        match.context_min, match.context_max, match.estimated ? ", estimated" : "");
  const std::string below =
      match.extend_below > 0 ? fmt::format("; below {} keys extend_attention is faster", match.extend_below) : "";
  fmt::print("{}  {} ({}){}\n", short_text(match.config), level, row, below);
}

}  // namespace

void add_lookup(CLI::App& app, Exit&) {
  auto* command = app.add_subcommand("lookup", "Show which table row a problem takes on a device");
  auto o = std::make_shared<Options>();
  command->add_option("--arch", o->arch, "gfx90a, gfx942, gfx950, sm_90, ...")->capture_default_str();
  command->add_option("--cu-count", o->cu_count, "Compute units of the device [the architecture's full part]");
  add_problem_options(*command, o->problem);
  command->add_option("--context", o->context, "Longest prefix in keys")->capture_default_str();
  command->add_option("--table", o->table, "tables/<arch>.json [those compiled in]");
  command->add_flag("--json", o->as_json, "Machine-readable output");
  command->callback([o] { run(*o); });
}

}  // namespace headtune::cli
