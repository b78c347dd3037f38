// Atomics as text, every address form, against a statement about one lane.
#include <bit>
#include <catch2/catch_test_macros.hpp>
#include <cmath>

#include "tests/sim/memory_fixture.h"

namespace headtune::sim {
namespace {

using Op = std::function<std::uint64_t(std::uint64_t old, std::uint64_t data, std::uint64_t compare)>;

struct Atomic {
  std::string name;
  int bytes;
  Op op;
  bool compares = false;
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
void add_integers(std::vector<Atomic>& all, const std::string& suffix) {
  const auto add = [&](const char* name, auto f) {
    all.push_back({name + suffix, sizeof(U), [f](std::uint64_t old, std::uint64_t data, std::uint64_t) {
                     return std::uint64_t{static_cast<U>(f(static_cast<U>(old), static_cast<U>(data)))};
                   }});
  };
  add("swap", [](U, U data) { return data; });
  add("add", [](U old, U data) { return old + data; });
  add("sub", [](U old, U data) { return old - data; });
  add("smin", [](U old, U data) { return static_cast<U>(std::min(static_cast<S>(old), static_cast<S>(data))); });
  add("smax", [](U old, U data) { return static_cast<U>(std::max(static_cast<S>(old), static_cast<S>(data))); });
  add("umin", [](U old, U data) { return std::min(old, data); });
  add("umax", [](U old, U data) { return std::max(old, data); });
  add("and", [](U old, U data) { return old & data; });
  add("or", [](U old, U data) { return old | data; });
  add("xor", [](U old, U data) { return old ^ data; });
  add("inc", [](U old, U data) { return old >= data ? U{0} : old + 1; });
  add("dec", [](U old, U data) { return old == 0 || old > data ? data : old - 1; });
  all.push_back(
      {"cmpswap" + suffix, sizeof(U),
       [](std::uint64_t old, std::uint64_t data, std::uint64_t compare) { return old == compare ? data : old; }, true});
}

std::uint32_t round_bf16(double x) {  // nearest even; only used on sums of two bf16
  const auto bits = std::bit_cast<std::uint32_t>(static_cast<float>(x));
  return (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
}

std::vector<Atomic> atomics(Arch arch) {
  std::vector<Atomic> all;
  add_integers<std::uint32_t, std::int32_t>(all, "");
  add_integers<std::uint64_t, std::int64_t>(all, "_x2");
  all.push_back({"add_f32", 4,
                 [](std::uint64_t a, std::uint64_t b, std::uint64_t) { return bits_of(as<float>(a) + as<float>(b)); }});
  all.push_back({"add_f64", 8, [](std::uint64_t a, std::uint64_t b, std::uint64_t) {
                   return bits_of(as<double>(a) + as<double>(b));
                 }});
  all.push_back({"min_f64", 8, [](std::uint64_t a, std::uint64_t b, std::uint64_t) {
                   return bits_of(std::fmin(as<double>(a), as<double>(b)));
                 }});
  all.push_back({"max_f64", 8, [](std::uint64_t a, std::uint64_t b, std::uint64_t) {
                   return bits_of(std::fmax(as<double>(a), as<double>(b)));
                 }});
  if (arch != Arch::gfx90a)
    all.push_back({"pk_add_bf16", 4, [](std::uint64_t a, std::uint64_t b, std::uint64_t) {
                     const auto half = [](std::uint64_t x) {
                       return std::bit_cast<float>(static_cast<std::uint32_t>(x & 0xffff) << 16);
                     };
                     return std::uint64_t{round_bf16(half(a) + half(b)) | round_bf16(half(a >> 16) + half(b >> 16))
                                                                              << 16};
                   }});
  return all;
}

/// A finite f32/f64/bf16 pair whatever the type: keeps exponents moderate.
std::uint64_t tame(std::uint64_t bits, const std::string& name) {
  if (name.find("f64") != name.npos) return (bits & 0xbfffffffffffffff) | 0x3000000000000000;
  if (name.find("f32") != name.npos) return (bits & 0xbfffffff) | 0x30000000;
  if (name.find("bf16") != name.npos) return (bits & 0xbfffbfff) | 0x30003000;
  return bits;
}

}  // namespace

TEST_CASE("atomics with and without a return value", "[sim]") {
  for (const Arch arch : kArchs)
    for (const Atomic& atomic : atomics(arch))
      for (const NamedForm& named : forms())
        for (const bool returns : {false, true}) {
          Fixture f(arch);
          const Form form = named.make(f, atomic.bytes, atomic.bytes);
          if (form.prefix == std::string("scratch_")) continue;
          if (named.where != Where::buffer) continue;
          const std::uint64_t exec = f.random_exec();
          f.wave->set_exec(exec);
          const int words = atomic.bytes / 4;
          Bytes expected = f.snapshot(Where::buffer);
          for (int at = 0; at < kBytes; at += atomic.bytes) {
            std::uint64_t bits = 0;
            std::memcpy(&bits, &expected[at], atomic.bytes);
            bits = tame(bits, atomic.name);
            std::memcpy(&expected[at], &bits, atomic.bytes);
          }
          f.memory.write(f.base, expected.data(), kBytes);
          std::vector<std::uint64_t> returned(kLanes);
          for (int lane = 0; lane < kLanes; ++lane) {
            std::uint64_t old = 0;
            std::memcpy(&old, &expected[form.at[lane]], atomic.bytes);
            const std::uint64_t data = tame(f.random(), atomic.name) & (words == 1 ? 0xffffffff : ~std::uint64_t{0});
            const std::uint64_t compare = f.below(2) ? old : f.random();
            for (int n = 0; n < words; ++n) {
              f.v(20 + n)[lane] = static_cast<std::uint32_t>(data >> (32 * n));
              f.v(20 + words + n)[lane] = static_cast<std::uint32_t>(compare >> (32 * n));
            }
            if (!(exec >> lane & 1)) continue;
            returned[lane] = old;
            const std::uint64_t now = atomic.op(old, data, words == 1 ? compare & 0xffffffff : compare);
            std::memcpy(&expected[form.at[lane]], &now, atomic.bytes);
          }
          const std::string data = tuple('v', 20, atomic.compares ? 2 * words : words);
          const bool is_buffer = form.prefix == std::string("buffer_");
          std::string text = store_text(form, ("atomic_" + atomic.name).c_str(), data);
          if (returns && !is_buffer)
            text = fmt::format("{}atomic_{} {}, {}, {}{}", form.prefix, atomic.name, tuple('v', 30, words), form.vaddr,
                               data, form.tail);
          if (returns) text += arch == Arch::gfx90a ? " glc" : " sc0";
          INFO(name_of(arch) << " " << text);
          f.execute(text);
          REQUIRE(f.snapshot(Where::buffer) == expected);
          if (!returns) continue;
          for (int lane = 0; lane < kLanes; ++lane)
            for (int n = 0; n < words && (exec >> lane & 1); ++n)
              REQUIRE(f.v((is_buffer ? 20 : 30) + n)[lane] == static_cast<std::uint32_t>(returned[lane] >> (32 * n)));
        }
}

TEST_CASE("packed f16 atomics round to nearest even", "[sim]") {
  Fixture f(Arch::gfx942);
  f.wave->set_exec(1);
  const std::uint32_t old = 0x3c00'3c00, data = 0x1000'1400;  // 1 + 2^-11 (a tie, stays 1), 1 + 2^-10
  f.memory.write(f.base, &old, 4);
  f.set_pair(2, 0, f.base);
  f.v(4)[0] = data;
  f.execute("global_atomic_pk_add_f16 v[2:3], v4, off");
  std::uint32_t now;
  f.memory.read(&now, f.base, 4);
  REQUIRE(now == 0x3c00'3c01);
}

TEST_CASE("misaligned atomics fault", "[sim]") {
  Fixture f(Arch::gfx950);
  for (int lane = 0; lane < kLanes; ++lane) f.set_pair(2, lane, f.base + 8 * lane + (lane == 9 ? 2 : 0));
  REQUIRE_THROWS_MATCHES(f.execute("global_atomic_add v[2:3], v4, off"), Fault, says("misaligned atomic"));
}

}  // namespace headtune::sim
