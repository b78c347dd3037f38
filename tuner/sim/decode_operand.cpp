#include "tuner/sim/decode_operand.h"

#include <array>
#include <bit>
#include <charconv>
#include <string>

#include "tuner/sim/ops/float_bits.h"

namespace headtune::sim {
namespace {

struct Named {
  std::string_view name;
  std::uint16_t index;
  std::uint8_t words;
};

constexpr Named named[] = {
    {"vcc", sreg::vcc, 2},
    {"vcc_lo", sreg::vcc, 1},
    {"vcc_hi", sreg::vcc + 1, 1},
    {"exec", sreg::exec, 2},
    {"exec_lo", sreg::exec, 1},
    {"exec_hi", sreg::exec + 1, 1},
    {"m0", sreg::m0, 1},
    {"scc", sreg::scc, 1},
    {"src_scc", sreg::scc, 1},
    {"flat_scratch", sreg::flat_scratch, 2},
    {"flat_scratch_lo", sreg::flat_scratch, 1},
    {"flat_scratch_hi", sreg::flat_scratch + 1, 1},
    {"xnack_mask", sreg::xnack_mask, 2},
    {"xnack_mask_lo", sreg::xnack_mask, 1},
    {"xnack_mask_hi", sreg::xnack_mask + 1, 1},
    {"src_shared_base", sreg::shared_base, 2},
    {"src_shared_limit", sreg::shared_limit, 2},
    {"src_private_base", sreg::private_base, 2},
    {"src_private_limit", sreg::private_limit, 2},
    {"shared_base", sreg::shared_base, 2},
    {"shared_limit", sreg::shared_limit, 2},
    {"private_base", sreg::private_base, 2},
    {"private_limit", sreg::private_limit, 2},
};

std::optional<int> whole_number(std::string_view text) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || value < 0) return std::nullopt;
  return value;
}

/// "3" or "[0:3]" after a register letter: first register and count.
std::optional<std::array<int, 2>> register_range(std::string_view text) {
  if (text.empty() || text.front() != '[') {
    const auto one = whole_number(text);
    return one ? std::optional(std::array{*one, 1}) : std::nullopt;
  }
  if (text.back() != ']') return std::nullopt;
  text = text.substr(1, text.size() - 2);
  const auto colon = text.find(':');
  const auto first = whole_number(text.substr(0, colon));
  const auto last = colon == text.npos ? first : whole_number(text.substr(colon + 1));
  if (!first || !last || *last < *first || *last - *first > 31) return std::nullopt;
  return std::array{*first, *last - *first + 1};
}

struct RegisterFile {
  std::string_view prefix;
  Kind kind;
  int base;
  int size;
};

constexpr RegisterFile files[] = {
    {"ttmp", Kind::scalar, sreg::ttmp, 16},
    {"acc", Kind::vector, kFirstAccumulation, 256},
    {"v", Kind::vector, 0, 256},
    {"a", Kind::vector, kFirstAccumulation, 256},
    {"s", Kind::scalar, 0, 102},
};

std::optional<Operand> parse_register(std::string_view text) {
  for (const Named& name : named)
    if (text == name.name) return Operand{.kind = Kind::scalar, .words = name.words, .index = name.index};
  for (const RegisterFile& file : files) {
    if (!text.starts_with(file.prefix)) continue;
    const auto range = register_range(text.substr(file.prefix.size()));
    if (!range || (*range)[0] + (*range)[1] > file.size) continue;
    return Operand{.kind = file.kind,
                   .words = static_cast<std::uint8_t>((*range)[1]),
                   .index = static_cast<std::uint16_t>(file.base + (*range)[0])};
  }
  return std::nullopt;
}

std::uint64_t float_constant(double value, Type type) {
  const auto single = static_cast<std::uint64_t>(std::bit_cast<std::uint32_t>(static_cast<float>(value)));
  switch (type) {
    case Type::f16:
      return generic::f32_to_f16(static_cast<float>(value));
    case Type::bf16:
      return single >> 16;
    case Type::f64:
    case Type::b64:
    case Type::i64:
      return std::bit_cast<std::uint64_t>(value);
    case Type::pf32:
      return single | single << 32;
    default:
      return single;
  }
}

/// Hexadecimal is a literal, decimal an inline constant; they differ for doubles only.
std::uint64_t integer_constant(std::int64_t value, bool literal, Type type) {
  const auto word = static_cast<std::uint32_t>(value);
  const bool fits = value >= -0x80000000LL && value <= 0xffffffffLL;
  switch (type) {
    case Type::f64:
      return literal && fits ? static_cast<std::uint64_t>(word) << 32 : static_cast<std::uint64_t>(value);
    case Type::b64:
      return static_cast<std::uint64_t>(value);
    case Type::i64:
      return literal && fits ? static_cast<std::uint64_t>(static_cast<std::int64_t>(static_cast<std::int32_t>(word)))
                             : static_cast<std::uint64_t>(value);
    case Type::pf32:
      return word | static_cast<std::uint64_t>(word) << 32;
    default:
      return static_cast<std::uint64_t>(value);
  }
}

std::optional<Operand> parse_constant(std::string_view text, Type type) {
  if (const auto integer = parse_integer(text))
    return Operand{.kind = Kind::constant, .value = integer_constant(*integer, text.find("0x") != text.npos, type)};
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || text.empty()) return std::nullopt;
  return Operand{.kind = Kind::constant, .value = float_constant(value, type)};
}

/// Removes `prefix` and `suffix` when both are there.
bool strip(std::string_view& text, std::string_view prefix, std::string_view suffix) {
  if (text.size() <= prefix.size() + suffix.size() || !text.starts_with(prefix) || !text.ends_with(suffix))
    return false;
  text = text.substr(prefix.size(), text.size() - prefix.size() - suffix.size());
  return true;
}

}  // namespace

std::optional<std::int64_t> parse_integer(std::string_view text) {
  const bool negative = text.starts_with('-');
  if (negative) text.remove_prefix(1);
  const bool hexadecimal = text.starts_with("0x");
  if (hexadecimal) text.remove_prefix(2);
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, hexadecimal ? 16 : 10);
  if (error != std::errc{} || end != text.data() + text.size() || text.empty()) return std::nullopt;
  return static_cast<std::int64_t>(negative ? ~value + 1 : value);
}

std::optional<Operand> parse_operand(std::string_view text, Type type) {
  if (text == "off" || text == "null") return Operand{};
  if (auto constant = parse_constant(text, type)) return constant;
  bool neg = false, abs = false, sext = false;
  if (strip(text, "neg(", ")") || strip(text, "-", "")) neg = true;
  if (strip(text, "|", "|") || strip(text, "abs(", ")")) abs = true;
  if (strip(text, "sext(", ")")) sext = true;
  auto operand = parse_register(text);
  if (!operand) operand = parse_constant(text, type);
  if (!operand) return std::nullopt;
  operand->neg = neg;
  operand->abs = abs;
  operand->sext = sext;
  return operand;
}

}  // namespace headtune::sim
