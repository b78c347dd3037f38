// Data moves between the lanes of a wave: v_readlane and friends, and the LDS crossbar's permutes.
#include <utility>

#include "tuner/sim/ops/lds_tables.h"
#include "tuner/sim/ops/memory_address.h"

namespace headtune::sim::HEADTUNE_SIM_ISA {
namespace {

/// Low six bits of a scalar operand.
int lane_number(const Wave& wave, const Operand& operand) { return static_cast<int>(scalar_word(wave, operand) & 63); }

void readlane(Wave& wave, const Inst& inst) {
  wave.s[inst.op[0].index] = lane_word(wave, inst.op[1], lane_number(wave, inst.op[2]));
}

/// Lane 0 when no lane is active.
void readfirstlane(Wave& wave, const Inst& inst) {
  const int lane = wave.exec() ? __builtin_ctzll(wave.exec()) : 0;
  wave.s[inst.op[0].index] = lane_word(wave, inst.op[1], lane);
}

void writelane(Wave& wave, const Inst& inst) {
  wave.v[inst.op[0].index][lane_number(wave, inst.op[2])] = scalar_word(wave, inst.op[1]);
}

/// Exchanges the upper `Half` lanes of the first register with the lower ones of the second, in groups of 2 * Half.
template <int Half>
void permlane_swap(Wave& wave, const Inst& inst) {
  std::uint32_t* first = wave.v[inst.op[0].index];
  std::uint32_t* second = wave.v[inst.op[1].index];
  const std::uint64_t exec = wave.exec();
  for (int lane = 0; lane < kLanes; ++lane) {
    if (lane % (2 * Half) >= Half) continue;
    const std::uint32_t low = second[lane], high = first[lane + Half];
    if (exec >> lane & 1) second[lane] = high;
    if (exec >> (lane + Half) & 1) first[lane + Half] = low;
  }
}

// --- LDS crossbar ---------------------------------------------------------------------------------------------------

/// Lanes pull: each names its source by byte address / 4. An inactive source gives 0.
void bpermute(Wave& wave, const Inst& inst) {
  const std::uint64_t exec = wave.exec();
  const std::uint32_t* address = wave.v[inst.op[1].index];
  const std::uint32_t* data = wave.v[inst.op[2].index];
  Lanes result;
  for (int lane = 0; lane < kLanes; ++lane) {
    const int source = (address[lane] + static_cast<std::uint32_t>(inst.offset)) / 4 % 64;
    result.word[lane] = exec >> source & 1 ? data[source] : 0;
  }
  write(wave, inst.op[0], 0, result);
}

/// Lanes push; the highest lane wins, and a lane that nobody wrote to gets 0.
void permute(Wave& wave, const Inst& inst) {
  const std::uint32_t* address = wave.v[inst.op[1].index];
  const std::uint32_t* data = wave.v[inst.op[2].index];
  Lanes result{};
  for_lanes(wave.exec(), [&](int lane) {
    result.word[(address[lane] + static_cast<std::uint32_t>(inst.offset)) / 4 % 64] = data[lane];
  });
  write(wave, inst.op[0], 0, result);
}

/// Source lane of ds_swizzle_b32 for each form of its 16-bit pattern.
int swizzle_source(std::uint32_t pattern, int lane) {
  const int half = lane & 32, low = lane & 31;
  if (pattern >= 0xe000) throw Fault("ds_swizzle_b32 in FFT mode is not simulated");
  if (pattern >= 0xc000) {
    const int mask = pattern & 31, by = pattern >> 5 & 31;
    const int turned = (pattern & 0x400 ? low - by : low + by) & 31;
    return half | (low & mask) | (turned & ~mask);
  }
  if (pattern & 0x8000) return (lane & ~3) | static_cast<int>(pattern >> (2 * (lane & 3)) & 3);
  const int and_mask = pattern & 31, or_mask = pattern >> 5 & 31, xor_mask = pattern >> 10 & 31;
  return half | (((low & and_mask) | or_mask) ^ xor_mask);
}

void swizzle(Wave& wave, const Inst& inst) {
  const std::uint64_t exec = wave.exec();
  const std::uint32_t* data = wave.v[inst.op[1].index];
  Lanes result;
  for (int lane = 0; lane < kLanes; ++lane) {
    const int source = swizzle_source(static_cast<std::uint32_t>(inst.offset), lane);
    result.word[lane] = exec >> source & 1 ? data[source] : 0;
  }
  write(wave, inst.op[0], 0, result);
}

constexpr OpEntry kLaneTable[] = {
    {"v_readlane_b32", readlane, Class::lane, 1, 0, {}},
    {"v_readfirstlane_b32", readfirstlane, Class::lane, 1, 0, {}},
    {"v_writelane_b32", writelane, Class::lane, 1, reads_dst, {}},
    {"v_permlane16_swap_b32", permlane_swap<16>, Class::lane, 2, reads_dst, {}},
    {"v_permlane32_swap_b32", permlane_swap<32>, Class::lane, 2, reads_dst, {}},
};

constexpr OpEntry kPermuteTable[] = {
    {"ds_bpermute_b32", bpermute, Class::lds, 1, 0, {}},
    {"ds_permute_b32", permute, Class::lds, 1, 0, {}},
    {"ds_swizzle_b32", swizzle, Class::lds, 1, 0, {}},
};

}  // namespace

std::span<const OpEntry> lane_ops() { return kLaneTable; }
std::span<const OpEntry> lds_permute_ops() { return kPermuteTable; }

}  // namespace headtune::sim::HEADTUNE_SIM_ISA
