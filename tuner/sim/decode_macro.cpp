// Operands with a syntax of their own: hwreg(...) and swizzle(...).
#include <array>
#include <vector>

#include "tuner/sim/decode_operand.h"

namespace headtune::sim {
namespace {

/// "name(a, b, c)" -> {"a", "b", "c"}, nothing when the name differs.
std::optional<std::vector<std::string_view>> arguments(std::string_view text, std::string_view name) {
  if (!text.starts_with(name) || !text.ends_with(')') || text.size() < name.size() + 2) return std::nullopt;
  if (text[name.size()] != '(') return std::nullopt;
  text = text.substr(name.size() + 1, text.size() - name.size() - 2);
  std::vector<std::string_view> parts;
  while (true) {
    const auto comma = text.find(',');
    std::string_view part = text.substr(0, comma);
    while (part.starts_with(' ')) part.remove_prefix(1);
    while (part.ends_with(' ')) part.remove_suffix(1);
    parts.push_back(part);
    if (comma == text.npos) return parts;
    text.remove_prefix(comma + 1);
  }
}

std::optional<std::int64_t> hwreg_id(std::string_view name) {
  constexpr std::array<std::pair<std::string_view, int>, 13> names = {{{"HW_REG_MODE", 1},
                                                                       {"HW_REG_STATUS", 2},
                                                                       {"HW_REG_TRAPSTS", 3},
                                                                       {"HW_REG_HW_ID", 4},
                                                                       {"HW_REG_GPR_ALLOC", 5},
                                                                       {"HW_REG_LDS_ALLOC", 6},
                                                                       {"HW_REG_IB_STS", 7},
                                                                       {"HW_REG_SH_MEM_BASES", 15},
                                                                       {"HW_REG_TBA_LO", 16},
                                                                       {"HW_REG_TBA_HI", 17},
                                                                       {"HW_REG_TMA_LO", 18},
                                                                       {"HW_REG_TMA_HI", 19},
                                                                       {"HW_REG_XCC_ID", 20}}};
  for (const auto& [known, id] : names)
    if (name == known) return id;
  return parse_integer(name);
}

/// Lane = ((lane & and) | or) ^ xor, within 32 lanes.
std::int32_t bitmask(unsigned and_mask, unsigned or_mask, unsigned xor_mask) {
  return static_cast<std::int32_t>((and_mask & 31) | (or_mask & 31) << 5 | (xor_mask & 31) << 10);
}

/// "00pi1", most significant lane bit first: 0 and 1 set the bit, p keeps it, i inverts it.
std::optional<std::int32_t> bitmask_pattern(std::string_view pattern) {
  if (pattern.size() != 7) return std::nullopt;  // with its quotes
  unsigned and_mask = 0, or_mask = 0, xor_mask = 0;
  for (const char c : pattern.substr(1, 5)) {
    and_mask = and_mask << 1 | (c == 'p' || c == 'i');
    or_mask = or_mask << 1 | (c == '1');
    xor_mask = xor_mask << 1 | (c == 'i');
  }
  return bitmask(and_mask, or_mask, xor_mask);
}

std::optional<std::int32_t> quad_pattern(const std::vector<std::int64_t>& lanes) {
  if (lanes.size() != 4) return std::nullopt;
  std::int32_t field = 0x8000;
  for (int n = 0; n < 4; ++n) field |= static_cast<std::int32_t>(lanes[n] & 3) << (2 * n);
  return field;
}

}  // namespace

std::optional<std::uint32_t> parse_hwreg(std::string_view text) {
  const auto parts = arguments(text, "hwreg");
  if (!parts || parts->size() > 3) return std::nullopt;
  std::array<std::int64_t, 3> field{0, 0, 32};  // id, offset, width
  for (std::size_t n = 0; n < parts->size(); ++n) {
    const auto value = n == 0 ? hwreg_id((*parts)[0]) : parse_integer((*parts)[n]);
    if (!value) return std::nullopt;
    field[n] = *value;
  }
  return static_cast<std::uint32_t>((field[0] & 63) | (field[1] & 31) << 6 | ((field[2] - 1) & 31) << 11);
}

std::optional<std::uint32_t> parse_gpr_index(std::string_view text) {
  const auto parts = arguments(text, "gpr_idx");
  if (!parts) return std::nullopt;
  constexpr std::array<std::string_view, 4> names = {"SRC0", "SRC1", "SRC2", "DST"};
  std::uint32_t field = 0;
  for (const std::string_view part : *parts)
    for (std::uint32_t n = 0; n < names.size(); ++n)
      if (part == names[n]) field |= 1u << n;
  return field;
}

std::optional<std::int32_t> parse_swizzle(std::string_view text) {
  const auto parts = arguments(text, "swizzle");
  if (!parts || parts->size() < 2) return std::nullopt;
  const std::string_view kind = parts->front();
  if (kind == "BITMASK_PERM") return bitmask_pattern((*parts)[1]);
  std::vector<std::int64_t> values;
  for (std::size_t n = 1; n < parts->size(); ++n) {
    const auto value = parse_integer((*parts)[n]);
    if (!value) return std::nullopt;
    values.push_back(*value);
  }
  const auto first = static_cast<unsigned>(values[0]);
  if (kind == "QUAD_PERM") return quad_pattern(values);
  if (kind == "SWAP") return bitmask(31, 0, first);
  if (kind == "REVERSE") return bitmask(31, 0, first - 1);
  if (kind == "BROADCAST" && values.size() == 2) return bitmask(~(first - 1), static_cast<unsigned>(values[1]), 0);
  if (kind == "FFT") return static_cast<std::int32_t>(0xe000 | (first & 31));
  if (kind == "ROTATE" && values.size() == 2)
    return static_cast<std::int32_t>(0xc000 | (first & 1) << 10 | (static_cast<unsigned>(values[1]) & 31) << 5);
  return std::nullopt;
}

}  // namespace headtune::sim
