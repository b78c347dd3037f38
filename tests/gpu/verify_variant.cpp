// Verifies variants of one problem on one device, for whoever works on a kernel: every legal configuration, or those
// given. Prints one line per variant; exit 1 when one fails.
//   headtune-verify-variant --device cuda:0 --heads 16/4 --head-dim 64 --extend-len 8 --no-causal --config
//   BLOCK_H=4,BLOCK_N=64
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <chrono>

#include "codegen/render.h"
#include "tuner/dtype.h"
#include "tuner/error.h"
#include "tuner/hip/check.h"
#include "tuner/space.h"
#include "tuner/toolchain.h"
#include "tuner/verify.h"

namespace headtune {
namespace {

struct Options {
  std::string device = "auto", op = "verify_shared_kv", heads = "16/4", dtype = "bf16", kv_dtype;
  std::vector<std::string> configs;
  int head_dim = 64, v_head_dim = 0, extend_len = 8, index_bits = 32, first = 0, count = 1 << 20;
  bool causal = true;
};

Problem problem_of(const Options& options) {
  Problem problem;
  problem.head_dim = options.head_dim;
  problem.v_head_dim = options.v_head_dim ? options.v_head_dim : options.head_dim;
  if (std::sscanf(options.heads.c_str(), "%d/%d", &problem.num_q_heads, &problem.num_kv_heads) != 2)
    throw UsageError("--heads: expected Q/KV");
  problem.extend_len = options.extend_len;
  problem.is_causal = options.causal;
  problem.dtype = parse_dtype(options.dtype);
  problem.kv_dtype = options.kv_dtype.empty() ? problem.dtype : parse_dtype(options.kv_dtype);
  validate(problem);
  return problem;
}

/// "BLOCK_H=4,BLOCK_N=64": the rest keeps its default.
Config parse_config(const std::string& text) {
  Config config;
  for (const std::string& item : CLI::detail::split(text, ',')) {
    const std::size_t equal = item.find('=');
    bool known = false;
    for (const Knob& knob : knobs)
      if (item.substr(0, equal) == knob.name) config.*knob.member = std::stoi(item.substr(equal + 1)), known = true;
    if (!known) throw UsageError("--config: no knob in '" + item + "'");
  }
  return config;
}

std::vector<Config> configs_of(const Options& options, const Problem& problem, const Arch& arch) {
  std::vector<Config> configs;
  for (const std::string& text : options.configs) configs.push_back(parse_config(text));
  if (!configs.empty()) return configs;
  return require_legal(read_space(templates_dir() / "headtune" / options.op / "space.json"), problem, arch);
}

CompileJob job_of(const Options& options, const Problem& problem, const Config& config, const hip::Device& device) {
  return {render(options.op, problem, config, options.index_bits), device.target,
          compile_options(device.target, templates_dir())};
}

bool check(Verifier& verifier, const Config& config, const Binary& binary) {
  if (binary.status != CompileStatus::ok) {
    fmt::print("FAIL  {}: does not compile\n{}\n", to_string(config), binary.log);
    return false;
  }
  const auto start = std::chrono::steady_clock::now();
  const VerifyResult result = verifier.check(config, binary.code);
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  fmt::print("{}  {}: L2 {:.2e}, worst element {:.2f} of its bound, {} cases, {:.2f} s{}{}\n",
             result.passed() ? "ok  " : "FAIL", to_string(config), result.relative_l2, result.worst_element,
             result.cases, seconds, result.passed() ? "" : "\n      ", result.failure);
  std::fflush(stdout);
  return result.passed();
}

int run(const Options& options) {
  const hip::Device device = hip::open_device(options.device);
  const Problem problem = problem_of(options);
  const Op& op = find_op(options.op);
  const std::vector<Config> configs = configs_of(options, problem, arch_of(device));
  Verifier verifier(device, op, problem, quick_cases(problem), options.index_bits);
  Toolchain toolchain(ToolchainOptions{});
  int failures = 0;
  for (int i = options.first; i < static_cast<int>(configs.size()) && i < options.first + options.count; ++i) {
    const Config& config = configs[static_cast<std::size_t>(i)];
    if (!check(verifier, config, toolchain.compile(job_of(options, problem, config, device)))) ++failures;
  }
  fmt::print("{} of {} variants failed\n", failures, configs.size());
  return failures ? 1 : 0;
}

}  // namespace
}  // namespace headtune

int main(int argc, char** argv) {
  headtune::Options options;
  CLI::App app("Verifies variants of one problem on one device");
  app.add_option("--device", options.device, "cuda:0, rocm:0, sim:gfx950 or auto")->capture_default_str();
  app.add_option("--op", options.op, "operator")->capture_default_str();
  app.add_option("--heads", options.heads, "query/KV heads")->capture_default_str();
  app.add_option("--head-dim", options.head_dim)->capture_default_str();
  app.add_option("--v-head-dim", options.v_head_dim, "0: head_dim")->capture_default_str();
  app.add_option("--extend-len", options.extend_len)->capture_default_str();
  app.add_option("--dtype", options.dtype)->capture_default_str();
  app.add_option("--kv-dtype", options.kv_dtype, "default: --dtype");
  app.add_option("--index-bits", options.index_bits)->capture_default_str();
  app.add_option("--config", options.configs, "KNOB=VALUE,...; repeat for more; default: every legal one")
      ->delimiter(' ');
  app.add_option("--first", options.first, "first legal configuration to try")->capture_default_str();
  app.add_option("--count", options.count, "how many");
  app.add_flag("--causal,!--no-causal", options.causal)->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  try {
    return headtune::run(options);
  } catch (const headtune::Failure& failure) {
    fmt::print(stderr, "{}\n", failure.what());
    return static_cast<int>(failure.code());
  } catch (const headtune::hip::DeviceError& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
}
