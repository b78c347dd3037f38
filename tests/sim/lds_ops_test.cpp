// LDS instructions as text, against a statement about one lane.
#include <fmt/format.h>

#include <bit>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cmath>
#include <functional>

#include "tests/sim/machine.h"

namespace headtune::sim {
namespace {

constexpr int kBytes = 32768;

auto says(const std::string& text) { return Catch::Matchers::MessageMatches(Catch::Matchers::ContainsSubstring(text)); }

struct Fixture : Machine {
  explicit Fixture(Arch arch_ = Arch::gfx950) : Machine(arch_, kBytes) {
    for (int n = 0; n < kBytes; ++n) lds.data()[n] = static_cast<std::byte>(random());
  }
  std::uint32_t below(std::uint32_t limit) { return static_cast<std::uint32_t>(random() % limit); }
  std::uint8_t byte(std::uint32_t at) const { return static_cast<std::uint8_t>(memory_copy[at]); }
  void snapshot() { memory_copy.assign(lds.data(), lds.data() + kBytes); }
  std::uint64_t little(std::uint32_t at, int bytes) const {
    std::uint64_t value = 0;
    for (int n = bytes; n-- > 0;) value = value << 8 | byte(at + n);
    return value;
  }
  /// Random addresses in v2 so that address + offset stays inside; returns offset.
  std::uint32_t address_lanes(int align, std::uint32_t reach) {
    const std::uint32_t offset = below(2000) / align * align;
    for (int lane = 0; lane < kLanes; ++lane) v(2)[lane] = below((kBytes - reach - 2000) / align) * align;
    return offset;
  }
  std::vector<std::byte> memory_copy;
};

std::string tuple(char file, int first, int words) {
  return words == 1 ? fmt::format("{}{}", file, first) : fmt::format("{}[{}:{}]", file, first, first + words - 1);
}

struct Read {
  const char* name;
  int bytes;
  bool is_signed;
  int position;  ///< 0 whole register(s), 1 low half, 2 high half
};

}  // namespace

TEST_CASE("LDS reads of every width", "[sim]") {
  const Read reads[] = {
      {"ds_read_b32", 4, false, 0},      {"ds_read_b64", 8, false, 0},        {"ds_read_b96", 12, false, 0},
      {"ds_read_b128", 16, false, 0},    {"ds_read_u8", 1, false, 0},         {"ds_read_i8", 1, true, 0},
      {"ds_read_u16", 2, false, 0},      {"ds_read_i16", 2, true, 0},         {"ds_read_u8_d16", 1, false, 1},
      {"ds_read_i8_d16", 1, true, 1},    {"ds_read_u16_d16", 2, false, 1},    {"ds_read_u8_d16_hi", 1, false, 2},
      {"ds_read_i8_d16_hi", 1, true, 2}, {"ds_read_u16_d16_hi", 2, false, 2},
  };
  for (const Read& read : reads)
    for (const char file : {'v', 'a'}) {
      Fixture f;
      f.snapshot();
      const std::uint32_t offset = f.address_lanes(std::min(read.bytes, 4), 16);
      const std::uint64_t exec = f.random();
      f.wave->set_exec(exec);
      const int to = file == 'a' ? kFirstAccumulation + 20 : 20, words = std::max(1, read.bytes / 4);
      const std::vector<std::uint32_t> old(f.wave->v[to], f.wave->v[to] + kLanes);
      f.execute(fmt::format("{} {}, v2 offset:{}", read.name, tuple(file, 20, words), offset));
      INFO(read.name);
      for (int lane = 0; lane < kLanes; ++lane) {
        const std::uint32_t at = f.v(2)[lane] + offset;
        for (int n = 0; n < words; ++n) {
          std::uint32_t expected = static_cast<std::uint32_t>(f.little(at + 4 * n, std::min(read.bytes, 4)));
          if (read.is_signed && expected >> (8 * read.bytes - 1)) expected -= 1u << (8 * read.bytes);
          if (read.position == 1) expected = (old[lane] & 0xffff0000) | (expected & 0xffff);
          if (read.position == 2) expected = (old[lane] & 0xffff) | expected << 16;
          if (!(exec >> lane & 1)) {
            if (n == 0) REQUIRE(f.wave->v[to][lane] == old[lane]);
            continue;
          }
          REQUIRE(f.wave->v[to + n][lane] == expected);
        }
      }
      REQUIRE(f.wave->access.space == Space::lds);
      REQUIRE(f.wave->access.address[5] == f.v(2)[5] + offset);
    }
}

TEST_CASE("LDS writes of every width", "[sim]") {
  struct Write {
    const char* name;
    int bytes, shift;
  };
  const Write writes[] = {{"ds_write_b32", 4, 0},        {"ds_write_b64", 8, 0},        {"ds_write_b96", 12, 0},
                          {"ds_write_b128", 16, 0},      {"ds_write_b8", 1, 0},         {"ds_write_b16", 2, 0},
                          {"ds_write_b8_d16_hi", 1, 16}, {"ds_write_b16_d16_hi", 2, 16}};
  for (const Write& write : writes)
    for (const char file : {'v', 'a'}) {
      Fixture f;
      const std::uint32_t offset = f.address_lanes(std::min(write.bytes, 4), 16);
      const std::uint64_t exec = f.random();
      f.wave->set_exec(exec);
      f.snapshot();
      const int from = file == 'a' ? kFirstAccumulation + 20 : 20;
      for (int lane = 0; lane < kLanes; ++lane)
        for (int n = 0; n < write.bytes && (exec >> lane & 1); ++n) {
          const int bit = 8 * n + write.shift;
          f.memory_copy[f.v(2)[lane] + offset + n] =
              static_cast<std::byte>(f.wave->v[from + bit / 32][lane] >> (bit % 32));
        }
      f.execute(fmt::format("{} v2, {} offset:{}", write.name, tuple(file, 20, std::max(1, write.bytes / 4)), offset));
      INFO(write.name);
      REQUIRE(std::memcmp(f.lds.data(), f.memory_copy.data(), kBytes) == 0);
    }
}

TEST_CASE("LDS reads and writes of two places", "[sim]") {
  for (const int words : {1, 2})
    for (const int unit : {1, 64}) {
      Fixture f;
      const int scale = 4 * words * unit;
      const int offset0 = static_cast<int>(f.below(unit == 1 ? 256 : 20)),
                offset1 = static_cast<int>(f.below(unit == 1 ? 256 : 20));
      for (int lane = 0; lane < kLanes; ++lane) f.v(2)[lane] = f.below(1000) * 8;
      const std::uint64_t exec = f.random();
      f.wave->set_exec(exec);
      f.snapshot();
      const std::string suffix = fmt::format("{}_b{}", unit == 64 ? "st64" : "", 32 * words);
      f.execute(
          fmt::format("ds_read2{} {}, v2 offset0:{} offset1:{}", suffix, tuple('v', 20, 2 * words), offset0, offset1));
      for (int lane = 0; lane < kLanes; ++lane)
        for (int n = 0; n < 2 * words && (exec >> lane & 1); ++n) {
          const std::uint32_t at = f.v(2)[lane] + (n < words ? offset0 : offset1) * scale + n % words * 4;
          REQUIRE(f.v(20 + n)[lane] == f.little(at, 4));
        }
      REQUIRE(f.wave->access.parts == 2);
      REQUIRE(f.wave->access.part_stride == (offset1 - offset0) * scale);
      for (int lane = 0; lane < kLanes; ++lane)
        for (int n = 0; n < 2 * words && (exec >> lane & 1); ++n) {
          const std::uint32_t word = f.v((n < words ? 30 : 40) + n % words)[lane];
          // All lanes write place 0, then all lanes write place 1.
          if (n >= words) continue;
          std::memcpy(&f.memory_copy[f.v(2)[lane] + offset0 * scale + n * 4], &word, 4);
        }
      for (int lane = 0; lane < kLanes; ++lane)
        for (int n = 0; n < words && (exec >> lane & 1); ++n)
          std::memcpy(&f.memory_copy[f.v(2)[lane] + offset1 * scale + n * 4], &f.v(40 + n)[lane], 4);
      f.execute(fmt::format("ds_write2{} v2, {}, {} offset0:{} offset1:{}", suffix, tuple('v', 30, words),
                            tuple('v', 40, words), offset0, offset1));
      REQUIRE(std::memcmp(f.lds.data(), f.memory_copy.data(), kBytes) == 0);
    }
}

TEST_CASE("LDS accesses by lane number", "[sim]") {
  Fixture f;
  f.wave->s[sreg::m0] = 512;
  f.snapshot();
  f.execute("ds_read_addtid_b32 v20 offset:16");
  for (int lane = 0; lane < kLanes; ++lane) REQUIRE(f.v(20)[lane] == f.little(528 + 4 * lane, 4));
  f.execute("ds_write_addtid_b32 v21 offset:1024");
  REQUIRE(std::memcmp(f.lds.data() + 1536, f.v(21), 256) == 0);
}

TEST_CASE("transposed LDS reads give lane c of each 16 the column c", "[sim]") {
  struct Transposed {
    const char* name;
    int bits, lane_bits;
  };
  for (const Transposed& t : {Transposed{"ds_read_b64_tr_b16", 16, 64},
                              {"ds_read_b64_tr_b8", 8, 64},
                              {"ds_read_b64_tr_b4", 4, 64},
                              {"ds_read_b96_tr_b6", 6, 96}}) {
    Fixture f;
    f.snapshot();
    for (int lane = 0; lane < kLanes; ++lane) f.v(2)[lane] = f.below(2000) * 8;
    f.execute(fmt::format("{} {}, v2 offset:64", t.name, tuple('v', 20, t.lane_bits / 32)));
    // The group's 16 x lane_bits form rows of 16 elements; element (row, column) as bit position in the row.
    const int rows = t.lane_bits / t.bits;
    const auto bit_at = [&](int group, int row, int bit_in_row) {
      const int flat = row * 16 * t.bits + bit_in_row;
      const std::uint32_t at = f.v(2)[16 * group + flat / t.lane_bits] + 64;
      const int bit = flat % t.lane_bits;
      return f.byte(at + bit / 8) >> (bit % 8) & 1;
    };
    INFO(t.name);
    for (int lane = 0; lane < kLanes; ++lane)
      for (int row = 0; row < rows; ++row)
        for (int b = 0; b < t.bits; ++b) {
          const int to = row * t.bits + b;
          REQUIRE(static_cast<int>(f.v(20 + to / 32)[lane] >> (to % 32) & 1) ==
                  bit_at(lane / 16, row, lane % 16 * t.bits + b));
        }
  }
}

// --- atomics --------------------------------------------------------------------------------------------------------

namespace {

using Op = std::function<std::uint64_t(std::uint64_t old, std::uint64_t a, std::uint64_t b)>;

struct Atomic {
  std::string name;  ///< without ds_ and rtn: "add_u32"
  int bytes;
  int sources;
  Op op;
  bool only_returning = false;
};

template <class T>
T as(std::uint64_t bits) {
  T value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

template <class T>
std::uint64_t bits_of(T value) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof value);
  return bits;
}

template <class U, class S>
void add_integers(std::vector<Atomic>& all, const std::string& width) {
  const auto add = [&](const std::string& name, auto f, int sources = 1, bool only_returning = false) {
    all.push_back({name, sizeof(U), sources,
                   [f](std::uint64_t old, std::uint64_t a, std::uint64_t b) {
                     return std::uint64_t{static_cast<U>(f(static_cast<U>(old), static_cast<U>(a), static_cast<U>(b)))};
                   },
                   only_returning});
  };
  add("add_u" + width, [](U old, U a, U) { return old + a; });
  add("sub_u" + width, [](U old, U a, U) { return old - a; });
  add("rsub_u" + width, [](U old, U a, U) { return a - old; });
  add("inc_u" + width, [](U old, U a, U) { return old >= a ? U{0} : old + 1; });
  add("dec_u" + width, [](U old, U a, U) { return old == 0 || old > a ? a : old - 1; });
  add("min_u" + width, [](U old, U a, U) { return std::min(old, a); });
  add("max_u" + width, [](U old, U a, U) { return std::max(old, a); });
  add("min_i" + width, [](U old, U a, U) { return static_cast<U>(std::min(static_cast<S>(old), static_cast<S>(a))); });
  add("max_i" + width, [](U old, U a, U) { return static_cast<U>(std::max(static_cast<S>(old), static_cast<S>(a))); });
  add("and_b" + width, [](U old, U a, U) { return old & a; });
  add("or_b" + width, [](U old, U a, U) { return old | a; });
  add("xor_b" + width, [](U old, U a, U) { return old ^ a; });
  add(
      "wrxchg_b" + width, [](U, U a, U) { return a; }, 1, true);
  add(
      "mskor_b" + width, [](U old, U a, U b) { return (old & ~a) | b; }, 2);
  add(
      "cmpst_b" + width, [](U old, U a, U b) { return old == a ? b : old; }, 2);
}

std::vector<Atomic> atomics() {
  std::vector<Atomic> all;
  add_integers<std::uint32_t, std::int32_t>(all, "32");
  add_integers<std::uint64_t, std::int64_t>(all, "64");
  const auto floats = [&]<class T>(T, const std::string& suffix) {
    const auto add = [&](const char* name, auto f) {
      all.push_back({name + suffix, sizeof(T), 1, [f](std::uint64_t old, std::uint64_t a, std::uint64_t) {
                       return bits_of<T>(f(as<T>(old), as<T>(a)));
                     }});
    };
    add("add_", [](T x, T y) { return x + y; });
    add("min_", [](T x, T y) { return std::fmin(x, y); });
    add("max_", [](T x, T y) { return std::fmax(x, y); });
    all.push_back({"cmpst_" + suffix, sizeof(T), 2, [](std::uint64_t old, std::uint64_t a, std::uint64_t b) {
                     return as<T>(old) == as<T>(a) ? b : old;
                   }});
  };
  floats(float{}, "f32");
  floats(double{}, "f64");
  all.push_back(
      {"wrap_b32", 4, 2,
       [](std::uint64_t old, std::uint64_t a, std::uint64_t b) { return (old >= a ? old - a : old + b) & 0xffffffff; },
       true});
  return all;
}

std::string rtn(const std::string& name) {
  const auto at = name.rfind('_');
  return name.substr(0, at) + "_rtn" + name.substr(at);
}

}  // namespace

