// Every vector compare against the relation that its name states.
#include <fmt/format.h>

#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <map>

#include "tests/sim/machine.h"
#include "tests/sim/reference.h"

using namespace headtune::sim;

namespace {

using Text = std::string;

/// less, equal, greater or unordered, as a set of bits; each relation accepts some of them.
enum Order : unsigned { less = 1, equal = 2, greater = 4, unordered = 8 };

const std::map<Text, unsigned> accepts = {{"f", 0},
                                          {"lt", less},
                                          {"eq", equal},
                                          {"le", less | equal},
                                          {"gt", greater},
                                          {"lg", less | greater},
                                          {"ne", less | greater},
                                          {"ge", greater | equal},
                                          {"o", less | equal | greater},
                                          {"u", unordered},
                                          {"nge", less | unordered},
                                          {"nlg", equal | unordered},
                                          {"ngt", less | equal | unordered},
                                          {"nle", greater | unordered},
                                          {"neq", less | greater | unordered},
                                          {"nlt", greater | equal | unordered},
                                          {"tru", 15},
                                          {"t", 15}};

template <class T>
unsigned order(T a, T b) {
  return a < b ? less : a == b ? equal : a > b ? greater : unordered;
}

unsigned order_of(const Text& type, std::uint64_t a, std::uint64_t b) {
  if (type == "f16") return order(ref::half(a), ref::half(b));
  if (type == "f32") return order(ref::f32(a), ref::f32(b));
  if (type == "f64") return order(ref::f64(a), ref::f64(b));
  const int bits = std::stoi(type.substr(1));
  if (type[0] == 'i' && bits == 64) return order(static_cast<std::int64_t>(a), static_cast<std::int64_t>(b));
  if (type[0] == 'i') return order(ref::sign_extended(a, bits), ref::sign_extended(b, bits));
  if (bits == 64) return order(a, b);
  return order(ref::field(a, 0, bits), ref::field(b, 0, bits));
}

template <class T>
unsigned class_of(T x, bool quiet) {
  if (std::isnan(x)) return quiet ? 2 : 1;
  const int kind = std::isinf(x) ? 0 : std::fpclassify(x) == FP_ZERO ? 3 : std::fpclassify(x) == FP_SUBNORMAL ? 2 : 1;
  return std::signbit(x) ? 4u << kind : 512u >> kind;
}

unsigned class_bit(const Text& type, std::uint64_t a) {
  if (type == "f32") return class_of(ref::f32(a), ref::bit(a, 22));
  if (type == "f64") return class_of(ref::f64(a), ref::bit(a, 51));
  const double x = ref::half(a);
  if (x != 0 && std::fabs(x) < 0x1p-14) return std::signbit(x) ? 16 : 128;  // denormal as a half
  return class_of(x, ref::bit(a, 9));
}

std::vector<Text> words_of(Text name) {
  std::vector<Text> parts;
  for (std::size_t at; (at = name.find('_')) != name.npos; name = name.substr(at + 1))
    parts.push_back(name.substr(0, at));
  parts.push_back(name);
  return parts;
}

std::uint64_t draw(std::mt19937_64& random, const Text& type) {
  const std::uint64_t hard32[] = {0,          0x80000000, 0x7f800000, 0xff800000, 0x7fc00000,
                                  0x7f800001, 1,          0x80000001, 0x3f800000};
  const std::uint64_t hard64[] = {0, 1ull << 63,    0x7ffull << 52, 0xfffull << 52, 0x7ff8ull << 48, 0x7ff0000000000001,
                                  1, 0x3ffull << 52};
  const std::uint64_t hard16[] = {0, 0x8000, 0x7c00, 0xfc00, 0x7e00, 0x7c01, 1, 0x83ff, 0x3c00};
  const auto r = random();
  if (random() % 2) return r;
  if (type.ends_with("16")) return hard16[r % 9];
  return type.ends_with("32") ? hard32[r % 9] : hard64[r % 8];
}

void check(Machine& machine, const Text& name) {
  Wave& wave = *machine.wave;
  INFO(name);
  const auto parts = words_of(name);
  const bool into_exec = parts[1] == "cmpx", wide = parts[3].ends_with("64"), classes = parts[2] == "class";
  REQUIRE((classes || accepts.contains(parts[2])));
  std::mt19937_64 random(11);
  for (const std::uint64_t exec : {~0ull, 0x0123456789abcdefull, 0ull}) {
    for (int round = 0; round < 8; ++round) {
      wave.set_exec(exec);
      std::uint64_t want = 0;
      for (int lane = 0; lane < kLanes; ++lane) {
        const std::uint64_t a = draw(random, parts[3]), b = classes        ? random()
                                                            : random() % 3 ? draw(random, parts[3])
                                                                           : a;
        for (int word = 0; word < 2; ++word) {
          wave.v[2 + word][lane] = static_cast<std::uint32_t>(a >> (32 * word));
          wave.v[4 + word][lane] = static_cast<std::uint32_t>(b >> (32 * word));
        }
        const bool holds =
            classes ? (class_bit(parts[3], a) & b) != 0 : (accepts.at(parts[2]) & order_of(parts[3], a, b)) != 0;
        if (holds && (exec >> lane & 1)) want |= std::uint64_t{1} << lane;
      }
      const char* source = wide ? "v[2:3]" : "v2";
      const char* other = classes ? "v4" : wide ? "v[4:5]" : "v4";
      machine.execute(fmt::format("{}_e64 s[20:21], {}, {}", name, source, other));
      REQUIRE(wave.pair(20) == want);
      REQUIRE(wave.exec() == (into_exec ? want : exec));
    }
  }
}

}  // namespace

TEST_CASE("compares hold in the lanes where their relation does", "[sim]") {
  for (const InstructionSet set : {InstructionSet::generic, InstructionSet::avx2}) {
    use_instruction_set(set);
    Machine machine;
    for (const OpEntry& entry : generic::compare_ops()) check(machine, entry.name);
  }
}

TEST_CASE("a compare into vcc reads scalars, constants and modifiers", "[sim]") {
  Machine machine;
  machine.wave->s[7] = 5;
  for (int lane = 0; lane < kLanes; ++lane) machine.v(1)[lane] = static_cast<std::uint32_t>(lane);
  machine.execute("v_cmp_gt_i32_e32 vcc, s7, v1");
  CHECK(machine.wave->vcc() == 0x1f);
  machine.execute("v_cmp_lt_u32_e64 s[2:3], 61, v1");
  CHECK(machine.wave->pair(2) == 0xc000000000000000);
  for (int lane = 0; lane < kLanes; ++lane) machine.v(2)[lane] = lane % 2 ? 0xbf800000 : 0x3f800000;
  machine.execute("v_cmp_eq_f32_e64 s[2:3], -v2, 1.0");
  CHECK(machine.wave->pair(2) == 0xaaaaaaaaaaaaaaaa);
  machine.execute("v_cmp_eq_f32_e64 s[2:3], |v2|, 1.0");
  CHECK(machine.wave->pair(2) == ~0ull);
}
