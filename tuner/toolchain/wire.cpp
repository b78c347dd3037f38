#include "tuner/toolchain/wire.h"

#include <stdexcept>

namespace headtune::wire {
namespace {

unsigned digit(char c) {
  if (c >= '0' && c <= '9') return static_cast<unsigned>(c - '0');
  if (c >= 'a' && c <= 'f') return static_cast<unsigned>(c - 'a' + 10);
  throw std::invalid_argument("not a hexadecimal digit");
}

}  // namespace

std::string to_hex(std::span<const std::byte> bytes) {
  static constexpr char digits[] = "0123456789abcdef";
  std::string text;
  text.reserve(2 * bytes.size());
  for (std::byte byte : bytes) {
    text += digits[std::to_integer<unsigned>(byte) >> 4];
    text += digits[std::to_integer<unsigned>(byte) & 15];
  }
  return text;
}

std::vector<std::byte> from_hex(std::string_view text) {
  if (text.size() % 2 != 0) throw std::invalid_argument("odd number of hexadecimal digits");
  std::vector<std::byte> bytes(text.size() / 2);
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    bytes[i] = static_cast<std::byte>(digit(text[2 * i]) << 4 | digit(text[2 * i + 1]));
  }
  return bytes;
}

nlohmann::json to_json(std::span<const Instruction> instructions) {
  nlohmann::json json = nlohmann::json::array();
  for (const Instruction& instruction : instructions) {
    json.push_back(nlohmann::json::array({instruction.pc, instruction.size, instruction.text}));
  }
  return json;
}

std::vector<Instruction> instructions_from_json(const nlohmann::json& json) {
  std::vector<Instruction> instructions;
  instructions.reserve(json.size());
  for (const auto& entry : json) {
    instructions.push_back({entry.at(0).get<std::uint64_t>(), entry.at(1).get<std::uint32_t>(), entry.at(2)});
  }
  return instructions;
}

std::string to_line(const nlohmann::json& json) {
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace headtune::wire
