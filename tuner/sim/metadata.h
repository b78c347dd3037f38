// NT_AMDGPU_METADATA: the MessagePack note that describes a code object's kernels.
#pragma once

#include <map>
#include <span>
#include <string>

#include "tuner/sim/program.h"

namespace headtune::sim {

/// Kernels by name, with what the metadata says of them (arguments, sizes, resources). Throws BadCode.
std::map<std::string, Kernel> read_metadata(std::span<const std::byte> note);

}  // namespace headtune::sim
