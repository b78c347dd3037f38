// Control flow, hardware registers, waiting and the other instructions that steer a wave.
#include <span>

#include "tuner/sim/ops/operands.h"
#include "tuner/sim/program.h"

namespace headtune::sim::HEADTUNE_SIM_ISA {
namespace {

/// Jumps when `Taken(wave)`.
template <auto Taken>
void branch(Wave& wave, const Inst& inst) {
  if (Taken(wave)) wave.pc = inst.target;
}

template <auto Taken>
constexpr OpEntry entry(const char* name, std::uint16_t flags = 0) {
  return {name, branch<Taken>, Class::branch, 0, static_cast<std::uint16_t>(flags | branches), {}};
}

/// Address of the instruction after this one.
std::uint64_t return_address(const Wave& wave, const Inst& inst) { return wave.program->base() + inst.pc + inst.size; }

void getpc(Wave& wave, const Inst& inst) { wave.set_pair(inst.op[0].index, return_address(wave, inst)); }
void setpc(Wave& wave, const Inst& inst) { wave.pc = wave.program->index_of(scalar_pair(wave, inst.op[0])); }
void swappc(Wave& wave, const Inst& inst) {
  const std::uint64_t target = scalar_pair(wave, inst.op[1]);
  wave.set_pair(inst.op[0].index, return_address(wave, inst));
  wave.pc = wave.program->index_of(target);
}
void call(Wave& wave, const Inst& inst) {
  wave.set_pair(inst.op[0].index, return_address(wave, inst));
  wave.pc = inst.target;
}

void end_program(Wave& wave, const Inst&) {
  wave.land_lds_loads(0);
  wave.stop = Stop::ended;
}
void wait(Wave& wave, const Inst& inst) {
  if (!wave.lds_loads.empty()) wave.land_lds_loads(inst.waits.vmcnt);
}
void barrier(Wave& wave, const Inst&) { wave.stop = Stop::barrier; }
void nothing(Wave&, const Inst&) {}
void trap(Wave&, const Inst&) { throw Fault("the program executed s_trap (an assertion or unreachable code)"); }

/// The fields of hwreg()'s immediate.
struct Field {
  explicit Field(const Operand& operand)
      : id(operand.value & 63), offset(operand.value >> 6 & 31), width((operand.value >> 11 & 31) + 1) {}
  std::uint32_t id, offset, width;
  std::uint32_t mask() const { return width == 32 ? ~0u : (1u << width) - 1; }
};

std::uint32_t hardware_register(const Wave& wave, std::uint32_t id) {
  switch (id) {
    case 1:
      return wave.mode;
    case 2:
      return wave.s[sreg::scc];  // STATUS: scc is its bit 0
    case 4:
      return wave.hw_id;
    case 15:
      return static_cast<std::uint32_t>(kSharedAperture >> 48) << 16 |
             static_cast<std::uint32_t>(kPrivateAperture >> 48);  // SH_MEM_BASES: shared high, private low
    case 20:
      return wave.xcc_id;
    default:
      throw Fault("s_getreg_b32 of a hardware register that the simulator lacks");
  }
}

void getreg(Wave& wave, const Inst& inst) {
  const Field field(inst.op[1]);
  wave.s[inst.op[0].index] = hardware_register(wave, field.id) >> field.offset & field.mask();
}

void setreg(Wave& wave, const Inst& inst) {
  const Field field(inst.op[0]);
  if (field.id != 1) throw Fault("s_setreg of a hardware register other than MODE");
  const std::uint32_t mask = field.mask() << field.offset;
  wave.mode = (wave.mode & ~mask) | (scalar_word(wave, inst.op[1]) << field.offset & mask);
}

void read_clock(Wave& wave, const Inst& inst) { wave.set_pair(inst.op[0].index, wave.cycles); }

/// s_set_gpr_idx_*: vector registers of the following instructions are counted from m0's low byte.
void index_on(Wave& wave, const Inst& inst) {
  wave.index_mode = static_cast<std::uint8_t>(inst.op[1].value & 15);
  wave.s[sreg::m0] = (wave.s[sreg::m0] & 0xffff0f00) | (scalar_word(wave, inst.op[0]) & 0xff) |
                     static_cast<std::uint32_t>(wave.index_mode) << 12;
}
void index_off(Wave& wave, const Inst&) { wave.index_mode = 0; }
void index_value(Wave& wave, const Inst& inst) {
  wave.s[sreg::m0] = (wave.s[sreg::m0] & ~0xffu) | (scalar_word(wave, inst.op[0]) & 0xff);
}
void index_mode(Wave& wave, const Inst& inst) {
  wave.index_mode = static_cast<std::uint8_t>(inst.op[0].value & 15);
  wave.s[sreg::m0] = (wave.s[sreg::m0] & ~0xf000u) | static_cast<std::uint32_t>(wave.index_mode) << 12;
}

/// Scalar registers counted from m0.
template <int Words, bool Destination>
void move_relative(Wave& wave, const Inst& inst) {
  const std::uint32_t shift = wave.s[sreg::m0];
  const std::uint64_t to = inst.op[0].index + std::uint64_t{Destination ? shift : 0};
  const std::uint64_t from = inst.op[1].index + std::uint64_t{Destination ? 0 : shift};
  if (to + Words > 102 || from + Words > 102) throw Fault("relative scalar register beyond s101");
  for (int word = 0; word < Words; ++word)
    wave.s[to + word] = Destination ? scalar_word(wave, inst.op[1], word) : wave.s[from + word];
}

constexpr OpEntry table[] = {
    entry<[](const Wave&) { return true; }>("s_branch"),
    entry<[](const Wave& w) { return !w.scc(); }>("s_cbranch_scc0", reads_scc),
    entry<[](const Wave& w) { return w.scc(); }>("s_cbranch_scc1", reads_scc),
    entry<[](const Wave& w) { return w.vcc() == 0; }>("s_cbranch_vccz", reads_vcc),
    entry<[](const Wave& w) { return w.vcc() != 0; }>("s_cbranch_vccnz", reads_vcc),
    entry<[](const Wave& w) { return w.exec() == 0; }>("s_cbranch_execz"),
    entry<[](const Wave& w) { return w.exec() != 0; }>("s_cbranch_execnz"),
    entry<[](const Wave&) { return false; }>("s_cbranch_cdbgsys"),
    entry<[](const Wave&) { return false; }>("s_cbranch_cdbguser"),
    entry<[](const Wave&) { return false; }>("s_cbranch_cdbgsys_or_user"),
    entry<[](const Wave&) { return false; }>("s_cbranch_cdbgsys_and_user"),
    {"s_call_b64", call, Class::branch, 1, branches, {}},
    {"s_getpc_b64", getpc, Class::salu, 1, 0, {}},
    {"s_setpc_b64", setpc, Class::branch, 0, 0, {}},
    {"s_swappc_b64", swappc, Class::branch, 1, 0, {}},
    {"s_endpgm", end_program, Class::end, 0, 0, {}},
    {"s_endpgm_saved", end_program, Class::end, 0, 0, {}},
    {"s_barrier", barrier, Class::barrier, 0, 0, {}},
    {"s_waitcnt", wait, Class::wait, 0, 0, {}},
    {"s_nop", nothing, Class::other, 0, 0, {}},
    {"s_wakeup", nothing, Class::other, 0, 0, {}},
    {"v_nop", nothing, Class::valu, 0, 0, {}},
    {"v_clrexcp", nothing, Class::valu, 0, 0, {}},
    {"s_sleep", nothing, Class::other, 0, 0, {}},
    {"s_setprio", nothing, Class::other, 0, 0, {}},
    {"s_sethalt", nothing, Class::other, 0, 0, {}},
    {"s_setkill", nothing, Class::other, 0, 0, {}},
    {"s_icache_inv", nothing, Class::other, 0, 0, {}},
    {"s_incperflevel", nothing, Class::other, 0, 0, {}},
    {"s_decperflevel", nothing, Class::other, 0, 0, {}},
    {"s_ttracedata", nothing, Class::other, 0, 0, {}},
    {"s_sendmsg", nothing, Class::other, 0, 0, {}},
    {"s_sendmsghalt", end_program, Class::end, 0, 0, {}},
    {"s_trap", trap, Class::other, 0, 0, {}},
    {"s_getreg_b32", getreg, Class::salu, 1, 0, {}},
    {"s_setreg_b32", setreg, Class::salu, 0, 0, {}},
    {"s_setreg_imm32_b32", setreg, Class::salu, 0, 0, {}},
    {"s_memtime", read_clock, Class::smem, 1, 0, {}},
    {"s_memrealtime", read_clock, Class::smem, 1, 0, {}},
    {"s_set_gpr_idx_on", index_on, Class::salu, 0, 0, {}},
    {"s_set_gpr_idx_off", index_off, Class::salu, 0, 0, {}},
    {"s_set_gpr_idx_idx", index_value, Class::salu, 0, 0, {}},
    {"s_set_gpr_idx_mode", index_mode, Class::salu, 0, 0, {}},
    {"s_movrels_b32", move_relative<1, false>, Class::salu, 1, reads_m0, {}},
    {"s_movrels_b64", move_relative<2, false>, Class::salu, 1, reads_m0, {}},
    {"s_movreld_b32", move_relative<1, true>, Class::salu, 1, reads_m0, {}},
    {"s_movreld_b64", move_relative<2, true>, Class::salu, 1, reads_m0, {}},
};

}  // namespace

std::span<const OpEntry> branch_ops() { return table; }

}  // namespace headtune::sim::HEADTUNE_SIM_ISA
