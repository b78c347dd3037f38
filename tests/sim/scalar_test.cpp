// Scalar ALU: every entry of the table against a second statement, then control flow on the wave's state.
#include <fmt/format.h>

#include <bit>
#include <catch2/catch_test_macros.hpp>
#include <functional>
#include <map>

#include "tests/sim/machine.h"
#include "tests/sim/reference.h"

using namespace headtune::sim;
using namespace headtune::sim::ref;

namespace {

struct In {
  u64 a, b, old, exec;
  bool scc;
};
struct Out {
  u64 value;
  int scc = -1;  ///< -1: unchanged
  bool writes_exec = false;
  u64 exec = 0;
};
using Meaning = std::function<Out(const In&)>;

u32 lo(u64 x) { return static_cast<u32>(x); }
i64 si(u64 x) { return static_cast<i32>(x); }
i64 imm(u64 x) { return sign_extended(x, 16); }
/// A result that sets scc when it is not zero.
Out flag(u64 x) { return {x, x != 0}; }

template <class Test>
int search(u64 x, int bits, bool from_top, Test test) {
  for (int i = 0; i < bits; ++i)
    if (test(bit(x, from_top ? bits - 1 - i : i))) return i;
  return -1;
}
u64 extracted(u64 x, u64 spec, int bits, bool is_signed) {
  const int offset = static_cast<int>(spec % static_cast<u64>(bits)), width = static_cast<int>(spec >> 16 & 127);
  const u64 source = bits == 32 ? (is_signed ? static_cast<u64>(si(x)) : lo(x)) : x;
  const u64 shifted = is_signed ? static_cast<u64>(static_cast<i64>(source) >> offset) : source >> offset;
  if (width == 0) return 0;
  if (width >= bits) return shifted;
  return is_signed ? static_cast<u64>(sign_extended(shifted, width)) : shifted & ((u64{1} << width) - 1);
}
u64 quads(u64 x, int bits, bool whole) {
  u64 out = 0;
  for (int i = 0; i < bits; ++i)
    if (bit(x, i)) out |= whole ? u64{15} << (i / 4 * 4) : u64{1} << (i / 4);
  return out;
}

void add_one_source(std::map<std::string, Meaning>& m) {
  const auto both = [&](const std::string& name, auto f) {
    m[name + "_b32"] = [f](const In& x) { return f(In{lo(x.a), lo(x.b), lo(x.old), x.exec, x.scc}, 32); };
    m[name + "_b64"] = [f](const In& x) { return f(x, 64); };
  };
  both("s_mov", [](const In& x, int) { return Out{x.a}; });
  both("s_cmov", [](const In& x, int) { return Out{x.scc ? x.a : x.old}; });
  both("s_not", [](const In& x, int n) { return flag(n == 32 ? lo(~x.a) : ~x.a); });
  both("s_wqm", [](const In& x, int n) { return flag(quads(x.a, n, true)); });
  both("s_quadmask", [](const In& x, int n) { return flag(quads(x.a, n, false)); });
  both("s_brev", [](const In& x, int n) {
    u64 out = 0;
    for (int i = 0; i < n; ++i) out |= u64{bit(x.a, i)} << (n - 1 - i);
    return Out{out};
  });
  both("s_bcnt0_i32", [](const In& x, int n) { return flag(static_cast<u64>(n - std::popcount(x.a))); });
  both("s_bcnt1_i32", [](const In& x, int) { return flag(static_cast<u64>(std::popcount(x.a))); });
  both("s_ff0_i32",
       [](const In& x, int n) { return Out{lo(static_cast<u64>(search(x.a, n, false, [](u32 b) { return !b; })))}; });
  both("s_ff1_i32",
       [](const In& x, int n) { return Out{lo(static_cast<u64>(search(x.a, n, false, [](u32 b) { return b; })))}; });
  both("s_flbit_i32",
       [](const In& x, int n) { return Out{lo(static_cast<u64>(search(x.a, n, true, [](u32 b) { return b; })))}; });
  const auto signs = [](u64 x, int n) {
    const u32 top = bit(x, n - 1);
    return Out{lo(static_cast<u64>(search(x, n, true, [top](u32 b) { return b != top; })))};
  };
  m["s_flbit_i32"] = [signs](const In& x) { return signs(x.a, 32); };
  m["s_flbit_i32_i64"] = [signs](const In& x) { return signs(x.a, 64); };
  m["s_sext_i32_i8"] = [](const In& x) { return Out{lo(static_cast<u64>(sign_extended(x.a, 8)))}; };
  m["s_sext_i32_i16"] = [](const In& x) { return Out{lo(static_cast<u64>(sign_extended(x.a, 16)))}; };
  both("s_bitset0", [](const In& x, int n) { return Out{x.old & ~(u64{1} << (x.a % static_cast<u64>(n)))}; });
  both("s_bitset1", [](const In& x, int n) { return Out{x.old | u64{1} << (x.a % static_cast<u64>(n))}; });
  m["s_abs_i32"] = [](const In& x) { return flag(lo(static_cast<u64>(std::abs(si(x.a))))); };
  m["s_bitreplicate_b64_b32"] = [](const In& x) {
    u64 out = 0;
    for (int i = 0; i < 64; ++i) out |= u64{bit(x.a, i / 2)} << i;
    return Out{out};
  };
  const auto exec_op = [&](const std::string& name, auto f, bool keeps_old) {
    m[name] = [f, keeps_old](const In& x) {
      const u64 next = f(x.a, x.exec);
      return Out{keeps_old ? x.exec : next, next != 0, true, next};
    };
  };
  exec_op(
      "s_and_saveexec_b64", [](u64 s, u64 e) { return s & e; }, true);
  exec_op(
      "s_or_saveexec_b64", [](u64 s, u64 e) { return s | e; }, true);
  exec_op(
      "s_xor_saveexec_b64", [](u64 s, u64 e) { return s ^ e; }, true);
  exec_op(
      "s_andn2_saveexec_b64", [](u64 s, u64 e) { return s & ~e; }, true);
  exec_op(
      "s_orn2_saveexec_b64", [](u64 s, u64 e) { return s | ~e; }, true);
  exec_op(
      "s_nand_saveexec_b64", [](u64 s, u64 e) { return ~(s & e); }, true);
  exec_op(
      "s_nor_saveexec_b64", [](u64 s, u64 e) { return ~(s | e); }, true);
  exec_op(
      "s_xnor_saveexec_b64", [](u64 s, u64 e) { return ~(s ^ e); }, true);
  exec_op(
      "s_andn1_saveexec_b64", [](u64 s, u64 e) { return ~s & e; }, true);
  exec_op(
      "s_orn1_saveexec_b64", [](u64 s, u64 e) { return ~s | e; }, true);
  exec_op(
      "s_andn1_wrexec_b64", [](u64 s, u64 e) { return ~s & e; }, false);
  exec_op(
      "s_andn2_wrexec_b64", [](u64 s, u64 e) { return s & ~e; }, false);
}

void add_two_sources(std::map<std::string, Meaning>& m) {
  const auto both = [&](const std::string& name, auto f) {
    m[name + "_b32"] = [f](const In& x) { return flag(lo(f(lo(x.a), lo(x.b)))); };
    m[name + "_b64"] = [f](const In& x) { return flag(f(x.a, x.b)); };
  };
  both("s_and", [](u64 a, u64 b) { return a & b; });
  both("s_or", [](u64 a, u64 b) { return a | b; });
  both("s_xor", [](u64 a, u64 b) { return a ^ b; });
  both("s_andn2", [](u64 a, u64 b) { return a & ~b; });
  both("s_orn2", [](u64 a, u64 b) { return a | ~b; });
  both("s_nand", [](u64 a, u64 b) { return ~(a & b); });
  both("s_nor", [](u64 a, u64 b) { return ~(a | b); });
  both("s_xnor", [](u64 a, u64 b) { return ~(a ^ b); });
  const auto sum = [&](const std::string& name, auto f, bool is_signed) {
    m[name] = [f, is_signed](const In& x) {
      const i64 value = is_signed ? f(si(x.a), si(x.b), x.scc) : f(i64{lo(x.a)}, i64{lo(x.b)}, x.scc);
      const bool fits = is_signed ? value == static_cast<i32>(value) : value >= 0 && value <= 0xffffffff;
      return Out{lo(static_cast<u64>(value)), !fits};
    };
  };
  sum(
      "s_add_u32", [](i64 a, i64 b, bool) { return a + b; }, false);
  sum(
      "s_sub_u32", [](i64 a, i64 b, bool) { return a - b; }, false);
  sum(
      "s_add_i32", [](i64 a, i64 b, bool) { return a + b; }, true);
  sum(
      "s_sub_i32", [](i64 a, i64 b, bool) { return a - b; }, true);
  sum(
      "s_addc_u32", [](i64 a, i64 b, bool c) { return a + b + c; }, false);
  sum(
      "s_subb_u32", [](i64 a, i64 b, bool c) { return a - b - c; }, false);
  m["s_min_i32"] = [](const In& x) { return Out{lo(static_cast<u64>(std::min(si(x.a), si(x.b)))), si(x.a) < si(x.b)}; };
  m["s_min_u32"] = [](const In& x) { return Out{std::min(lo(x.a), lo(x.b)), lo(x.a) < lo(x.b)}; };
  m["s_max_i32"] = [](const In& x) {
    return Out{lo(static_cast<u64>(std::max(si(x.a), si(x.b)))), si(x.a) >= si(x.b)};
  };
  m["s_max_u32"] = [](const In& x) { return Out{std::max(lo(x.a), lo(x.b)), lo(x.a) >= lo(x.b)}; };
  m["s_cselect_b32"] = [](const In& x) { return Out{lo(x.scc ? x.a : x.b)}; };
  m["s_cselect_b64"] = [](const In& x) { return Out{x.scc ? x.a : x.b}; };
  m["s_lshl_b32"] = [](const In& x) { return flag(lo(u64{lo(x.a)} << (x.b % 32))); };
  m["s_lshl_b64"] = [](const In& x) { return flag(x.a << (x.b % 64)); };
  m["s_lshr_b32"] = [](const In& x) { return flag(lo(x.a) >> (x.b % 32)); };
  m["s_lshr_b64"] = [](const In& x) { return flag(x.a >> (x.b % 64)); };
  m["s_ashr_i32"] = [](const In& x) { return flag(lo(static_cast<u64>(si(x.a) >> (x.b % 32)))); };
  m["s_ashr_i64"] = [](const In& x) { return flag(static_cast<u64>(static_cast<i64>(x.a) >> (x.b % 64))); };
  m["s_bfm_b32"] = [](const In& x) { return Out{lo(((u64{1} << (x.a % 32)) - 1) << (x.b % 32))}; };
  m["s_bfm_b64"] = [](const In& x) { return Out{((u64{1} << (x.a % 64)) - 1) << (x.b % 64)}; };
  m["s_mul_i32"] = [](const In& x) { return Out{lo(u64{lo(x.a)} * lo(x.b))}; };
  m["s_mul_hi_u32"] = [](const In& x) { return Out{u64{lo(x.a)} * lo(x.b) >> 32}; };
  m["s_mul_hi_i32"] = [](const In& x) { return Out{lo(static_cast<u64>(si(x.a) * si(x.b) >> 32))}; };
  m["s_bfe_u32"] = [](const In& x) { return flag(lo(extracted(x.a, x.b, 32, false))); };
  m["s_bfe_i32"] = [](const In& x) { return flag(lo(extracted(x.a, x.b, 32, true))); };
  m["s_bfe_u64"] = [](const In& x) { return flag(extracted(x.a, x.b, 64, false)); };
  m["s_bfe_i64"] = [](const In& x) { return flag(extracted(x.a, x.b, 64, true)); };
  m["s_absdiff_i32"] = [](const In& x) { return flag(lo(static_cast<u64>(std::abs(si(x.a) - si(x.b))))); };
  for (int n = 1; n <= 4; ++n)
    m[fmt::format("s_lshl{}_add_u32", n)] = [n](const In& x) {
      const u64 wide = (u64{lo(x.a)} << n) + lo(x.b);
      return Out{lo(wide), wide >> 32 != 0};
    };
  m["s_pack_ll_b32_b16"] = [](const In& x) { return Out{field(x.a, 0, 16) | u64{field(x.b, 0, 16)} << 16}; };
  m["s_pack_lh_b32_b16"] = [](const In& x) { return Out{field(x.a, 0, 16) | u64{field(x.b, 16, 16)} << 16}; };
  m["s_pack_hh_b32_b16"] = [](const In& x) { return Out{field(x.a, 16, 16) | u64{field(x.b, 16, 16)} << 16}; };
  m["s_movk_i32"] = [](const In& x) { return Out{lo(static_cast<u64>(imm(x.a)))}; };
  m["s_cmovk_i32"] = [](const In& x) { return Out{x.scc ? lo(static_cast<u64>(imm(x.a))) : lo(x.old)}; };
  m["s_addk_i32"] = [](const In& x) {
    const i64 value = si(x.old) + imm(x.a);
    return Out{lo(static_cast<u64>(value)), value != static_cast<i32>(value)};
  };
  m["s_mulk_i32"] = [](const In& x) { return Out{lo(static_cast<u64>(si(x.old) * imm(x.a)))}; };
}

void add_compares(std::map<std::string, Meaning>& m) {
  const auto relation = [](const std::string& name, auto a, auto b) {
    return name == "eq"   ? a == b
           : name == "lg" ? a != b
           : name == "gt" ? a > b
           : name == "ge" ? a >= b
           : name == "lt" ? a < b
                          : a <= b;
  };
  for (const std::string name : {"eq", "lg", "gt", "ge", "lt", "le"}) {
    m["s_cmp_" + name + "_i32"] = [=](const In& x) { return Out{0, relation(name, si(x.a), si(x.b))}; };
    m["s_cmp_" + name + "_u32"] = [=](const In& x) { return Out{0, relation(name, lo(x.a), lo(x.b))}; };
    m["s_cmp_" + name + "_u64"] = [=](const In& x) { return Out{0, relation(name, x.a, x.b)}; };
    m["s_cmpk_" + name + "_i32"] = [=](const In& x) { return Out{0, relation(name, si(x.a), imm(x.b))}; };
    m["s_cmpk_" + name + "_u32"] = [=](const In& x) { return Out{0, relation(name, u64{lo(x.a)}, x.b & 0xffff)}; };
  }
  for (const int value : {0, 1}) {
    m[fmt::format("s_bitcmp{}_b32", value)] = [value](const In& x) {
      return Out{0, bit(x.a, int(x.b % 32)) == u32(value)};
    };
    m[fmt::format("s_bitcmp{}_b64", value)] = [value](const In& x) {
      return Out{0, bit(x.a, int(x.b % 64)) == u32(value)};
    };
  }
}

std::map<std::string, Meaning> meanings() {
  std::map<std::string, Meaning> m;
  add_one_source(m);
  add_two_sources(m);
  add_compares(m);
  return m;
}

/// SOPK: the last operand is a 16-bit immediate.
bool has_immediate(const std::string& name) {
  return name.starts_with("s_cmpk_") || name == "s_movk_i32" || name == "s_cmovk_i32" || name == "s_addk_i32" ||
         name == "s_mulk_i32";
}
bool one_source(const std::string& name) {
  const Meaning none;
  std::map<std::string, Meaning> m;
  add_one_source(m);
  return m.contains(name);
}
bool wide(Type type) { return type == Type::b64 || type == Type::i64; }
std::string reg(int index, bool pair) {
  return pair ? fmt::format("s[{}:{}]", index, index + 1) : fmt::format("s{}", index);
}

/// The entry's instruction with sources s[10:11], s[12:13] (or an immediate) and destination s[20:21].
std::string text_of(const OpEntry& entry, u64 a, u64 b) {
  const std::string name = entry.name;
  if (has_immediate(name))
    return entry.destinations ? fmt::format("{} s20, 0x{:x}", name, a & 0xffff)
                              : fmt::format("{} s10, 0x{:x}", name, b & 0xffff);
  if (entry.destinations == 0)
    return fmt::format("{} {}, {}", name, reg(10, wide(entry.types[0])), reg(12, wide(entry.types[1])));
  const bool pair = wide(entry.types[0]) || name == "s_bitset0_b64" || name == "s_bitset1_b64";
  const std::string head = fmt::format("{} {}, {}", name, reg(20, pair), reg(10, wide(entry.types[1])));
  return one_source(name) ? head : fmt::format("{}, {}", head, reg(12, wide(entry.types[2])));
}

u64 draw(std::mt19937_64& random) {
  constexpr u64 hard[] = {0,          1,      0x80000000, 0x7fffffff, 0xffffffff, ~0ull,
                          1ull << 63, 0x8000, 0x7fff,     0x00100004, 0x00200000, 0x001f001f};
  const u64 r = random();
  return random() % 3 == 0 ? hard[r % 12] : random() % 2 ? r : r & 0x003f003f;
}

void check(const OpEntry& entry, const Meaning& meaning) {
  std::mt19937_64 random(5);
  Machine machine;
  Wave& w = *machine.wave;
  for (int round = 0; round < 100; ++round) {
    const In in{draw(random), draw(random), draw(random), random(), round % 2 == 1};
    w.set_pair(10, in.a);
    w.set_pair(12, in.b);
    w.set_pair(20, in.old);
    w.set_exec(in.exec);
    w.set_scc(in.scc);
    const std::string text = text_of(entry, in.a, in.b);
    INFO(fmt::format("{}: a {:x} b {:x} old {:x} scc {}", text, in.a, in.b, in.old, in.scc));
    machine.execute(text);
    const Out out = meaning(in);
    const bool pair = text.find("s[20:21]") != text.npos;
    if (entry.destinations) REQUIRE((pair ? w.pair(20) : w.s[20]) == (pair ? out.value : lo(out.value)));
    REQUIRE(w.scc() == (out.scc < 0 ? in.scc : out.scc != 0));
    REQUIRE(w.exec() == (out.writes_exec ? out.exec : in.exec));
    REQUIRE((entry.flags & writes_scc) == (out.scc < 0 ? 0 : writes_scc));
  }
}

}  // namespace

