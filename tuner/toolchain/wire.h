// What the compile process and its client say to each other: one JSON object a line, binary data as hexadecimal.
// The protocol is in docs/toolchain.md.
#pragma once

#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tuner/toolchain.h"

namespace headtune::wire {

std::string to_hex(std::span<const std::byte> bytes);
/// Throws std::invalid_argument on an odd length or a character that is no hexadecimal digit.
std::vector<std::byte> from_hex(std::string_view text);

nlohmann::json to_json(std::span<const Instruction> instructions);
std::vector<Instruction> instructions_from_json(const nlohmann::json& json);

/// One line without the line feed; bytes that are not UTF-8 (compiler logs) are replaced.
std::string to_line(const nlohmann::json& json);

}  // namespace headtune::wire
