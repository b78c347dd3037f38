// Reads an AMD code object (ELF): validated against its size everywhere, so that no input can crash the reader.
#pragma once

#include <span>

#include "tuner/sim/program.h"

namespace headtune::sim {

/// Throws BadCode with the reason.
CodeObject load(std::span<const std::byte> file);

}  // namespace headtune::sim
