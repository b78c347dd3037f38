// `headtune inspect`: one variant's rendered source, resources and disassembly.
#include <fmt/format.h>

#include <cstdio>
#include <nlohmann/json.hpp>

#include "codegen/render.h"
#include "tables/tables.h"
#include "tuner/cli/commands.h"
#include "tuner/cli/parse.h"
#include "tuner/cli/problem_options.h"
#include "tuner/cli/report.h"
#include "tuner/op.h"
#include "tuner/space.h"
#include "tuner/toolchain.h"

namespace headtune::cli {
namespace {

using nlohmann::json;

struct Options {
  ProblemOptions problem;
  std::string arch = "gfx950", config, rocm, context = "8k";
  bool as_json = false;
};

struct Inspected {
  Config config;
  std::string pruned;  ///< why a sweep would not compile it
  std::string source;
  Binary binary;
  std::vector<Instruction> instructions;
};

/// The given knobs over the table's choice for this problem.
Config config_of(const Options& options, const Problem& problem, const Arch& arch) {
  const int context = parse_counts(options.context, "--context").front();
  const Match match = tables::lookup(problem, {arch.name, arch.cu_count, arch.wave_size}, context);
  return options.config.empty() ? match.config : parse_config(options.config, match.config);
}

Inspected inspect(const Options& options) {
  const Problem what = problem(options.problem);
  const Arch& arch = parse_arch(options.arch);
  const std::string op = find_op(options.problem.op).name();
  const auto templates = templates_dir();
  Inspected result;
  result.config = config_of(options, what, arch);
  result.pruned = prune_reason(read_space(templates / "headtune" / op / "space.json"), what, result.config, arch);
  result.source = render(op, what, result.config);
  ToolchainOptions toolchain_options;
  toolchain_options.rocm = options.rocm;
  toolchain_options.jobs = 1;
  Toolchain toolchain(toolchain_options);
  result.binary = toolchain.compile({result.source, options.arch, compile_options(options.arch, templates)});
  if (result.binary.status == CompileStatus::ok && arch.family != Family::nvidia)
    result.instructions = toolchain.disassemble(result.binary.code, options.arch);
  return result;
}

StoredVariant as_variant(const Inspected& inspected) {
  StoredVariant variant;
  variant.config = inspected.config;
  variant.resources = inspected.binary.kernels;
  variant.compile_seconds = inspected.binary.seconds;
  if (inspected.binary.status != CompileStatus::ok) variant.status = Status::compile_error;
  variant.reason = inspected.binary.log;
  return variant;
}

json to_json(const Inspected& inspected) {
  json value = resources_json({as_variant(inspected)}).front();
  value["pruned"] = inspected.pruned;
  value["source"] = inspected.source;
  value["instructions"] = json::array();
  for (const Instruction& instruction : inspected.instructions)
    value["instructions"].push_back({{"pc", instruction.pc}, {"text", instruction.text}});
  return value;
}

std::string to_text(const Inspected& inspected) {
  std::string text = inspected.source;
  if (!inspected.pruned.empty()) text += "\na sweep prunes it: " + inspected.pruned + "\n";
  text += "\n" + (inspected.binary.status == CompileStatus::ok ? resources_text({as_variant(inspected)})
                                                               : inspected.binary.log + "\n");
  if (!inspected.instructions.empty()) text += fmt::format("\n{} instructions\n", inspected.instructions.size());
  for (const Instruction& instruction : inspected.instructions)
    text += fmt::format("{:8x}  {}\n", instruction.pc, instruction.text);
  return text;
}

void run(const Options& options, Exit& result) {
  const Inspected inspected = inspect(options);
  fmt::print("{}", options.as_json ? to_json(inspected).dump(2, ' ', false, json::error_handler_t::replace) + "\n"
                                   : to_text(inspected));
  if (inspected.binary.status != CompileStatus::ok) result = Exit::usage;
}

}  // namespace

void add_inspect(CLI::App& app, Exit& result) {
  auto* command = app.add_subcommand("inspect", "Show one variant: source, resources, disassembly");
  auto o = std::make_shared<Options>();
  command->add_option("--arch", o->arch, "gfx90a, gfx942, gfx950, sm_90, ...")->capture_default_str();
  add_problem_options(*command, o->problem);
  command->add_option("--config", o->config, "BLOCK_H,BLOCK_N,NUM_WARPS,... or NAME=VALUE,... [the table's]");
  command->add_option("--context", o->context, "Prefix length that picks the table's row")->capture_default_str();
  command->add_option("--rocm", o->rocm, "ROCm root or private hipRTC prefix [search]");
  command->add_flag("--json", o->as_json, "Machine-readable output");
  command->callback([o, &result] { run(*o, result); });
}

}  // namespace headtune::cli
