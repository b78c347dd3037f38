// The instructions of a code object without what only says where they lie. Two texts are equal when the code is.
#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "tuner/toolchain.h"

namespace headtune {

/// One kernel: first what its descriptor sets up (".vgprs 128"), then one instruction a line.
///
/// Left out: addresses, encodings, comments, symbol names and the padding after the last instruction. A branch names
/// its target's label (L0, L1, ... in the order of addresses), which stands on a line of its own; "_e32", the short
/// encoding, goes unsaid, and operands are separated by a comma alone.
using KernelCode = std::vector<std::string>;

/// Every kernel of a gfx90a, gfx942 or gfx950 code object by name. `disassembly` covers its .text in address order.
/// Throws sim::BadCode on another code object.
std::map<std::string, KernelCode> machine_code(std::span<const std::byte> code,
                                               std::span<const Instruction> disassembly);

/// SHA-256 of the lines.
std::string digest(const KernelCode& code);

/// How often each opcode occurs; the descriptor's lines and the labels do not count.
std::map<std::string, int> count_opcodes(const KernelCode& code);

}  // namespace headtune
