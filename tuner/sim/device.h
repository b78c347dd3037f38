// The simulated devices: one per AMD target, with the figures of templates/headtune/arch.h.
#pragma once

#include <span>
#include <string>

#include "headtune/arch.h"
#include "tuner/sim/state.h"

namespace headtune::sim {

struct DeviceModel {
  Arch arch;
  const headtune::Arch* facts;
  const char* product;         ///< shown, never keyed
  std::uint64_t memory_bytes;  ///< what hipMemGetInfo reports; simulated memory is mapped lazily
  std::uint32_t lds_granule;   ///< LDS is given out in multiples of this
};

/// In ordinal order: gfx90a, gfx942, gfx950.
std::span<const DeviceModel> device_models();
const DeviceModel& device_model(Arch arch);

struct Kernel;

/// Workgroups of this shape that one CU holds at a time, and what bounds them.
struct Occupancy {
  int workgroups = 0;
  int waves_per_simd = 0;  ///< bound from registers alone
  const char* limit = "";  ///< "registers", "LDS", "wave slots"
};
Occupancy occupancy(const DeviceModel& device, const Kernel& kernel, std::uint32_t threads, std::uint32_t dynamic_lds);

}  // namespace headtune::sim
