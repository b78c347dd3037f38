// Runs every OpCase under several execution masks and checks each lane, then checks that no handler went without a
// case.
#include <fmt/format.h>

#include <bit>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <set>

#include "tests/sim/machine.h"
#include "tests/sim/op_case.h"

using namespace headtune::sim;

namespace {

constexpr int kA = 2, kB = 4, kC = 6, kD = 10;  // vector registers of the operands; pairs where wide
constexpr int kMaskOut = 20, kMaskIn = 22;      // scalar pairs

std::string with(std::string text, const std::string& what, const std::string& by) {
  for (std::size_t at; (at = text.find(what)) != text.npos;) text.replace(at, what.size(), by);
  return text;
}

std::string vector(int index, bool wide) {
  return wide ? fmt::format("v[{}:{}]", index, index + 1) : fmt::format("v{}", index);
}

std::string text_of(const OpCase& c) {
  std::string text = c.text;
  text = with(text, "$d", vector(kD, c.wide_d));
  text = with(text, "$a", vector(kA, c.wide_a));
  text = with(text, "$b", vector(kB, c.wide_b));
  text = with(text, "$c", vector(kC, c.wide_c));
  text = with(text, "$m", fmt::format("s[{}:{}]", kMaskOut, kMaskOut + 1));
  return with(text, "$n", fmt::format("s[{}:{}]", kMaskIn, kMaskIn + 1));
}

/// Values that break things: zeros, ones, infinities, NaNs, the ends of the denormals, halves next to ties.
constexpr std::uint32_t hard32[] = {0,          0x80000000, 0x3f800000, 0xbf800000, 0x7f800000, 0xff800000, 0x7fc00000,
                                    0xffc00001, 1,          0x807fffff, 0x00800000, 0x7f7fffff, 0x3effffff, 0x3f000000,
                                    0x40200000, 0xc0200000, 0x4effffff, 0x4f000000, 0xcf000000, 0x4f7fffff, 0x4f800000,
                                    0x477fe000, 0x477ff000, 0x33000000, 0x38800000, 0x387fe000, 0xffffffff, 0x7fffffff,
                                    31,         32,         33,         0xc2fc0000};
constexpr std::uint16_t hard16[] = {0,      0x8000, 0x3c00, 0xbc00, 0x7c00, 0xfc00, 0x7e00, 0xfe01, 1,  0x83ff,
                                    0x0400, 0x7bff, 0x3800, 0x3801, 0x4100, 0x4300, 0xffff, 0x7fff, 15, 16};
constexpr std::uint64_t hard64[] = {0,
                                    0x8000000000000000,
                                    0x3ff0000000000000,
                                    0x7ff0000000000000,
                                    0xfff0000000000000,
                                    0x7ff8000000000000,
                                    1,
                                    0x000fffffffffffff,
                                    0x0010000000000000,
                                    0x7fefffffffffffff,
                                    0x4004000000000000,
                                    0x41dfffffffc00000,
                                    0x41e0000000000000,
                                    0xc1e0000000000000,
                                    0x41f0000000000000,
                                    0xffffffffffffffff,
                                    0x00000000ffffffff};

template <class T, std::size_t N>
T pick(const T (&from)[N], std::uint64_t random) {
  return from[random % N];
}

/// A number near 1, where rounding shows; a hard one; or any bits.
std::uint64_t draw(std::mt19937_64& random, Kindof kind) {
  const auto r = random();
  const auto style = random() % 4;
  if (kind == Kindof::f16 || kind == Kindof::bf16) {
    const auto half = [&](std::uint64_t x) -> std::uint64_t {
      return style == 0 ? pick(hard16, x) : style == 1 ? (0x3000 + (x & 0x1fff)) | (x & 0x8000) : x & 0xffff;
    };
    return half(r) | half(r >> 16) << 16 | half(r >> 32) << 32 | half(r >> 48) << 48;
  }
  if (kind == Kindof::f64) return style == 0 ? pick(hard64, r) : style == 1 ? 0x3fc0000000000000 + (r >> 8) : r;
  const auto word = [&](std::uint64_t x) -> std::uint64_t {
    return style == 0   ? pick(hard32, x)
           : style == 1 ? (0x3e000000 + (x & 0x3ffffff)) | (x & 0x80000000)
                        : x & 0xffffffff;
  };
  return word(r) | word(r >> 32) << 32;
}

std::uint64_t read(const Wave& wave, int index, bool wide, int lane) {
  return wave.v[index][lane] | (wide ? std::uint64_t{wave.v[index + 1][lane]} << 32 : 0);
}
void put(Wave& wave, int index, int lane, std::uint64_t value) {
  wave.v[index][lane] = static_cast<std::uint32_t>(value);
  wave.v[index + 1][lane] = static_cast<std::uint32_t>(value >> 32);
}

/// Distance of two codes of one sign-magnitude format, NaNs alike.
bool close(std::uint64_t got, std::uint64_t want, int bits, int mantissa, double ulps) {
  const std::uint64_t sign = std::uint64_t{1} << (bits - 1), infinity = (sign - 1) >> mantissa << mantissa;
  const bool got_nan = (got & (sign - 1)) > infinity, want_nan = (want & (sign - 1)) > infinity;
  if (got_nan || want_nan) return got_nan && want_nan;
  const auto ordered = [&](std::uint64_t x) { return x & sign ? -double(x & (sign - 1)) : double(x); };
  if (ulps == 0) return got == want;
  return std::fabs(ordered(got) - ordered(want)) <= ulps;
}

bool same(const OpCase& c, std::uint64_t got, std::uint64_t want) {
  const auto words = [&](int bits, int mantissa, int count) {
    const std::uint64_t mask = (std::uint64_t{1} << (bits - 1) << 1) - 1;
    for (int n = 0; n < count; ++n)
      if (!close(got >> (bits * n) & mask, want >> (bits * n) & mask, bits, mantissa, c.ulps)) return false;
    return true;
  };
  switch (c.result) {
    case Kindof::f16:
      return words(16, 10, 2);
    case Kindof::bf16:
      return words(16, 7, 2);
    case Kindof::f32:
      return words(32, 23, c.wide_d ? 2 : 1);
    case Kindof::f64:
      return close(got, want, 64, 52, c.ulps);
    default:
      return got == want;
  }
}

Arch arch_of(const std::string& name) {
  return name == "gfx90a" ? Arch::gfx90a : name == "gfx942" ? Arch::gfx942 : Arch::gfx950;
}

constexpr std::uint64_t masks[] = {~std::uint64_t{0}, 0, 1, 0x8000000000000000, 0xaaaaaaaa55555555, 0x123456789abcdef0};

std::string name_of(const OpCase& c) {
  return decode_one({.pc = 0, .size = 8, .text = text_of(c)}, arch_of(c.arch)).name;
}

/// The result with every NaN made the same: which NaN comes out of two is not specified.
std::uint64_t canonical(const OpCase& c, std::uint64_t value) {
  const auto words = [&](int bits, int mantissa) {
    const std::uint64_t sign = std::uint64_t{1} << (bits - 1), infinity = (sign - 1) >> mantissa << mantissa;
    const std::uint64_t mask = sign | (sign - 1);
    for (int low = 0; low < 64; low += bits)
      if ((value >> low & (sign - 1)) > infinity) value |= mask << low;
    return value;
  };
  switch (c.result) {
    case Kindof::f16:
      return words(16, 10);
    case Kindof::bf16:
      return words(16, 7);
    case Kindof::f32:
      return words(32, 23);
    case Kindof::f64:
      return words(64, 52);
    default:
      return value;
  }
}

/// Returns a digest of every result.
std::uint64_t run_case(const OpCase& c, std::mt19937_64& random) {
  std::uint64_t digest = 0;
  const std::string text = text_of(c);
  INFO(c.arch << ": " << text);
  Machine machine(arch_of(c.arch));
  Wave& wave = *machine.wave;
  for (int round = 0; round < 18; ++round) {
    for (int lane = 0; lane < kLanes; ++lane)
      for (const int index : {kA, kB, kC, kD}) put(wave, index, lane, draw(random, c.sources));
    const std::uint64_t exec = masks[round % 6], carry = random();
    wave.set_exec(exec);
    wave.set_pair(kMaskIn, carry);
    const Wave before = wave;
    machine.execute(text);
    const std::uint64_t flags = wave.pair(kMaskOut);
    if (std::string(c.text).find("$m") != std::string::npos) REQUIRE((flags & ~exec) == 0);
    for (int lane = 0; lane < kLanes; ++lane) {
      const Args args{read(before, kA, true, lane),     read(before, kB, true, lane), read(before, kC, true, lane),
                      read(before, kD, c.wide_d, lane), (carry >> lane & 1) != 0,     lane};
      const std::uint64_t got = read(wave, kD, c.wide_d, lane);
      digest = (digest ^ canonical(c, got)) * 0x9e3779b97f4a7c15;
      const bool active = exec >> lane & 1;
      const Result want = active ? c.expect(args) : Result{args.old};
      const bool good = active ? same(c, got, want.value) : got == args.old;
      if (!good)
        FAIL(fmt::format("lane {}: a {:x} b {:x} c {:x} old {:x} carry {}: got {:x}, want {:x}", lane, args.a, args.b,
                         args.c, args.old, args.carry, got, want.value));
      if (active && std::string(c.text).find("$m") != std::string::npos && (flags >> lane & 1) != want.flag)
        FAIL(fmt::format("lane {}: a {:x} b {:x} c {:x}: flag {}", lane, args.a, args.b, args.c, flags >> lane & 1));
    }
  }
  return digest;
}

/// Both builds of the handlers see the same operands and must give the same bits.
void run_all(const std::vector<OpCase>& cases) {
  for (const OpCase& c : cases) {
    INFO(c.text);
    std::uint64_t digests[2];
    for (const InstructionSet set : {InstructionSet::generic, InstructionSet::avx2}) {
      use_instruction_set(set);
      std::mt19937_64 random(20261130 + std::hash<std::string>{}(c.text));
      digests[static_cast<int>(set)] = run_case(c, random);
    }
    CHECK(digests[0] == digests[1]);
  }
}

}  // namespace

