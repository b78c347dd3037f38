// From the operands of an LDS instruction to checked offsets.
#pragma once

#include "tuner/sim/ops/memory_address.h"

namespace headtune::sim::HEADTUNE_SIM_ISA {

struct LdsLanes {
  std::byte* data = nullptr;  ///< of the workgroup
  std::uint64_t active = 0;
  std::uint32_t offset[kLanes];
};

inline void record_lds(Wave& wave, const Request& request, const std::uint32_t* offset) {
  Access& access = wave.access;
  access.space = Space::lds;
  access.load = request.use != Use::store;
  access.store = request.use != Use::load;
  access.bytes = request.bytes;
  access.parts = 1;
  access.part_stride = 0;
  access.to_lds = false;
  access.lanes = wave.exec();
  for (int lane = 0; lane < kLanes; ++lane) access.address[lane] = offset[lane];
}

/// Checks range, alignment and, but for stores, races; fills wave.access. A store notes itself, with its value.
inline void check_lds(Wave& wave, const Request& request, LdsLanes& to) {
  to.active = wave.exec();
  record_lds(wave, request, to.offset);
  Lds& lds = *wave.lds;
  to.data = lds.data();
  for_lanes(to.active, [&](int lane) { lds.require(to.offset[lane], request.bytes, request.align, lane); });
  if (lds.checks_races() && request.use != Use::store)
    for_lanes(to.active,
              [&](int lane) { lds.note(to.offset[lane], request.bytes, request.use, wave.wave_in_group, lane); });
}

/// One lane's store.
inline void store_lds(Wave& wave, const LdsLanes& to, int lane, const void* value, std::uint32_t bytes) {
  wave.lds->note(to.offset[lane], bytes, Use::store, wave.wave_in_group, lane, value);
  std::memcpy(to.data + to.offset[lane], value, bytes);
}

/// Lane's address register plus `offset` bytes.
inline void point_lds(Wave& wave, const Inst& inst, const Request& request, std::int32_t offset, LdsLanes& to) {
  const std::uint32_t* address = wave.v[inst.op[request.first].index];
  for (int lane = 0; lane < kLanes; ++lane) to.offset[lane] = address[lane] + static_cast<std::uint32_t>(offset);
  check_lds(wave, request, to);
}

/// `base` plus 4 bytes per lane.
inline void point_lds_by_lane(Wave& wave, const Request& request, std::uint32_t base, LdsLanes& to) {
  for (int lane = 0; lane < kLanes; ++lane) to.offset[lane] = base + 4 * lane;
  check_lds(wave, request, to);
}

}  // namespace headtune::sim::HEADTUNE_SIM_ISA
