// Runs a function on a private copy of the process: its writes to simulated memory are not seen outside.
#pragma once

#include <functional>

#include "tuner/sim/timing.h"

namespace headtune::sim {

/// The estimate that `work` returns. A Fault in it is thrown here; a child that dies is a Fault too.
Estimate in_sandbox(const std::function<Estimate()>& work);

}  // namespace headtune::sim
