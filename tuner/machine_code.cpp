#include "tuner/machine_code.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string_view>

#include "tuner/sha256.h"
#include "tuner/sim/loader.h"

namespace headtune {
namespace {

using Instructions = std::span<const Instruction>;

bool is_branch(const std::string& text) {
  return text.starts_with("s_branch ") || text.starts_with("s_cbranch_") || text.starts_with("s_call_b64 ");
}

/// Address that a branch goes to: its last operand counts words of four bytes from the next instruction, 16 bits
/// signed.
std::optional<std::uint64_t> target_of(const Instruction& instruction) {
  if (!is_branch(instruction.text)) return std::nullopt;
  const auto words = static_cast<std::int16_t>(std::stoi(instruction.text.substr(instruction.text.rfind(' ') + 1)));
  return instruction.pc + instruction.size + static_cast<std::uint64_t>(std::int64_t{words} * 4);
}

/// What a loop that ends on a cache line or a prefetching fetch unit wants behind the last instruction.
bool is_padding(const std::string& text) { return text == "s_nop 0" || text == "s_code_end"; }

Instructions without_padding(Instructions code) {
  while (!code.empty() && is_padding(code.back().text)) code = code.first(code.size() - 1);
  return code;
}

/// "v_add_u32_e32 v0, v1, v2" -> "v_add_u32 v0,v1,v2"
std::string short_form(std::string_view text) {
  constexpr std::string_view short_encoding = "_e32";
  std::string_view opcode = text.substr(0, text.find(' '));
  const std::string_view operands = text.substr(opcode.size());
  if (opcode.ends_with(short_encoding)) opcode.remove_suffix(short_encoding.size());
  std::string result(opcode);
  for (const char c : operands)
    if (c != ' ' || !result.ends_with(',')) result += c;
  return result;
}

/// Labels by address; targets outside the kernel get none.
std::map<std::uint64_t, int> labels(Instructions code) {
  std::map<std::uint64_t, int> found;
  for (const Instruction& instruction : code)
    if (const auto target = target_of(instruction)) found.emplace(*target, 0);
  std::erase_if(found, [&](const auto& label) {
    return code.empty() || label.first < code.front().pc || label.first > code.back().pc;
  });
  int number = 0;
  for (auto& [address, label] : found) label = number++;
  return found;
}

std::string line_of(const Instruction& instruction, const std::map<std::uint64_t, int>& labels) {
  const auto target = target_of(instruction);
  const auto label = target ? labels.find(*target) : labels.end();
  if (label == labels.end()) return short_form(instruction.text);
  return short_form(instruction.text.substr(0, instruction.text.rfind(' ') + 1)) + fmt::format("L{}", label->second);
}

KernelCode descriptor_of(const sim::Kernel& kernel) {
  const std::pair<const char*, std::uint32_t> facts[] = {
      {"vgprs", kernel.vgprs()},           {"accum_offset", kernel.accum_offset()},
      {"user_sgprs", kernel.user_sgprs()}, {"properties", kernel.properties},
      {"float_mode", kernel.float_mode()}, {"kernarg_bytes", kernel.kernarg_bytes},
      {"lds_bytes", kernel.lds_bytes},     {"kernarg_preload", kernel.kernarg_preload},
      {"scratch", kernel.scratch_bytes},   {"max_workgroup_size", kernel.max_workgroup_size}};
  KernelCode lines;
  for (const auto& [name, value] : facts) lines.push_back(fmt::format(".{} {}", name, value));
  return lines;
}

KernelCode code_of(const sim::Kernel& kernel, Instructions code) {
  code = without_padding(code);
  const auto targets = labels(code);
  KernelCode lines = descriptor_of(kernel);
  for (const Instruction& instruction : code) {
    if (const auto label = targets.find(instruction.pc); label != targets.end())
      lines.push_back(fmt::format("L{}:", label->second));
    lines.push_back(line_of(instruction, targets));
  }
  return lines;
}

}  // namespace

std::map<std::string, KernelCode> machine_code(std::span<const std::byte> code, Instructions disassembly) {
  const sim::CodeObject object = sim::load(code);
  std::map<std::uint64_t, const sim::Kernel*> by_entry;
  for (const auto& [name, kernel] : object.kernels) by_entry.emplace(kernel.entry, &kernel);
  const auto at = [&](std::uint64_t address) {
    return std::ranges::lower_bound(disassembly, address, {}, &Instruction::pc);
  };
  std::map<std::string, KernelCode> kernels;
  for (auto kernel = by_entry.begin(); kernel != by_entry.end(); ++kernel) {
    const auto next = std::next(kernel);
    const auto end = next == by_entry.end() ? disassembly.end() : at(next->first);
    kernels.emplace(kernel->second->name, code_of(*kernel->second, {at(kernel->first), end}));
  }
  return kernels;
}

std::string digest(const KernelCode& code) {
  Sha256 digest;
  for (const std::string& line : code) digest.field(line);
  return digest.hex();
}

std::map<std::string, int> count_opcodes(const KernelCode& code) {
  std::map<std::string, int> counts;
  for (const std::string& line : code)
    if (!line.starts_with('.') && !line.ends_with(':')) ++counts[line.substr(0, line.find(' '))];
  return counts;
}

}  // namespace headtune
