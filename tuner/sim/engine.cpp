#include "tuner/sim/engine.h"

namespace headtune::sim {
namespace {

/// Adds the place to a fault on its way out.
[[noreturn]] void locate(Fault& fault, const Inst& inst) {
  fault.pc = inst.pc;
  fault.text = inst.text;
  throw;
}

const Inst& next(Wave& wave, std::span<const Inst> instructions) {
  if (wave.pc >= instructions.size()) throw Fault("execution ran past the last instruction");
  return instructions[wave.pc++];
}

/// Executes with the vector registers shifted as s_set_gpr_idx asks.
void execute_indexed(Wave& wave, const Inst& inst) {
  const bool vector = inst.klass == Class::valu || inst.klass == Class::valu_f64 || inst.klass == Class::trans;
  if (!vector) return inst.handler(wave, inst);
  Inst shifted = inst;
  const std::uint32_t by = wave.s[sreg::m0] & 0xff;
  for (std::uint32_t n = 0; n < inst.count; ++n) {
    Operand& operand = shifted.op[n];
    const std::uint32_t bit = n < inst.entry->destinations ? 8u : 1u << (n - inst.entry->destinations);
    if (operand.kind != Kind::vector || !(wave.index_mode & bit)) continue;
    if (operand.index + by + operand.words > kVectorRegisters) throw Fault("indexed vector register beyond the file");
    operand.index = static_cast<std::uint16_t>(operand.index + by);
  }
  shifted.handler(wave, shifted);
}

inline void execute(Wave& wave, const Inst& inst) {
  if (wave.index_mode) [[unlikely]]
    return execute_indexed(wave, inst);
  inst.handler(wave, inst);
}

}  // namespace

Stop run(Wave& wave, std::uint64_t budget) {
  const std::span<const Inst> instructions = wave.program->instructions();
  const Inst* inst = nullptr;
  wave.stop = Stop::running;
  std::uint64_t left = budget;
  try {
    for (; left != 0 && wave.stop == Stop::running; --left) {
      inst = &next(wave, instructions);
      ++wave.cycles;
      execute(wave, *inst);
    }
  } catch (Fault& fault) {
    if (inst == nullptr) throw;
    locate(fault, *inst);
  }
  wave.instructions += budget - left;
  return wave.stop;
}

const Inst& step(Wave& wave) {
  wave.stop = Stop::running;
  const Inst& inst = next(wave, wave.program->instructions());
  wave.access.space = Space::none;
  try {
    execute(wave, inst);
  } catch (Fault& fault) {
    locate(fault, inst);
  }
  ++wave.cycles;
  ++wave.instructions;
  return inst;
}

}  // namespace headtune::sim
