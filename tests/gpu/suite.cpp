#include "suite.h"

#include <fmt/format.h>

#include <catch2/catch_test_macros.hpp>
#include <optional>
#include <set>

#include "codegen/render.h"
#include "tuner/error.h"
#include "tuner/space.h"
#include "tuner/verify.h"

namespace headtune::test {
namespace {

/// The device to test, or why there is none.
struct Choice {
  std::optional<hip::Device> device;
  std::string reason;
};

std::string first_real_device() {
  for (const std::string& spec : hip::device_specs())
    if (spec.rfind("sim:", 0) != 0) return spec;
  return {};
}

std::string chosen_spec;

Choice choose() {
  const std::string spec = chosen_spec.empty() ? first_real_device() : chosen_spec;
  if (spec.empty()) return {{}, "no GPU on this machine"};
  try {
    return {hip::open_device(spec), ""};
  } catch (const UnavailableError& error) {
    return {{}, error.what()};
  }
}

/// Loaded machines compile slowly: a hang is not what these tests look for.
ToolchainOptions patient() {
  ToolchainOptions options;
  options.timeout_seconds = 1200;
  return options;
}

Toolchain& toolchain() {
  static Toolchain client{patient()};
  return client;
}

const Space& space(const std::string& op) {
  static std::map<std::string, Space> spaces;
  auto found = spaces.find(op);
  if (found == spaces.end())
    found = spaces.emplace(op, read_space(templates_dir() / "headtune" / op / "space.json")).first;
  return found->second;
}

void require_compiled(const Config& config, const Binary& binary) {
  if (binary.status != CompileStatus::ok) FAIL(to_string(config) << " does not compile: " << binary.log);
}

}  // namespace

void choose_device(const std::string& spec) { chosen_spec = spec; }

const hip::Device& device() {
  static const Choice choice = choose();
  if (!choice.device) SKIP(choice.reason);
  return *choice.device;
}

const Arch& device_arch() {
  static const Arch arch = arch_of(device());
  return arch;
}

Problem problem(int q_heads, int kv_heads, int head_dim, int extend_len, bool causal, int v_head_dim) {
  Problem p;
  p.num_q_heads = q_heads, p.num_kv_heads = kv_heads, p.head_dim = head_dim, p.extend_len = extend_len;
  p.v_head_dim = v_head_dim ? v_head_dim : head_dim, p.is_causal = causal;
  return p;
}

std::vector<Config> sample_configs(const std::string& op, const Problem& problem, int count) {
  const std::vector<Config> legal = require_legal(space(op), problem, device_arch());
  std::vector<Config> chosen;
  std::set<std::pair<int, int>> seen;
  for (const Config& config : legal)
    if (seen.insert({config.load_path, config.fuse_combine}).second) chosen.push_back(config);
  for (int i = 1; i <= count; ++i) {
    const Config& config = legal[legal.size() * static_cast<std::size_t>(i) / static_cast<std::size_t>(count + 1)];
    if (std::find(chosen.begin(), chosen.end(), config) == chosen.end()) chosen.push_back(config);
  }
  return chosen;
}

std::vector<Binary> compile(const std::string& op, const Problem& problem, const std::vector<Config>& configs,
                            int index_bits) {
  const std::string& target = device().target;
  std::vector<CompileJob> jobs;
  for (const Config& config : configs)
    jobs.push_back({render(op, problem, config, index_bits), target, compile_options(target, templates_dir())});
  std::vector<Binary> binaries(jobs.size());
  toolchain().compile_all(jobs, [&](std::size_t i, Binary binary) { binaries[i] = std::move(binary); });
  for (std::size_t i = 0; i < configs.size(); ++i) require_compiled(configs[i], binaries[i]);
  return binaries;
}

Binary compile_source(const std::string& source) {
  const std::string& target = device().target;
  Binary binary = toolchain().compile({source, target, compile_options(target, templates_dir())});
  if (binary.status != CompileStatus::ok) FAIL("does not compile: " << binary.log);
  return binary;
}

void check(const std::string& op, const Problem& problem, const std::vector<Case>& cases,
           const std::vector<Config>& configs, int index_bits) {
  const std::vector<Binary> binaries = compile(op, problem, configs, index_bits);
  Verifier verifier(device(), find_op(op), problem, cases, index_bits);
  for (std::size_t i = 0; i < configs.size(); ++i) {
    const VerifyResult result = verifier.check(configs[i], binaries[i].code);
    INFO(op << " " << to_string(configs[i]));
    CHECK(result.failure == "");
  }
}

void check(const Problem& problem, const std::vector<Case>& cases, int index_bits) {
  for (const std::string& op : op_names()) check(op, problem, cases, sample_configs(op, problem), index_bits);
}

}  // namespace headtune::test
