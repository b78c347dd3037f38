// One kernel launch: geometry and the complete kernel argument segment.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "tuner/sim/program.h"

namespace headtune::sim {

using Extent = std::array<std::uint32_t, 3>;  ///< x, y, z

struct Launch {
  std::shared_ptr<const Program> program;
  std::uint64_t module = 0;  ///< number of the loaded module, never used twice
  const Kernel* kernel = nullptr;
  Extent grid{1, 1, 1};   ///< workgroups
  Extent block{1, 1, 1};  ///< work items
  std::uint32_t dynamic_lds = 0;
  std::vector<std::byte> kernarg;

  std::uint64_t workgroups() const { return std::uint64_t{grid[0]} * grid[1] * grid[2]; }
  std::uint32_t threads() const { return block[0] * block[1] * block[2]; }
  std::uint32_t waves() const { return (threads() + kLanes - 1) / kLanes; }
  std::uint32_t lds_bytes() const { return kernel->lds_bytes + dynamic_lds; }
  /// x runs fastest.
  Extent workgroup(std::uint64_t linear) const;
};

/// Fills Launch::kernarg from hipModuleLaunchKernel's array of argument addresses: explicit arguments by the metadata's
/// offsets and sizes, then the hidden ones (code object v5), whose values follow from the geometry. Geometry must be
/// set.
void pack_arguments(Launch& launch, const void* const* arguments);

/// The same from one packed buffer of explicit arguments (HIP_LAUNCH_PARAM_BUFFER_POINTER).
void pack_buffer(Launch& launch, const void* buffer, std::size_t bytes);

}  // namespace headtune::sim
