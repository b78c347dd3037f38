// The memory map and its checker, and the LDS checker, without instructions.
#include "tuner/sim/memory.h"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cstring>
#include <numeric>
#include <thread>

namespace headtune::sim {
namespace {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;

auto says(const std::string& text) { return MessageMatches(ContainsSubstring(text)); }

std::vector<std::uint8_t> counting(std::size_t bytes) {
  std::vector<std::uint8_t> data(bytes);
  std::iota(data.begin(), data.end(), std::uint8_t{1});
  return data;
}

}  // namespace

TEST_CASE("host copies go in and out of simulated memory", "[sim]") {
  Memory memory;
  const std::uint64_t a = memory.allocate(1000), b = memory.allocate(1000);
  const auto data = counting(1000);
  memory.write(a, data.data(), 1000);
  memory.copy(b + 10, a + 20, 500);
  memory.fill(b + 600, 0xab, 7);
  std::vector<std::uint8_t> back(1000);
  memory.read(back.data(), b, 1000);
  REQUIRE(std::equal(back.begin() + 10, back.begin() + 510, data.begin() + 20));
  REQUIRE(back[600] == 0xab);
  REQUIRE(back[607] == 0);
  REQUIRE(memory.bytes_in_use() == 2000);
}

TEST_CASE("allocations have windows of their own and their addresses carry", "[sim]") {
  Memory memory;
  const std::uint64_t a = memory.allocate(1 << 20), b = memory.allocate(16);
  REQUIRE(a % 4096 == 0);
  REQUIRE((a >> 32) != ((a + (1 << 20) - 1) >> 32));  // low word overflows inside the allocation
  REQUIRE(b - a > 0xffff'0000u);
  REQUIRE((b + 16) >> 48 == 0);
  REQUIRE(b < kScratchDescriptorBase);
}

TEST_CASE("an access must lie inside one live allocation", "[sim]") {
  Memory memory;
  const std::uint64_t a = memory.allocate(100, "keys");
  memory.fill(a, 1, 100);
  REQUIRE_NOTHROW(memory.access(a + 96, 4, Use::load, 0));
  REQUIRE_THROWS_MATCHES(memory.access(a + 97, 4, Use::load, 5), Fault, says("byte 97 of keys of 100 bytes"));
  REQUIRE_THROWS_MATCHES(memory.access(a + 140, 4, Use::store, 5), Fault, says("40 bytes past the end of keys"));
  REQUIRE_THROWS_MATCHES(memory.access(a - 8, 8, Use::load, 5), Fault, says("8 bytes before keys"));
  REQUIRE_THROWS_MATCHES(memory.access(0, 4, Use::load, 5), Fault, says("outside every allocation"));
  REQUIRE_THROWS_MATCHES(memory.access(~std::uint64_t{3}, 4, Use::load, 5), Fault, says("outside every allocation"));
  REQUIRE_THROWS_MATCHES(memory.access(std::uint64_t{1} << 60, 4, Use::load, 5), Fault, says("no known allocation"));
  try {
    memory.access(a + 100, 4, Use::store, 17);
    FAIL("no fault");
  } catch (const Fault& fault) {
    REQUIRE(fault.lane == 17);
    REQUIRE(fault.address == a + 100);
  }
}

TEST_CASE("use after free and double free are reported", "[sim]") {
  Memory memory;
  const std::uint64_t a = memory.allocate(64, "workspace");
  memory.fill(a, 0, 64);
  memory.release(a);
  REQUIRE_THROWS_MATCHES(memory.access(a, 4, Use::load, 0), Fault, says("after free, workspace of 64 bytes"));
  REQUIRE_THROWS_MATCHES(memory.release(a), Fault, says("already freed"));
  REQUIRE_THROWS_MATCHES(memory.release(a + 8), Fault, says("no allocation starts"));
  REQUIRE_THROWS_MATCHES(memory.write(a, "x", 1), Fault, says("after free"));
  for (int n = 0; n < 1000; ++n) REQUIRE(memory.allocate(64) != a);  // addresses come back late
}

TEST_CASE("reads of never-written bytes are reported, byte by byte", "[sim]") {
  Memory memory;
  const std::uint64_t a = memory.allocate(64, "partial");
  REQUIRE_THROWS_MATCHES(memory.access(a, 4, Use::load, 0), Fault, says("never-written"));
  memory.access(a + 5, 2, Use::store, 0);
  REQUIRE_NOTHROW(memory.access(a + 5, 2, Use::load, 0));
  REQUIRE_NOTHROW(memory.access(a + 6, 1, Use::load, 0));
  REQUIRE_THROWS_AS(memory.access(a + 4, 2, Use::load, 0), Fault);
  REQUIRE_THROWS_AS(memory.access(a + 6, 2, Use::load, 0), Fault);
  REQUIRE_THROWS_MATCHES(memory.access(a + 8, 4, Use::atomic, 0), Fault, says("atomic of 4 never-written"));
  memory.access(a + 8, 16, Use::store, 0);
  REQUIRE_NOTHROW(memory.access(a + 8, 16, Use::load, 0));
  const auto data = counting(64);
  memory.write(a, data.data(), 40);
  REQUIRE_NOTHROW(memory.access(a + 24, 16, Use::load, 0));
  REQUIRE_THROWS_AS(memory.access(a + 40, 1, Use::load, 0), Fault);
  memory.check_uninitialised(false);
  REQUIRE_NOTHROW(memory.access(a + 40, 1, Use::load, 0));
}

TEST_CASE("a copy of never-written bytes stays never written", "[sim]") {
  Memory memory;
  const std::uint64_t a = memory.allocate(32), b = memory.allocate(32);
  memory.access(a + 3, 2, Use::store, 0);
  memory.copy(b, a, 32);
  REQUIRE_NOTHROW(memory.access(b + 3, 2, Use::load, 0));
  REQUIRE_THROWS_AS(memory.access(b + 2, 2, Use::load, 0), Fault);
}

TEST_CASE("a pool of many GiB costs only what is touched", "[sim]") {
  Memory memory;
  const std::uint64_t bytes = std::uint64_t{40} << 30;
  const std::uint64_t a = memory.allocate(bytes, "pool");
  memory.fill(a, 0, bytes);
  const std::uint64_t far = a + bytes - 4;
  memory.write(far, "abcd", 4);
  REQUIRE(std::memcmp(memory.access(far, 4, Use::load, 0), "abcd", 4) == 0);
  REQUIRE(static_cast<int>(*memory.access(a + bytes / 2, 1, Use::load, 0)) == 0);
  REQUIRE_THROWS_AS(memory.access(far + 1, 4, Use::load, 0), Fault);
  const std::uint64_t b = memory.allocate(4);
  REQUIRE(b > a + bytes);
  REQUIRE_THROWS_AS(memory.allocate(std::uint64_t{1} << 50), std::bad_alloc);
}

TEST_CASE("two threads may read and write different dwords of one allocation", "[sim]") {
  Memory memory;
  const std::uint64_t a = memory.allocate(1 << 16);
  const auto work = [&](std::uint64_t first) {
    for (std::uint64_t at = first; at < 1 << 16; at += 8)
      for (int byte = 0; byte < 4; ++byte) *memory.access(a + at + byte, 1, Use::store, 0) = std::byte{7};
  };
  std::thread other(work, 4);
  work(0);
  other.join();
  for (std::uint64_t at = 0; at < 1 << 16; at += 16) REQUIRE_NOTHROW(memory.access(a + at, 16, Use::load, 0));
}

TEST_CASE("LDS accesses are checked for range and alignment", "[sim]") {
  const Lds lds(256);
  REQUIRE_NOTHROW(lds.require(240, 16, 4, 0));
  REQUIRE_THROWS_MATCHES(lds.require(244, 16, 4, 3), Fault, says("outside the workgroup's 256 bytes"));
  REQUIRE_THROWS_MATCHES(lds.require(0xffffffffu, 4, 4, 3), Fault, says("outside"));
  REQUIRE_THROWS_MATCHES(lds.require(6, 4, 4, 3), Fault, says("misaligned LDS access of 4 bytes at 6"));
}

TEST_CASE("LDS races between waves are found; barriers, atomics and own accesses are not races", "[sim]") {
  Lds lds(64, true);
  lds.note(0, 8, Use::store, 0, 0);
  REQUIRE_NOTHROW(lds.note(4, 4, Use::load, 0, 0));
  REQUIRE_THROWS_MATCHES(lds.note(4, 4, Use::load, 1, 9), Fault, says("wave 0 wrote with no barrier"));
  lds.pass_barrier();
  REQUIRE_NOTHROW(lds.note(0, 8, Use::load, 1, 0));
  REQUIRE_NOTHROW(lds.note(0, 8, Use::load, 2, 0));
  REQUIRE_THROWS_MATCHES(lds.note(0, 4, Use::store, 1, 0), Fault, says("which wave 2 read"));
  lds.pass_barrier();
  REQUIRE_NOTHROW(lds.note(0, 2, Use::store, 1, 0));
  REQUIRE_NOTHROW(lds.note(2, 2, Use::store, 2, 0));  // halves of one dword
  const std::uint32_t zero = 0, one = 1;              // LDS starts as zeros here
  REQUIRE_NOTHROW(lds.note(32, 4, Use::store, 1, 0, &zero));
  REQUIRE_NOTHROW(lds.note(32, 4, Use::store, 2, 0, &zero));  // the same value
  REQUIRE_THROWS_MATCHES(lds.note(32, 4, Use::store, 3, 0, &one), Fault, says("wrote with no barrier"));
  REQUIRE_NOTHROW(lds.note(16, 4, Use::atomic, 1, 0));
  REQUIRE_NOTHROW(lds.note(16, 4, Use::atomic, 2, 0));
  REQUIRE_THROWS_MATCHES(lds.note(16, 4, Use::load, 1, 0), Fault, says("updated"));
  REQUIRE_THROWS_MATCHES(lds.note(40, 4, Use::load, 1, 0), Fault, says("never-written byte 40"));
  lds.reset();
  REQUIRE_THROWS_MATCHES(lds.note(0, 4, Use::load, 1, 0), Fault, says("never-written"));
}

TEST_CASE("without the race check LDS accesses are only checked for range", "[sim]") {
  Lds lds(64);
  REQUIRE_NOTHROW(lds.note(0, 4, Use::store, 0, 0));
  REQUIRE_NOTHROW(lds.note(0, 4, Use::load, 1, 0));
}

}  // namespace headtune::sim
