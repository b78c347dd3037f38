#include "tuner/sim/state.h"

#include <algorithm>

namespace headtune::sim {

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
}

}  // namespace headtune::sim
