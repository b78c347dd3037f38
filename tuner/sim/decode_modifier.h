// Modifiers after the operands: "offset:16", "op_sel:[0,1]", "row_shl:1", "vmcnt(0)", "clamp", ...
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "tuner/sim/inst.h"

namespace headtune::sim {

/// True when `token` is a modifier; its value is then in `inst`. Throws BadCode when its value makes no sense.
bool apply_modifier(Inst& inst, std::string_view token);

/// Immediates with a syntax of their own: hwreg(...), sendmsg(...), gpr_idx(...).
std::optional<std::uint64_t> parse_immediate(std::string_view token);

/// Puts together what several modifiers say (DPP masks); call when all are read.
void finish_modifiers(Inst& inst);

}  // namespace headtune::sim
