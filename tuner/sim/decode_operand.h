// Operands as LLVM prints them.
#pragma once

#include <optional>
#include <string_view>

#include "tuner/sim/inst.h"

namespace headtune::sim {

/// "v[0:3]", "-|s2|", "0x3f800000", "1.0", "vcc", "off", ... read as `type` says. Nothing when it is not an operand.
std::optional<Operand> parse_operand(std::string_view text, Type type);

/// An integer as the assembler writes it: decimal with sign, or 0x hexadecimal.
std::optional<std::int64_t> parse_integer(std::string_view text);

/// hwreg(HW_REG_MODE, 0, 4) -> the 16-bit immediate: id | offset << 6 | (width - 1) << 11.
std::optional<std::uint32_t> parse_hwreg(std::string_view text);

/// gpr_idx(SRC0,DST) -> bits 0..2 for the sources, 3 for the destination.
std::optional<std::uint32_t> parse_gpr_index(std::string_view text);

/// swizzle(SWAP,16) and its kin -> the 16-bit offset field of ds_swizzle_b32.
std::optional<std::int32_t> parse_swizzle(std::string_view text);

}  // namespace headtune::sim
