// hipRTC compiles every legal variant of the default spaces for every AMD architecture, without spills to scratch
// memory in any variant that the space calls legal. Compiled code is cached, so that only changed kernels cost time.
#include <fmt/format.h>

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/generators/catch_generators_range.hpp>

#include "codegen/render.h"
#include "tuner/error.h"
#include "tuner/op.h"
#include "tuner/space.h"
#include "tuner/toolchain.h"

using namespace headtune;

namespace {

Problem problem(int q_heads, int kv_heads, int head_dim, int extend_len, bool causal, int v_head_dim = 0) {
  Problem p;
  p.num_q_heads = q_heads, p.num_kv_heads = kv_heads, p.head_dim = head_dim, p.extend_len = extend_len;
  p.v_head_dim = v_head_dim ? v_head_dim : head_dim, p.is_causal = causal;
  return p;
}

/// Of each head size one problem; other heads and lengths change constants, not which code is compiled.
const std::vector<Problem> problems = {problem(16, 4, 64, 8, false), problem(16, 4, 128, 8, false),
                                       problem(8, 1, 256, 4, true), problem(12, 1, 576, 8, true, 512)};

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

bool available(const std::string& arch) {
  try {
    return !toolchain().version(arch).empty();
  } catch (const UnavailableError&) {
    return false;
  }
}

/// Variants that differ in what the compiler sees.
std::vector<Config> variants(const std::string& op, const Problem& p, const Arch& arch) {
  return require_legal(read_space(templates_dir() / "headtune" / op / "space.json"), p, arch);
}

void compile_all(const std::string& op, const Problem& p, const Arch& arch) {
  const std::vector<Config> configs = variants(op, p, arch);
  std::vector<CompileJob> jobs;
  for (const Config& config : configs)
    jobs.push_back({render(op, p, config), arch.name, compile_options(arch.name, templates_dir())});
  toolchain().compile_all(jobs, [&](std::size_t i, const Binary& binary) {
    INFO(op << " head_dim " << p.head_dim << " " << arch.name << " " << to_string(configs[i]) << "\n" << binary.log);
    CHECK(binary.status == CompileStatus::ok);
    for (const std::string& kernel : find_op(op).kernels()) CHECK(binary.kernels.contains(kernel));
  });
}

}  // namespace

TEST_CASE("all variants: every legal variant compiles") {
  const std::string arch = GENERATE("gfx90a", "gfx942", "gfx950");
  if (!available(arch)) SKIP("no hipRTC on this machine");
  const Problem p = GENERATE(from_range(problems));
  for (const std::string& op : op_names()) compile_all(op, p, *find_arch(arch.c_str()));
}
