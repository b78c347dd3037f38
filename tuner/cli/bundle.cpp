// headtune bundle: writes one operator call as a replayable launch.
#include <fmt/format.h>

#include <memory>

#include "codegen/render.h"
#include "tables/tables.h"
#include "tuner/bundle_make.h"
#include "tuner/cli/commands.h"
#include "tuner/cli/parse.h"
#include "tuner/cli/problem_options.h"
#include "tuner/space.h"
#include "tuner/toolchain.h"

namespace headtune::cli {
namespace {

struct Options {
  ProblemOptions problem;
  std::string arch = "gfx950";
  std::string context = "8k";
  std::string batch = "1";
  std::string stage = "all";
  int splits = 0;
  std::string config;
  std::uint64_t seed = 1;
  std::string rocm;
  std::string folder;
};

int one_count(const std::string& text, const std::string& what) {
  const auto counts = parse_counts(text, what);
  if (counts.size() != 1) throw UsageError(fmt::format("{}: expected one value, not {}", what, text));
  return counts.front();
}

BundleStage parse_stage(const std::string& text) {
  if (text == "1") return BundleStage::prefix;
  if (text == "2") return BundleStage::combine;
  if (text == "all") return BundleStage::all;
  throw UsageError(fmt::format("--stage: '{}' is not 1, 2 or all", text));
}

BundleRequest request_of(const Options& options) {
  BundleRequest request;
  request.op = options.problem.op;
  request.problem = problem(options.problem);
  request.arch = parse_arch(options.arch);
  request.batch = one_count(options.batch, "--batch");
  request.context = one_count(options.context, "--context");
  request.stage = parse_stage(options.stage);
  request.splits = options.splits;
  request.seed = options.seed;
  const Arch& arch = request.arch;
  const Match match = tables::lookup(request.problem, {arch.name, arch.cu_count, arch.wave_size}, request.context);
  request.config = options.config.empty() ? match.config : parse_config(options.config, match.config);
  return settle(request);
}

/// Why a configuration does not compile: the space's words where it knows, else the compiler's.
std::string reason_of(const BundleRequest& request, const std::string& log) {
  const Space space = read_space(templates_dir() / "headtune" / request.op / "space.json");
  const std::string reason = prune_reason(space, request.problem, request.config, request.arch);
  if (!reason.empty()) return reason;
  const auto at = log.find("error:");
  return at == log.npos ? log : log.substr(at, log.find('\n', at) - at);
}

std::vector<std::byte> compile(const BundleRequest& request, const Options& options) {
  ToolchainOptions toolchain;
  toolchain.rocm = options.rocm;
  toolchain.jobs = 1;
  const Binary binary =
      Toolchain(toolchain).compile({render(request.op, request.problem, request.config), request.arch.name,
                                    compile_options(request.arch.name, templates_dir())});
  if (binary.status != CompileStatus::ok)
    throw UsageError(fmt::format("{} does not compile: {}", to_string(request.config), reason_of(request, binary.log)));
  return binary.code;
}

void run(const Options& options) {
  const BundleRequest request = request_of(options);
  const Bundle bundle = make_bundle(request, compile(request, options));
  write_bundle(bundle, options.folder);
  std::uint64_t bytes = 0;
  for (const auto& [name, contents] : bundle.files) bytes += contents.size();
  fmt::print("{}: {}, batch {}, context {}, {} launches, {:.1f} MB\n", options.folder, describe(request.problem),
             request.batch, count_text(request.context), bundle.launches.size(), static_cast<double>(bytes) / 1e6);
  fmt::print("next: headtune replay {} --device {}\n", options.folder,
             request.arch.family == Family::nvidia ? "cuda:0" : fmt::format("sim:{}", request.arch.name));
}

}  // namespace

void add_bundle(CLI::App& app, Exit& result) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("bundle", "Write one call as a replayable launch, with what to expect of it");
  add_problem_options(*command, options->problem);
  command->add_option("--arch", options->arch, "GPU architecture")->capture_default_str();
  command->add_option("--context,--contexts", options->context, "Prefix length")->capture_default_str();
  command->add_option("--batch", options->batch, "Requests")->capture_default_str();
  command->add_option("--stage", options->stage, "1 (expects the prefix partials), 2 or all (the output)")
      ->capture_default_str();
  command->add_option("--splits", options->splits, "KV splits [as planned]")->check(CLI::Range(1, 4096));
  command->add_option("--config", options->config, "BLOCK_H,BLOCK_N,NUM_WARPS,... or NAME=VALUE,... [the table's]");
  command->add_option("--seed", options->seed, "Of the random inputs")->capture_default_str();
  command->add_option("--rocm", options->rocm, "ROCm root or private hipRTC prefix [search]");
  command->add_option("-o,--output", options->folder, "Folder to create")->required();
  command->callback([options, &result] {
    run(*options);
    result = Exit::ok;
  });
}

}  // namespace headtune::cli