TEST_CASE("integer instructions match their reference") { run_all(integer_cases()); }
TEST_CASE("carries and wide products match their reference") { run_all(carry_cases()); }
TEST_CASE("f32 instructions match their reference") { run_all(real_cases()); }
TEST_CASE("f64 instructions match their reference") { run_all(real64_cases()); }
TEST_CASE("f16 instructions match their reference") { run_all(half_cases()); }
TEST_CASE("conversions match their reference") { run_all(convert_cases()); }
TEST_CASE("8-bit floats match their reference") { run_all(small_float_cases()); }
TEST_CASE("packed instructions match their reference") { run_all(packed_cases()); }

TEST_CASE("every handler of these families has a case") {
  // Tested elsewhere: division, swaps and the like in forms_test.cpp, the other shapes of scaled conversions by two of
  // them.
  const std::set<std::string> elsewhere = {"v_div_scale_f32", "v_div_fmas_f32",  "v_div_scale_f64",
                                           "v_div_fmas_f64",  "v_swap_b32",      "v_trig_preop_f64",
                                           "v_mqsad_u32_u8",  "v_cvt_sr_f16_f32"};
  std::set<std::string> covered = elsewhere;
  for (const auto& cases : {integer_cases(), carry_cases(), real_cases(), real64_cases(), half_cases(), convert_cases(),
                            small_float_cases(), packed_cases()})
    for (const OpCase& c : cases) covered.insert(name_of(c));
  for (const auto& table :
       {generic::integer_ops(), generic::carry_ops(), generic::real_ops(), generic::real64_ops(), generic::half_ops(),
        generic::math_ops(), generic::convert_ops(), generic::fp8_ops(), generic::packed_ops(), generic::dot_ops()})
    for (const OpEntry& entry : table) {
      const std::string name = entry.name;
      if (name.find("scalef32") == name.npos) CHECK(covered.contains(name));
    }
}
