// The code-object loader: a real object is read in full; damaged ones are refused and never crash it.
#include "tuner/sim/loader.h"

#include <catch2/catch_test_macros.hpp>
#include <cstring>
#include <random>

#include "tuner/error.h"
#include "tuner/sim/program.h"
#include "tuner/toolchain.h"

using namespace headtune;
using namespace headtune::sim;

namespace {

const std::vector<std::byte>& real_object() {
  static const std::vector<std::byte> code = [] {
    ToolchainOptions options;
    options.jobs = 1;
    try {
      Toolchain toolchain(options);
      const std::string source =
          "extern \"C\" __global__ __launch_bounds__(128) void k(float* y, short n) "
          "{ __shared__ float s[64]; s[threadIdx.x & 63] = n; __syncthreads(); y[threadIdx.x] = s[5]; }";
      return toolchain.compile({source, "gfx942", {"-O3"}}).code;
    } catch (const UnavailableError&) {
      return std::vector<std::byte>{};
    }
  }();
  if (code.empty()) SKIP("no compiler");
  return code;
}

/// Loads bytes of any kind; true when they were accepted.
bool accepted(std::span<const std::byte> bytes) {
  try {
    const CodeObject object = load(bytes);
    // What the loader promises to the decoder and to launches.
    REQUIRE(object.text_end <= object.image.size());
    return true;
  } catch (const BadCode&) {
    return false;
  }
}

}  // namespace

TEST_CASE("a real code object is read in full", "[sim]") {
  const CodeObject object = load(real_object());
  CHECK(object.arch == Arch::gfx942);
  REQUIRE(object.kernels.contains("k"));
  const Kernel& kernel = object.kernels.at("k");
  CHECK(kernel.lds_bytes == 256);
  CHECK(kernel.max_workgroup_size == 128);
  CHECK(kernel.arguments.at(0).kind == "global_buffer");
  CHECK(kernel.arguments.at(1).offset == 8);
  CHECK(kernel.arguments.at(1).size == 2);
  CHECK(kernel.entry >= object.text_begin);
  CHECK(kernel.entry < object.text_end);
  CHECK((kernel.start_mode() & 0xf0) == 0xf0);
}

TEST_CASE("truncated code objects are refused", "[sim]") {
  const auto& code = real_object();
  for (std::size_t size = 0; size < code.size(); size += 1 + size / 97) {
    const std::vector<std::byte> part(code.begin(), code.begin() + static_cast<std::ptrdiff_t>(size));
    CHECK_FALSE(accepted(part));
  }
}

TEST_CASE("damaged code objects never crash the loader", "[sim]") {
  const auto& code = real_object();
  std::mt19937_64 random(20261130);
  for (int round = 0; round < 5000; ++round) {
    auto damaged = code;
    for (int edit = 0; edit < 1 + round % 8; ++edit) {
      const std::size_t at = round % 2 ? random() % 64 : random() % damaged.size();
      damaged[at] = static_cast<std::byte>(random());
    }
    accepted(damaged);
  }
  SUCCEED();
}

TEST_CASE("random bytes behind a valid header never crash the loader", "[sim]") {
  const auto& code = real_object();
  std::mt19937_64 random(2);
  for (int round = 0; round < 1000; ++round) {
    auto damaged = code;
    for (std::size_t at = 64; at < damaged.size(); at += 1 + random() % 64)
      damaged[at] = static_cast<std::byte>(random() & random());
    accepted(damaged);
  }
  SUCCEED();
}