TEST_CASE("scalar instructions match their reference", "[sim]") {
  const auto meaning = meanings();
  for (const OpEntry& entry : generic::scalar_ops()) {
    INFO(entry.name);
    REQUIRE(meaning.contains(entry.name));
    check(entry, meaning.at(entry.name));
  }
}

TEST_CASE("scalar operands: literals, inline constants and special registers", "[sim]") {
  Machine machine;
  Wave& w = *machine.wave;
  machine.execute("s_mov_b32 s0, 0xdeadbeef");
  CHECK(w.s[0] == 0xdeadbeef);
  machine.execute("s_mov_b64 s[2:3], -1");
  CHECK(w.pair(2) == ~0ull);
  machine.execute("s_mov_b64 vcc, 0x1234");
  CHECK(w.vcc() == 0x1234);
  machine.execute("s_mov_b32 m0, 1.0");
  CHECK(w.s[sreg::m0] == 0x3f800000);
  machine.execute("s_mov_b64 s[4:5], src_shared_base");
  CHECK(w.pair(4) == kSharedAperture);
  machine.execute("s_mov_b64 exec, s[2:3]");
  CHECK(w.exec() == ~0ull);
  machine.execute("s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 4), 15");
  machine.execute("s_getreg_b32 s6, hwreg(HW_REG_MODE, 0, 8)");
  CHECK(w.s[6] == 0xff);
}
