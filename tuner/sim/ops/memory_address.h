// From the operands of a memory instruction to host pointers, one per active lane, all checks done.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tuner/sim/memory.h"
#include "tuner/sim/ops/operands.h"

namespace headtune::sim::HEADTUNE_SIM_ISA {

/// Where each active lane's bytes are. Lanes that a buffer descriptor excludes point at a scratch pad: loads find
/// zeros there, stores vanish.
struct Pointers {
  std::byte* lane[kLanes];
  std::uint64_t active = 0;
  std::uint64_t padded = 0;  ///< lanes on the pad, wholly or partly
  alignas(16) std::byte pad[kLanes][16];
  std::byte* part[kLanes][4];  ///< of a padded lane: its dwords that are in range, else null
};

struct Request {
  Use use;
  std::uint32_t bytes;  ///< per lane
  std::uint32_t align;  ///< that the address must have; 1 except for atomics
  int first;            ///< index of the address operand
};

/// All fill wave.access.
void point_global(Wave& wave, const Inst& inst, const Request& request, Pointers& to);
void point_flat(Wave& wave, const Inst& inst, const Request& request, Pointers& to);
void point_scratch(Wave& wave, const Inst& inst, const Request& request, Pointers& to);
void point_buffer(Wave& wave, const Inst& inst, const Request& request, Pointers& to);

/// After a store: copies the in-range dwords of padded lanes to memory.
void finish_store(const Pointers& pointers, std::uint32_t bytes);

template <class F>
inline void for_lanes(std::uint64_t mask, F f) {
  if (mask == ~std::uint64_t{0}) {
    for (int lane = 0; lane < kLanes; ++lane) f(lane);
    return;
  }
  for (; mask; mask &= mask - 1) f(__builtin_ctzll(mask));
}

/// A buffer resource descriptor in four scalar registers.
struct Buffer {
  std::uint64_t base;
  std::uint32_t stride, records;
  bool swizzle, add_tid;

  static Buffer of(const Wave& wave, const Operand& operand) {
    const std::uint32_t* s = &wave.s[operand.index];
    return {(std::uint64_t{s[1] & 0xffff} << 32) | s[0], s[1] >> 16 & 0x3fff, s[2], (s[1] >> 31) != 0,
            (s[3] >> 23 & 1) != 0};
  }
};

}  // namespace headtune::sim::HEADTUNE_SIM_ISA
