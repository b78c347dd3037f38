#include "tuner/sim/device.h"

#include <algorithm>

#include "tuner/sim/program.h"

namespace headtune::sim {
namespace {

constexpr std::uint64_t gib = std::uint64_t{1} << 30;

const DeviceModel models[] = {
    {Arch::gfx90a, find_arch("gfx90a"), "simulated MI250X (one die)", 64 * gib, 512},
    {Arch::gfx942, find_arch("gfx942"), "simulated MI300X", 192 * gib, 512},
    {Arch::gfx950, find_arch("gfx950"), "simulated MI355X", 288 * gib, 1280},
};

/// A workgroup of more than one wave needs one of these per CU (LLVM: getMaxWorkGroupsPerCU).
constexpr int barriers_per_cu = 16;

std::uint32_t round_up(std::uint32_t value, std::uint32_t granule) { return (value + granule - 1) / granule * granule; }

}  // namespace

std::span<const DeviceModel> device_models() { return models; }

const DeviceModel& device_model(Arch arch) { return models[static_cast<int>(arch)]; }

Occupancy occupancy(const DeviceModel& device, const Kernel& kernel, std::uint32_t threads, std::uint32_t dynamic_lds) {
  const auto& facts = *device.facts;
  const int waves = static_cast<int>((threads + kLanes - 1) / kLanes);
  Occupancy result;
  result.waves_per_simd = std::min(facts.waves_per_simd, facts.registers / static_cast<int>(kernel.vgprs()));
  const int slots = facts.simds_per_cu * facts.waves_per_simd / waves;
  const int by_registers = facts.simds_per_cu * result.waves_per_simd / waves;
  result.workgroups = waves > 1 ? std::min(slots, barriers_per_cu) : slots;
  result.limit = "wave slots";
  if (by_registers < result.workgroups) result.workgroups = by_registers, result.limit = "registers";
  const std::uint32_t lds = round_up(kernel.lds_bytes + dynamic_lds, device.lds_granule);
  const int by_lds = lds == 0 ? result.workgroups : facts.lds_bytes / static_cast<int>(lds);
  if (by_lds < result.workgroups) result.workgroups = by_lds, result.limit = "LDS";
  return result;
}

}  // namespace headtune::sim
