// Static resources of the kernels of an AMD code object, from its NT_AMDGPU_METADATA note and kernel descriptors.
// Source: "AMDGPU usage", code object V3 and later, in LLVM's documentation.
#pragma once

#include <map>
#include <span>
#include <string>

#include "tuner/toolchain.h"

namespace headtune::toolchain {

/// Throws std::runtime_error when the image is no code object.
std::map<std::string, Resources> amd_resources(std::span<const std::byte> code);

}  // namespace headtune::toolchain
