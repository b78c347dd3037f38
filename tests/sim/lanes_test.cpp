// Instructions that move data between lanes.
#include <fmt/format.h>

#include <catch2/catch_test_macros.hpp>

#include "tests/sim/machine.h"

namespace headtune::sim {
namespace {

std::vector<std::uint32_t> copy(const std::uint32_t* lanes) { return {lanes, lanes + kLanes}; }

}  // namespace

TEST_CASE("readlane, writelane and readfirstlane", "[sim]") {
  Machine m;
  m.wave->s[3] = 64 + 17;  // only six bits count
  m.execute("v_readlane_b32 s1, v2, s3");
  REQUIRE(m.wave->s[1] == m.v(2)[17]);
  m.execute("v_readlane_b32 s1, v2, 5");
  REQUIRE(m.wave->s[1] == m.v(2)[5]);
  const auto before = copy(m.v(4));
  m.wave->set_exec(0);  // ignored by both
  m.wave->s[sreg::m0] = 9;
  m.execute("v_writelane_b32 v4, s1, m0");
  for (int lane = 0; lane < kLanes; ++lane) REQUIRE(m.v(4)[lane] == (lane == 9 ? m.wave->s[1] : before[lane]));
  m.execute("v_readfirstlane_b32 s6, v2");
  REQUIRE(m.wave->s[6] == m.v(2)[0]);
  m.wave->set_exec(std::uint64_t{1} << 40 | std::uint64_t{1} << 50);
  m.execute("v_readfirstlane_b32 s6, v2");
  REQUIRE(m.wave->s[6] == m.v(2)[40]);
}

TEST_CASE("permlane swaps exchange rows of two registers", "[sim]") {
  for (const int half : {16, 32}) {
    Machine m;
    const auto first = copy(m.v(1)), second = copy(m.v(2));
    m.execute(fmt::format("v_permlane{}_swap_b32_e32 v1, v2", half));
    for (int lane = 0; lane < kLanes; ++lane) {
      const bool upper = lane / half % 2;
      REQUIRE(m.v(1)[lane] == (upper ? second[lane - half] : first[lane]));
      REQUIRE(m.v(2)[lane] == (upper ? second[lane] : first[lane + half]));
    }
  }
}

TEST_CASE("ds_bpermute pulls, ds_permute pushes", "[sim]") {
  for (const std::uint64_t exec : {~std::uint64_t{0}, std::uint64_t{0x0f0f'3355'ffff'1248}}) {
    Machine m;
    m.wave->set_exec(exec);
    const auto old = copy(m.v(5));
    m.execute("ds_bpermute_b32 v5, v2, v3 offset:8");
    for (int lane = 0; lane < kLanes; ++lane) {
      const std::uint32_t source = (m.v(2)[lane] + 8) / 4 % 64;
      const std::uint32_t pulled = exec >> source & 1 ? m.v(3)[source] : 0;
      REQUIRE(m.v(5)[lane] == (exec >> lane & 1 ? pulled : old[lane]));
    }
    m.execute("ds_permute_b32 v6, v2, v3");
    for (int lane = 0; lane < kLanes; ++lane) {
      if (!(exec >> lane & 1)) continue;
      std::uint32_t pushed = 0;
      for (int from = 0; from < kLanes; ++from)
        if (exec >> from & 1 && m.v(2)[from] / 4 % 64 == static_cast<std::uint32_t>(lane)) pushed = m.v(3)[from];
      REQUIRE(m.v(6)[lane] == pushed);
    }
  }
}

TEST_CASE("ds_swizzle in each of its forms", "[sim]") {
  struct Form {
    const char* pattern;
    int (*source)(int lane);
  };
  const Form forms[] = {
      {"swizzle(QUAD_PERM,1,0,3,2)", [](int lane) { return lane ^ 1; }},
      {"swizzle(SWAP,16)", [](int lane) { return lane ^ 16; }},
      {"swizzle(REVERSE,8)", [](int lane) { return lane ^ 7; }},
      {"swizzle(BROADCAST,8,3)", [](int lane) { return lane / 8 * 8 + 3; }},
      {"swizzle(BITMASK_PERM,\"01pip\")", [](int lane) { return (lane & 0x20) | 8 | ((lane & 7) ^ 2); }},
      {"swizzle(ROTATE,0,9)", [](int lane) { return (lane & 0x20) | ((lane + 9) & 31); }},
      {"swizzle(ROTATE,1,3)", [](int lane) { return (lane & 0x20) | ((lane - 3) & 31); }},
  };
  for (const Form& form : forms) {
    Machine m;
    const std::uint64_t exec = m.random() | m.random();
    m.wave->set_exec(exec);
    const auto old = copy(m.v(5));
    m.execute(fmt::format("ds_swizzle_b32 v5, v2 offset:{}", form.pattern));
    INFO(form.pattern);
    for (int lane = 0; lane < kLanes; ++lane) {
      const int source = form.source(lane);
      const std::uint32_t value = exec >> source & 1 ? m.v(2)[source] : 0;
      REQUIRE(m.v(5)[lane] == (exec >> lane & 1 ? value : old[lane]));
    }
  }
  Machine m;
  REQUIRE_THROWS_AS(m.execute("ds_swizzle_b32 v5, v2 offset:swizzle(FFT,4)"), Fault);
}

}  // namespace headtune::sim
