// Turns disassembly text into Inst. Encodings are never read by hand: the text is the compiler's own.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "tuner/sim/inst.h"
#include "tuner/toolchain.h"

namespace headtune::sim {

/// Instruction-set builds of the handlers, worst first. The best that the processor has is used, up to the one asked
/// for.
enum class InstructionSet : int { generic, avx2 };

/// Limits the choice (tests compare the builds); affects later decoding only.
void use_instruction_set(InstructionSet set);

/// The handlers of this processor's best instruction set, by mnemonic without suffix; null when unknown.
const OpEntry* find_op(std::string_view name);

/// Throws BadCode naming the mnemonic or operand that is unknown. An unknown instruction becomes an Inst that faults
/// when it is executed, so that code which is never reached does no harm.
std::vector<Inst> decode(std::span<const Instruction> disassembly, Arch arch);

/// One instruction; branch targets are left 0.
Inst decode_one(const Instruction& instruction, Arch arch);

}  // namespace headtune::sim
