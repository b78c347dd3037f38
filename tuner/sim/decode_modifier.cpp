#include "tuner/sim/decode_modifier.h"

#include <fmt/format.h>

#include <array>

#include "tuner/sim/decode_operand.h"
#include "tuner/sim/lane_plan.h"

namespace headtune::sim {
namespace {

std::int64_t number(std::string_view text, std::string_view token) {
  const auto value = parse_integer(text);
  if (!value) throw BadCode(fmt::format("modifier '{}' has no number", token));
  return *value;
}

/// "[0,1,1]" -> bits, first entry in bit 0.
std::uint8_t bits(std::string_view list, std::string_view token) {
  if (list.size() < 3 || list.front() != '[' || list.back() != ']')
    throw BadCode(fmt::format("modifier '{}' is not a list", token));
  std::uint8_t value = 0;
  int n = 0;
  for (const char c : list.substr(1, list.size() - 2)) {
    if (c == ',' || c == ' ') continue;
    if ((c != '0' && c != '1') || n > 7) throw BadCode(fmt::format("modifier '{}' is not a list of bits", token));
    value = static_cast<std::uint8_t>(value | (c - '0') << n++);
  }
  return value;
}

std::uint8_t sdwa_select(std::string_view name, std::string_view token) {
  constexpr std::array<std::string_view, 7> names = {"BYTE_0", "BYTE_1", "BYTE_2", "BYTE_3",
                                                     "WORD_0", "WORD_1", "DWORD"};
  for (std::uint8_t n = 0; n < names.size(); ++n)
    if (name == names[n]) return n;
  throw BadCode(fmt::format("modifier '{}' selects nothing known", token));
}

std::uint8_t sdwa_unused(std::string_view name, std::string_view token) {
  constexpr std::array<std::string_view, 3> names = {"UNUSED_PAD", "UNUSED_SEXT", "UNUSED_PRESERVE"};
  for (std::uint8_t n = 0; n < names.size(); ++n)
    if (name == names[n]) return n;
  throw BadCode(fmt::format("modifier '{}' is not known", token));
}

/// The plan under construction; Inst holds it as const.
LanePlan& plan_of(Inst& inst) {
  if (!inst.dpp) {
    LanePlan plan;
    for (int lane = 0; lane < kLanes; ++lane) plan.from[lane] = static_cast<std::int8_t>(lane);
    plan.writable = 0xff;  // row mask in bits 4..7, bank mask in bits 0..3 until finish_modifiers
    inst.dpp = std::make_shared<const LanePlan>(plan);
  }
  return const_cast<LanePlan&>(*inst.dpp);
}

bool apply_dpp(Inst& inst, std::string_view name, std::string_view value, std::string_view token) {
  LanePlan probe;
  if (plan_lanes(name, value, probe)) {
    plan_of(inst).from = probe.from;
    return true;
  }
  LanePlan* plan = name == "row_mask" || name == "bank_mask" || name == "bound_ctrl" ? &plan_of(inst) : nullptr;
  if (plan == nullptr) return false;
  const auto n = static_cast<std::uint64_t>(number(value, token)) & 15;
  if (name == "row_mask") plan->writable = (plan->writable & 0x0f) | n << 4;
  if (name == "bank_mask") plan->writable = (plan->writable & 0xf0) | n;
  if (name == "bound_ctrl") plan->zero_invalid = true;  // printed, as 0 or 1, only when the bit is set
  return true;
}

bool apply_sdwa(Inst& inst, std::string_view name, std::string_view value, std::string_view token) {
  const int first = inst.entry->destinations;
  if (name == "dst_sel") return inst.dst_select = sdwa_select(value, token), true;
  if (name == "dst_unused") return inst.dst_unused = sdwa_unused(value, token), true;
  if (name == "src0_sel") return inst.op[first].select = sdwa_select(value, token), true;
  if (name == "src1_sel") return inst.op[first + 1].select = sdwa_select(value, token), true;
  return false;
}

bool apply_list(Inst& inst, std::string_view name, std::string_view value, std::string_view token) {
  if (name == "op_sel") {
    inst.op_sel = bits(value, token);
    inst.op_sel_entries = static_cast<std::uint8_t>(value.size() / 2);
    return true;
  }
  if (name == "op_sel_hi") return inst.op_sel_hi = bits(value, token), true;
  if (name == "neg_lo" || name == "neg") return inst.neg_lo = bits(value, token), true;  // neg: of f64 v_mfma
  if (name == "neg_hi") return inst.neg_hi = bits(value, token), true;
  return false;
}

bool apply_number(Inst& inst, std::string_view name, std::string_view value, std::string_view token) {
  const auto take = [&](auto& field) {
    field = static_cast<std::remove_reference_t<decltype(field)>>(number(value, token));
    return true;
  };
  if (name == "offset" && value.starts_with("swizzle(")) {
    const auto field = parse_swizzle(value);
    if (!field) throw BadCode(fmt::format("unknown swizzle in '{}'", inst.text));
    return inst.offset = *field, true;
  }
  if (name == "offset" || name == "offset0") return take(inst.offset);
  if (name == "offset1") return take(inst.offset1);
  if (name == "cbsz") return take(inst.cbsz);
  if (name == "abid") return take(inst.abid);
  if (name == "blgp") return take(inst.blgp);
  if (name == "bitop3") return take(inst.bitop3);
  if (name == "byte_sel") return take(inst.byte_sel);
  if (name == "mul") return inst.omod = number(value, token) == 2 ? 1 : 2, true;
  if (name == "div") return inst.omod = -1, true;
  return false;
}

bool apply_flag(Inst& inst, std::string_view token) {
  constexpr std::array<std::pair<std::string_view, std::uint8_t>, 6> cache = {
      {{"glc", glc}, {"slc", slc}, {"scc", scc}, {"sc0", sc0}, {"sc1", sc1}, {"nt", nt}}};
  const bool is_memory = inst.klass == Class::vmem_load || inst.klass == Class::vmem_store ||
                         inst.klass == Class::vmem_atomic || inst.klass == Class::smem || inst.klass == Class::other ||
                         inst.klass == Class::wait;
  for (const auto& [name, bit] : cache)
    if (token == name && is_memory) return inst.cache |= bit, true;
  if (token == "clamp") return inst.clamp = true;
  if (token == "offen") return inst.offen = true;
  if (token == "idxen") return inst.idxen = true;
  if (token == "lds") return inst.lds = true;
  if (token == "gds") return inst.gds = true;
  if (token == "tfe") return inst.tfe = true;
  if (token == "row_mirror" || token == "row_half_mirror") return apply_dpp(inst, token, "0", token);
  return token == "high" || token == "done" || token == "compr" || token == "vm";
}

bool apply_wait(Inst& inst, std::string_view token) {
  const auto open = token.find('(');
  if (open == token.npos || token.back() != ')') return false;
  const std::string_view name = token.substr(0, open);
  if (name != "vmcnt" && name != "expcnt" && name != "lgkmcnt") return false;
  const auto count = static_cast<std::uint8_t>(number(token.substr(open + 1, token.size() - open - 2), token));
  (name == "vmcnt" ? inst.waits.vmcnt : name == "expcnt" ? inst.waits.expcnt : inst.waits.lgkmcnt) = count;
  return true;
}

}  // namespace

bool apply_modifier(Inst& inst, std::string_view token) {
  if (apply_flag(inst, token) || apply_wait(inst, token)) return true;
  const auto colon = token.find(':');
  if (colon == token.npos || token.find('[') < colon) return false;
  const std::string_view name = token.substr(0, colon), value = token.substr(colon + 1);
  return apply_list(inst, name, value, token) || apply_number(inst, name, value, token) ||
         apply_sdwa(inst, name, value, token) || apply_dpp(inst, name, value, token);
}

std::optional<std::uint64_t> parse_immediate(std::string_view token) {
  if (token.starts_with("hwreg(")) return parse_hwreg(token);
  if (token.starts_with("gpr_idx(")) return parse_gpr_index(token);
  if (token.starts_with("sendmsg(")) return 0;
  return std::nullopt;
}

void finish_modifiers(Inst& inst) {
  const int sources = static_cast<int>(inst.count) - inst.entry->destinations;
  const int entries = inst.op_sel_entries;
  if (entries == sources + 1 && entries < 4 && !(inst.entry->flags & packed)) {
    const unsigned destination = inst.op_sel >> (entries - 1) & 1;
    inst.op_sel = static_cast<std::uint8_t>((inst.op_sel & ~(1u << (entries - 1))) | destination << 3);
  }
  if (inst.klass == Class::wait && inst.count == 1) {  // a plain number: vmcnt is split around the other two
    const auto field = static_cast<unsigned>(inst.op[0].value);
    inst.waits.vmcnt = static_cast<std::uint8_t>((field & 15) | (field >> 10 & 0x30));
    inst.waits.expcnt = field >> 4 & 7;
    inst.waits.lgkmcnt = field >> 8 & 15;
  }
  if (!inst.dpp) return;
  LanePlan& plan = plan_of(inst);
  plan.writable = masked_lanes(plan.writable >> 4 & 15, plan.writable & 15);
}

}  // namespace headtune::sim
