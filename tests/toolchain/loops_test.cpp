// What the machine code of the register path's main loop must not hold: found once in each case, at the price of a trip
// to memory per tile (docs/kernels.md).
#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <charconv>

#include "codegen/render.h"
#include "tuner/error.h"
#include "tuner/toolchain.h"

using namespace headtune;

namespace {

Toolchain& toolchain() {
  static Toolchain client{ToolchainOptions{}};
  return client;
}

std::vector<Instruction> stage1(const Problem& problem, const std::string& arch) {
  Config config;
  config.block_h = 4, config.block_n = 128, config.num_warps = 4, config.row_warps = 1, config.load_path = 0;
  const Binary binary =
      toolchain().compile({render("verify_shared_kv", problem, config), arch, compile_options(arch, templates_dir())});
  std::vector<Instruction> code = toolchain().disassemble(binary.code, arch);
  const auto end = std::ranges::find(code, "s_endpgm", &Instruction::text);  // stage 1 comes first
  code.erase(end, code.end());
  return code;
}

bool holds(const std::vector<Instruction>& code, std::string_view word) {
  return std::ranges::any_of(code, [&](const Instruction& i) { return i.text.find(word) != std::string::npos; });
}

/// Where a branch goes back to, or 0: "s_cbranch_scc1 65290" counts words from the next instruction, in 16 bits.
std::uint64_t back_target(const Instruction& instruction) {
  const std::string& text = instruction.text;
  if (!text.starts_with("s_branch") && !text.starts_with("s_cbranch")) return 0;
  int words = 0;
  std::from_chars(text.data() + text.find(' ') + 1, text.data() + text.size(), words);
  return words < 32768 ? 0 : instruction.pc + instruction.size - (65536 - words) * 4;
}

/// The shortest way back over both products and loads of the next tile.
std::vector<Instruction> main_loop(const std::vector<Instruction>& code) {
  std::vector<Instruction> loop;
  for (const Instruction& branch : code) {
    const std::uint64_t target = back_target(branch);
    if (target == 0) continue;
    std::vector<Instruction> span;
    std::ranges::copy_if(code, std::back_inserter(span),
                         [&](const Instruction& i) { return i.pc >= target && i.pc <= branch.pc; });
    if (holds(span, "v_mfma") && holds(span, "global_load") && (loop.empty() || span.size() < loop.size())) loop = span;
  }
  return loop;
}

/// What the loop's strictest wait leaves in flight.
int least_in_flight(const std::vector<Instruction>& loop) {
  int least = 64;
  for (const Instruction& i : loop) {
    const std::size_t at = i.text.find("vmcnt(");
    if (at == std::string::npos) continue;
    int left = 0;
    std::from_chars(i.text.data() + at + 6, i.text.data() + i.text.size(), left);
    least = std::min(least, left);
  }
  return least;
}

}  // namespace

TEST_CASE("loops: the register path waits for no load of the next tile, and takes few instructions") {
  const std::string arch = GENERATE("gfx90a", "gfx942", "gfx950");
  const auto [problem, most_per_key] =
      GENERATE(std::pair{Problem{64, 64, 16, 4, 8, false}, 6}, std::pair{Problem{256, 256, 8, 1, 4, true}, 10});
  try {
    toolchain().version(arch);
  } catch (const UnavailableError& error) {
    SKIP("no compiler for " << arch << ": " << error.what());
  }
  const std::vector<Instruction> code = stage1(problem, arch), loop = main_loop(code);
  INFO(arch << " head_dim " << problem.head_dim << ", " << loop.size() << " of " << code.size() << " instructions");
  REQUIRE(!loop.empty());
  // Behind V of this tile two rows of K of the next have been asked for, 16 bytes at a time, and their slots.
  CHECK(least_in_flight(loop) >= 2 * problem.head_dim / 32 + 2);
  CHECK(std::ssize(loop) <= 32 * most_per_key);
  CHECK(!holds(loop, "s_barrier"));
  CHECK(!holds(code, "scratch_"));
  CHECK(!holds(code, "v_accvgpr"));
}