TEST_CASE("LDS atomics with and without a return value", "[sim]") {
  for (const Atomic& atomic : atomics())
    for (const bool returns : {false, true}) {
      if (!returns && atomic.only_returning) continue;
      Fixture f;
      const int words = atomic.bytes / 4;
      const bool real = atomic.name.find("_f") != atomic.name.npos;
      const std::uint64_t mask = words == 1 ? 0xffffffff : ~std::uint64_t{0};
      // Few places, so that lanes meet; every value a moderate finite number when read as float.
      const auto tame = [&](std::uint64_t bits) {
        return real ? words == 1 ? (bits & 0xbfffffff) | 0x30000000 : (bits & 0xbfffffffffffffff) | 0x3000000000000000
                    : bits;
      };
      for (std::uint32_t at = 0; at < 8192; at += atomic.bytes) {
        const std::uint64_t bits = tame(f.random());
        std::memcpy(f.lds.data() + at, &bits, atomic.bytes);
      }
      f.snapshot();
      const std::uint64_t exec = f.random();
      f.wave->set_exec(exec);
      std::vector<std::uint64_t> returned(kLanes);
      for (int lane = 0; lane < kLanes; ++lane) {
        f.v(2)[lane] = f.below(40) * atomic.bytes;
        const std::uint32_t at = f.v(2)[lane] + 64;
        const std::uint64_t old = f.little(at, atomic.bytes);
        const std::uint64_t a = (f.below(2) ? old : tame(f.random())) & mask, b = tame(f.random()) & mask;
        for (int n = 0; n < words; ++n) {
          f.v(20 + n)[lane] = static_cast<std::uint32_t>(a >> (32 * n));
          f.v(24 + n)[lane] = static_cast<std::uint32_t>(b >> (32 * n));
        }
        if (!(exec >> lane & 1)) continue;
        returned[lane] = old;
        const std::uint64_t now = atomic.op(old, a, b);
        std::memcpy(&f.memory_copy[at], &now, atomic.bytes);
      }
      const std::string data =
          tuple('v', 20, words) + (atomic.sources == 2 ? ", " + tuple('v', 24, words) : std::string());
      const std::string text =
          returns ? fmt::format("ds_{} {}, v2, {} offset:64", rtn(atomic.name), tuple('v', 30, words), data)
                  : fmt::format("ds_{} v2, {} offset:64", atomic.name, data);
      INFO(text);
      f.execute(text);
      REQUIRE(std::memcmp(f.lds.data(), f.memory_copy.data(), kBytes) == 0);
      for (int lane = 0; lane < kLanes; ++lane)
        for (int n = 0; n < words && returns && (exec >> lane & 1); ++n)
          REQUIRE(f.v(30 + n)[lane] == static_cast<std::uint32_t>(returned[lane] >> (32 * n)));
    }
}

