#include "tuner/sim/launch.h"

#include <algorithm>
#include <cstring>
#include <string_view>

namespace headtune::sim {
namespace {

bool is_hidden(const KernelArgument& argument) { return argument.kind.rfind("hidden_", 0) == 0; }

void put(Launch& launch, const KernelArgument& argument, const void* value, std::size_t bytes) {
  if (argument.offset + bytes <= launch.kernarg.size()) {
    std::memcpy(launch.kernarg.data() + argument.offset, value, std::min<std::size_t>(bytes, argument.size));
  }
}

std::uint16_t grid_dimensions(const Launch& launch) {
  if (launch.grid[2] * launch.block[2] > 1) return 3;
  return launch.grid[1] * launch.block[1] > 1 ? 2 : 1;
}

/// Grids are whole workgroups here, so remainders and global offsets are 0, as are the pointers to host services
/// (printf, hostcall, heap), which the simulator does not offer.
std::uint64_t hidden_value(const Launch& launch, std::string_view kind) {
  static constexpr std::string_view axes = "xyz";
  const auto axis = axes.find(kind.back());
  if (kind.starts_with("hidden_block_count_")) return launch.grid[axis];
  if (kind.starts_with("hidden_group_size_")) return launch.block[axis];
  if (kind == "hidden_grid_dims") return grid_dimensions(launch);
  if (kind == "hidden_dynamic_lds_size") return launch.dynamic_lds;
  if (kind == "hidden_private_base") return kPrivateAperture >> 32;
  if (kind == "hidden_shared_base") return kSharedAperture >> 32;
  return 0;
}

void start_segment(Launch& launch) {
  launch.kernarg.assign(launch.kernel->kernarg_bytes, std::byte{0});
  for (const KernelArgument& argument : launch.kernel->arguments) {
    if (!is_hidden(argument)) continue;
    const std::uint64_t value = hidden_value(launch, argument.kind);
    put(launch, argument, &value, std::min<std::size_t>(argument.size, sizeof value));
  }
}

}  // namespace

Extent Launch::workgroup(std::uint64_t linear) const {
  const auto rest = linear / grid[0];
  return {static_cast<std::uint32_t>(linear % grid[0]), static_cast<std::uint32_t>(rest % grid[1]),
          static_cast<std::uint32_t>(rest / grid[1])};
}

void pack_arguments(Launch& launch, const void* const* arguments) {
  start_segment(launch);
  for (const KernelArgument& argument : launch.kernel->arguments) {
    if (!is_hidden(argument)) put(launch, argument, *arguments++, argument.size);
  }
}

void pack_buffer(Launch& launch, const void* buffer, std::size_t bytes) {
  start_segment(launch);
  std::size_t explicit_bytes = 0;
  for (const KernelArgument& argument : launch.kernel->arguments) {
    if (!is_hidden(argument)) explicit_bytes = std::max<std::size_t>(explicit_bytes, argument.offset + argument.size);
  }
  std::memcpy(launch.kernarg.data(), buffer, std::min({bytes, explicit_bytes, launch.kernarg.size()}));
}

}  // namespace headtune::sim
