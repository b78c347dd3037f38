#include "tuner/sim/state.h"

#include <algorithm>

#include "tuner/sim/memory.h"

namespace headtune::sim {
namespace {

void land(Lds& lds, const LdsLoad& load, std::uint32_t wave) {
  const std::uint32_t bytes = 4 * load.words;
  for (std::uint64_t left = load.lanes; left != 0; left &= left - 1) {
    const int lane = __builtin_ctzll(left);
    const std::uint32_t offset = load.base + bytes * static_cast<std::uint32_t>(lane);
    lds.note(offset, bytes, Use::store, wave, lane, load.data[lane]);
    std::memcpy(lds.data() + offset, load.data[lane], bytes);
  }
}

}  // namespace

void Wave::land_lds_loads(std::uint64_t vmcnt) {
  const auto done = [&](const LdsLoad& load) { return load.number + vmcnt <= vector_memory_issued; };
  const auto first_left = std::find_if_not(lds_loads.begin(), lds_loads.end(), done);
  for (auto load = lds_loads.begin(); load != first_left; ++load) sim::land(*lds, *load, wave_in_group);
  lds_loads.erase(lds_loads.begin(), first_left);
}

void Wave::reset() {
  std::fill(std::begin(s), std::end(s), 0u);
  set_pair(sreg::shared_base, kSharedAperture);
  set_pair(sreg::shared_limit, kSharedAperture | 0xffff'ffff);
  set_pair(sreg::private_base, kPrivateAperture);
  set_pair(sreg::private_limit, kPrivateAperture | 0xffff'ffff);
  set_exec(~std::uint64_t{0});
  mode = mode::usual;
  pc = 0;
  index_mode = 0;
  stop = Stop::running;
  cycles = instructions = 0;
  random_state = 1;
  access = Access{};
  vector_memory_issued = 0;
  lds_loads.clear();
}

}  // namespace headtune::sim