TEST_CASE("packed LDS atomics", "[sim]") {
  Fixture f;
  f.wave->set_exec(1);
  f.v(2)[0] = 0;
  std::uint32_t word = 0x3c004000, sum;  // 1, 2 as f16
  std::memcpy(f.lds.data(), &word, 4);
  f.v(4)[0] = 0x42004400;  // 3, 4
  f.execute("ds_pk_add_f16 v2, v4");
  std::memcpy(&sum, f.lds.data(), 4);
  REQUIRE(sum == 0x44004600);  // 4, 6
  word = 0x3f804000;           // 1, 2 as bf16
  std::memcpy(f.lds.data(), &word, 4);
  f.v(4)[0] = 0x40404080;  // 3, 4
  f.execute("ds_pk_add_rtn_bf16 v5, v2, v4");
  std::memcpy(&sum, f.lds.data(), 4);
  REQUIRE(sum == 0x408040c0);  // 4, 6
  REQUIRE(f.v(5)[0] == 0x3f804000);
}

TEST_CASE("LDS exchanges with two places", "[sim]") {
  Fixture f;
  for (int lane = 0; lane < kLanes; ++lane) f.v(2)[lane] = 64 * lane;
  f.snapshot();
  f.execute("ds_wrxchg2_rtn_b32 v[8:9], v2, v4, v6 offset0:3 offset1:5");
  for (int lane = 0; lane < kLanes; ++lane) {
    REQUIRE(f.v(8)[lane] == f.little(64 * lane + 12, 4));
    REQUIRE(f.v(9)[lane] == f.little(64 * lane + 20, 4));
    std::memcpy(&f.memory_copy[64 * lane + 12], &f.v(4)[lane], 4);
    std::memcpy(&f.memory_copy[64 * lane + 20], &f.v(6)[lane], 4);
  }
  REQUIRE(std::memcmp(f.lds.data(), f.memory_copy.data(), kBytes) == 0);
}

