#include "tuner/sim/decode.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "tuner/sim/decode_modifier.h"
#include "tuner/sim/decode_operand.h"

namespace headtune::sim {
namespace {

/// Splits at `separator` outside brackets and parentheses, trimming blanks.
std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  int depth = 0;
  std::size_t begin = 0;
  const auto take = [&](std::size_t end) {
    std::string_view part = text.substr(begin, end - begin);
    while (part.starts_with(' ') || part.starts_with('\t')) part.remove_prefix(1);
    while (part.ends_with(' ') || part.ends_with('\t')) part.remove_suffix(1);
    if (!part.empty()) parts.push_back(part);
    begin = end + 1;
  };
  for (std::size_t at = 0; at < text.size(); ++at) {
    depth += text[at] == '[' || text[at] == '(';
    depth -= text[at] == ']' || text[at] == ')';
    if (text[at] == separator && depth == 0) take(at);
  }
  if (begin <= text.size()) take(text.size());
  return parts;
}

std::string_view without_comment(std::string_view text) {
  text = text.substr(0, text.find("//"));
  text = text.substr(0, text.find(';'));
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t' || text.back() == '\n')) text.remove_suffix(1);
  return text;
}

std::string_view without_suffix(std::string_view mnemonic) {
  for (const std::string_view suffix : {"_e32", "_e64", "_dpp", "_sdwa", "_e64_dpp"})
    if (mnemonic.ends_with(suffix)) return mnemonic.substr(0, mnemonic.size() - suffix.size());
  return mnemonic;
}

[[noreturn]] void unknown(std::string_view what, std::string_view token, std::string_view text) {
  throw BadCode(fmt::format("unknown {} '{}' in '{}'", what, token, text));
}

void add_operand(Inst& inst, std::string_view token) {
  if (inst.count == inst.op.size()) throw BadCode(fmt::format("too many operands in '{}'", inst.text));
  const auto operand = parse_operand(token, inst.entry->types[inst.count]);
  if (!operand) unknown("operand", token, inst.text);
  inst.op[inst.count++] = *operand;
}

void add_token(Inst& inst, std::string_view token) {
  if (apply_modifier(inst, token)) return;
  if (const auto immediate = parse_immediate(token)) {
    if (inst.count == inst.op.size()) throw BadCode(fmt::format("too many operands in '{}'", inst.text));
    inst.op[inst.count++] = Operand{.kind = Kind::constant, .value = *immediate};
    return;
  }
  add_operand(inst, token);
}

void note(std::vector<std::uint16_t>& list, const Operand& operand) {
  if (operand.kind != Kind::scalar && operand.kind != Kind::vector) return;
  const int base = operand.kind == Kind::scalar ? kScalarRegister : 0;
  for (int word = 0; word < operand.words; ++word)
    list.push_back(static_cast<std::uint16_t>(base + operand.index + word));
}

void note_scalar(std::vector<std::uint16_t>& list, int index, int words) {
  for (int word = 0; word < words; ++word) list.push_back(static_cast<std::uint16_t>(kScalarRegister + index + word));
}

/// Leading operands that are written; some mnemonics have forms with and without a result.
std::uint32_t destinations(const Inst& inst) {
  if (inst.klass == Class::vmem_atomic) return inst.cache & glc ? 1 : 0;
  if (inst.klass == Class::vmem_load && inst.lds) return 0;
  return inst.entry->destinations;
}

/// Fills the scoreboard's lists.
void note_registers(Inst& inst) {
  const OpEntry& entry = *inst.entry;
  for (std::uint32_t n = 0; n < inst.count; ++n) {
    const bool written = n < destinations(inst);
    note(written ? inst.writes : inst.reads, inst.op[n]);
    if (written && n == 0 && (entry.flags & (reads_dst | keeps_high))) note(inst.reads, inst.op[n]);
  }
  if (entry.flags & reads_vcc) note_scalar(inst.reads, sreg::vcc, 2);
  if (entry.flags & writes_vcc) note_scalar(inst.writes, sreg::vcc, 2);
  if (entry.flags & reads_scc) note_scalar(inst.reads, sreg::scc, 1);
  if (entry.flags & writes_scc) note_scalar(inst.writes, sreg::scc, 1);
  if (entry.flags & writes_exec) note_scalar(inst.writes, sreg::exec, 2);
  if (entry.flags & reads_m0) note_scalar(inst.reads, sreg::m0, 1);
}

bool is_simple(const Inst& inst) {
  const bool plain =
      std::all_of(inst.op.begin(), inst.op.begin() + inst.count, [](const Operand& o) { return o.plain(); });
  return plain && !inst.clamp && inst.omod == 0 && inst.op_sel == 0 && !inst.dpp && inst.dst_select == 6;
}

/// Stands in for an instruction without a handler: harmless until it is executed.
void unknown_instruction(Wave&, const Inst& inst) {
  throw Fault(fmt::format("instruction '{}' is not known to the simulator", inst.name));
}

constexpr OpEntry unknown_entry{"", unknown_instruction, Class::other, 0, 0, {}};

bool is_branch(const Inst& inst) { return inst.entry->flags & branches; }

std::uint64_t branch_target(const Inst& inst) {
  const auto words = static_cast<std::int16_t>(inst.op[inst.count - 1].value);
  return inst.pc + 4 + static_cast<std::int64_t>(words) * 4;
}

void resolve_branches(std::vector<Inst>& insts) {
  std::unordered_map<std::uint64_t, std::uint32_t> index;
  for (std::uint32_t n = 0; n < insts.size(); ++n) index.emplace(insts[n].pc, n);
  for (Inst& inst : insts) {
    if (!is_branch(inst)) continue;
    const auto found = index.find(branch_target(inst));
    // A branch in padding or data leads nowhere; executing it faults at the next fetch.
    inst.target = found == index.end() ? static_cast<std::uint32_t>(insts.size()) : found->second;
  }
}

bool clamps(const OpEntry& entry) {
  const Type type = entry.types[0];
  return (entry.flags & (packed | saturates)) || type == Type::f32 || type == Type::f64 || type == Type::f16;
}

void parse_operands(Inst& inst, std::string_view rest) {
  inst.op_sel_hi = inst.entry->flags & packed ? 0xff : 0;
  for (const std::string_view piece : split(rest, ','))
    for (const std::string_view token : split(piece, ' ')) add_token(inst, token);
  if (is_branch(inst) && (inst.count == 0 || inst.op[inst.count - 1].kind != Kind::constant))
    throw BadCode(fmt::format("'{}' has no branch offset", inst.text));
  if (inst.clamp && !clamps(*inst.entry)) throw BadCode(fmt::format("clamp is not supported in '{}'", inst.text));
  if (inst.count < inst.entry->destinations) throw BadCode(fmt::format("'{}' lacks operands", inst.text));
}

}  // namespace

Inst decode_one(const Instruction& instruction, Arch arch) {
  Inst inst;
  inst.text = without_comment(instruction.text);
  inst.pc = instruction.pc;
  inst.size = instruction.size;
  const std::string_view text = inst.text;
  const std::string_view mnemonic = text.substr(0, text.find_first_of(" \t"));
  inst.name = without_suffix(mnemonic);
  inst.entry = find_op(inst.name);
  if (inst.entry == nullptr) {
    inst.entry = &unknown_entry;
    inst.handler = unknown_instruction;
    return inst;
  }
  inst.arch = arch;
  inst.handler = inst.entry->handler;
  inst.klass = inst.entry->klass;
  parse_operands(inst, text.substr(mnemonic.size()));
  finish_modifiers(inst);
  inst.simple = is_simple(inst);
  note_registers(inst);
  return inst;
}

std::vector<Inst> decode(std::span<const Instruction> disassembly, Arch arch) {
  std::vector<Inst> insts;
  insts.reserve(disassembly.size());
  for (const Instruction& instruction : disassembly) insts.push_back(decode_one(instruction, arch));
  resolve_branches(insts);
  return insts;
}

}  // namespace headtune::sim
