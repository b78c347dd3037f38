#include "tuner/sim/lane_plan.h"

#include <charconv>

#include "tuner/sim/fault.h"

namespace headtune::sim {
namespace {

int number(std::string_view text) {
  int value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

/// Source lane within a row of 16, or -1.
int row_source(std::string_view name, int lane, int argument) {
  if (name == "row_shl") return lane + argument < 16 ? lane + argument : -1;
  if (name == "row_shr") return lane >= argument ? lane - argument : -1;
  if (name == "row_ror") return (lane - argument + 16) % 16;
  if (name == "row_mirror") return 15 - lane;
  if (name == "row_half_mirror") return lane ^ 7;
  return argument;  // row_newbcast
}

bool is_row(std::string_view name) {
  return name == "row_shl" || name == "row_shr" || name == "row_ror" || name == "row_mirror" ||
         name == "row_half_mirror" || name == "row_newbcast";
}

/// Source lane within the wave of 64, or -1.
int wave_source(std::string_view name, int lane, int argument) {
  if (name == "wave_shl") return lane < 63 ? lane + 1 : -1;
  if (name == "wave_shr") return lane > 0 ? lane - 1 : -1;
  if (name == "wave_rol") return (lane + 1) % 64;
  if (name == "wave_ror") return (lane + 63) % 64;
  // row_bcast: 15 takes the last lane of the previous row, 31 that of the first half.
  if (argument == 15) return lane >= 16 ? lane / 16 * 16 - 1 : -1;
  return lane >= 32 ? 31 : -1;
}

bool is_wave(std::string_view name) {
  return name == "wave_shl" || name == "wave_shr" || name == "wave_rol" || name == "wave_ror" || name == "row_bcast";
}

bool plan_quad(std::string_view argument, LanePlan& plan) {
  if (argument.size() != 9) return false;  // [a,b,c,d]
  for (int lane = 0; lane < kLanes; ++lane) {
    const int pick = argument[1 + 2 * (lane % 4)] - '0';
    if (pick < 0 || pick > 3) return false;
    plan.from[lane] = static_cast<std::int8_t>(lane / 4 * 4 + pick);
  }
  return true;
}

}  // namespace

bool plan_lanes(std::string_view name, std::string_view argument, LanePlan& plan) {
  if (name == "quad_perm") return plan_quad(argument, plan);
  const int n = number(argument);
  if (!is_row(name) && !is_wave(name)) return false;
  if (n < 0 || n > 31 || (is_row(name) && n > 15)) return false;
  for (int lane = 0; lane < kLanes; ++lane) {
    const int source = is_row(name) ? row_source(name, lane % 16, n) : wave_source(name, lane, n);
    plan.from[lane] = static_cast<std::int8_t>(source < 0 || is_wave(name) ? source : lane / 16 * 16 + source);
  }
  return true;
}

std::uint64_t masked_lanes(unsigned row_mask, unsigned bank_mask) {
  std::uint64_t lanes = 0;
  for (int lane = 0; lane < kLanes; ++lane)
    if ((row_mask >> (lane / 16) & 1) && (bank_mask >> (lane % 16 / 4) & 1)) lanes |= std::uint64_t{1} << lane;
  return lanes;
}

}  // namespace headtune::sim