TEST_CASE("append and consume count active lanes", "[sim]") {
  Fixture f;
  f.wave->s[sreg::m0] = 100;
  const std::uint32_t start = 7;
  std::memcpy(f.lds.data() + 108, &start, 4);
  f.wave->set_exec(0xff00);
  f.execute("ds_append v8 offset:8");
  REQUIRE(f.v(8)[9] == 7);
  f.execute("ds_consume v8 offset:8");
  REQUIRE(f.v(8)[9] == 15);
  std::uint32_t end;
  std::memcpy(&end, f.lds.data() + 108, 4);
  REQUIRE(end == 7);
}

// --- faults ---------------------------------------------------------------------------------------------------------

TEST_CASE("LDS instructions fault outside the allocation and when misaligned", "[sim]") {
  Fixture f;
  for (int lane = 0; lane < kLanes; ++lane) f.v(2)[lane] = 16 * lane;
  f.v(2)[11] = kBytes - 8;
  REQUIRE_THROWS_MATCHES(f.execute("ds_read_b128 v[20:23], v2"), Fault, says("outside the workgroup's 32768 bytes"));
  REQUIRE_NOTHROW(f.execute("ds_read_b64 v[20:21], v2"));
  f.v(2)[11] = 0xfffffffc;
  REQUIRE_THROWS_AS(f.execute("ds_write_b32 v2, v4"), Fault);
  f.v(2)[11] = 6;
  REQUIRE_THROWS_MATCHES(f.execute("ds_read_b32 v20, v2"), Fault, says("misaligned"));
  REQUIRE_NOTHROW(f.execute("ds_read_u16 v20, v2"));
  f.v(2)[11] = 4;
  REQUIRE_NOTHROW(f.execute("ds_read_b64 v[20:21], v2"));  // dword alignment suffices for reads and writes
  REQUIRE_THROWS_MATCHES(f.execute("ds_add_u64 v2, v[20:21]"), Fault, says("misaligned"));
}

TEST_CASE("LDS instructions report races between waves when asked", "[sim]") {
  Machine machine(Arch::gfx950, 4096, true);
  for (int lane = 0; lane < kLanes; ++lane) machine.v(2)[lane] = 4 * lane;
  machine.execute("ds_write_b32 v2, v4");
  REQUIRE_NOTHROW(machine.execute("ds_read_b32 v5, v2"));
  machine.wave->wave_in_group = 1;
  REQUIRE_THROWS_MATCHES(machine.execute("ds_read_b32 v5, v2"), Fault, says("race"));
  machine.lds.pass_barrier();
  REQUIRE_NOTHROW(machine.execute("ds_read_b32 v5, v2"));
  REQUIRE_THROWS_MATCHES(machine.execute("ds_read_b32 v5, v2 offset:256"), Fault, says("never-written"));
}

}  // namespace headtune::sim
