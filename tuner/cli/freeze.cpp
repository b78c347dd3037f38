// `headtune freeze`: records the machine code of paths that must not change.
#include "tuner/cli/freeze.h"

#include <fmt/format.h>

#include <cstdio>

#include "codegen/render.h"
#include "tuner/cli/commands.h"
#include "tuner/cli/frozen_report.h"
#include "tuner/cli/parse.h"
#include "tuner/cli/problem_options.h"
#include "tuner/frozen.h"
#include "tuner/table_file.h"

namespace headtune::cli {
namespace {

struct Options {
  ProblemOptions problem;
  bool own_problem = false;
  std::vector<std::string> archs = {"gfx950", "gfx942", "gfx90a"};
  std::string contexts = "8k,16k,32k", config, output = "frozen.json", rocm, templates;
};

Toolchain open_toolchain(const std::string& rocm) {
  ToolchainOptions options;
  options.rocm = rocm;
  options.jobs = 1;
  return Toolchain(options);
}

std::filesystem::path templates_of(const std::string& given) {
  return given.empty() ? templates_dir() : std::filesystem::path(given);
}

std::vector<FrozenVariant> variants_of(const Options& options, const Arch& arch) {
  const auto contexts = parse_counts(options.contexts, "--contexts");
  std::vector<FrozenVariant> variants;
  for (const Problem& problem : options.own_problem ? problems(options.problem) : frozen_problems()) {
    auto configs = table_configs(problem, arch, contexts);
    if (!options.config.empty()) configs = {parse_config(options.config, configs.front())};
    for (const Config& config : configs) variants.push_back({options.problem.op, problem, config, {}});
  }
  return variants;
}

/// Records of other architectures and compilers stay.
void record(const Options& options) {
  FrozenFile file;
  if (std::filesystem::exists(options.output)) file = read_frozen(options.output);
  Toolchain toolchain = open_toolchain(options.rocm);
  for (const std::string& name : options.archs) {
    const Arch& arch = parse_arch(name);
    if (arch.family == Family::nvidia) throw UsageError("--arch " + name + ": only AMD code objects can be frozen");
    freeze(file, name, variants_of(options, arch), toolchain, templates_of(options.templates));
    const FrozenRecord& written = *file.find(name, toolchain.version(name));
    fmt::print("{}, {}: {} variants\n", name, written.compiler, written.variants.size());
  }
  write_file(options.output, frozen_json(file));
}

}  // namespace

Exit run_frozen_check(const FrozenCheck& check) {
  const FrozenFile file = read_frozen(check.file);
  Toolchain toolchain = open_toolchain(check.rocm);
  const std::vector<std::string> archs = check.arch.empty() ? std::vector<std::string>{} : std::vector{check.arch};
  const auto findings = check_frozen(file, archs, toolchain, templates_of(check.templates));
  if (!check.junit.empty()) write_file(check.junit, findings_junit(findings));
  if (!check.markdown.empty()) write_file(check.markdown, findings_markdown(findings));
  fmt::print("{}", check.format == "json" ? findings_json(findings).dump(2) + "\n" : findings_text(findings));
  return verdict(findings);
}

void add_freeze(CLI::App& app, Exit&) {
  auto* command = app.add_subcommand("freeze", "Record the machine code of paths that must not change");
  auto o = std::make_shared<Options>();
  command->add_option("--arch", o->archs, "AMD architectures")->delimiter(',')->capture_default_str();
  add_problem_options(*command, o->problem);
  command->get_option("--head-dim")
      ->description("Other problems than MLA 576/512 and head_dim 256, one KV head, causal")
      ->default_str("");
  command->add_option("--contexts", o->contexts, "Prefix lengths whose table rows are frozen")->capture_default_str();
  command->add_option("--config", o->config, "BLOCK_H,BLOCK_N,NUM_WARPS,... or NAME=VALUE,... [the table's]");
  command->add_option("-o,--output", o->output, "Record; those of other architectures and compilers in it stay")
      ->capture_default_str();
  command->add_option("--templates", o->templates, "Folder that holds headtune/*.h [search]");
  command->add_option("--rocm", o->rocm, "ROCm root or private hipRTC prefix [search]");
  command->callback([o, command] {
    o->own_problem = command->count("--head-dim") > 0;
    record(*o);
  });
}

}  // namespace headtune::cli
