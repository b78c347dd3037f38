// The parts of memory_ops() that live in files of their own.
#pragma once

#include <span>

#include "tuner/sim/ops/operands.h"

namespace headtune::sim::HEADTUNE_SIM_ISA {

std::span<const OpEntry> atomic_ops();         ///< global, flat and buffer atomics
std::span<const OpEntry> scalar_memory_ops();  ///< s_load, s_buffer_load

}  // namespace headtune::sim::HEADTUNE_SIM_ISA
