// Provider over the simulator: gfx90a, gfx942 and gfx950 on the CPU, with estimated times.
#pragma once

#include "tuner/hip/provider.h"

namespace headtune::hip {

Provider sim_provider();

/// Opens "gfx950". Throws UsageError for an architecture that is not simulated. Loading code needs a disassembler,
/// which `options.rocm` helps to find.
Device open_sim(std::string_view arch, const ProviderOptions& options);

/// Best first: the default when there is no GPU.
std::vector<std::string> sim_specs();

/// "gfx90a", "gfx942", "gfx950".
std::vector<std::string> sim_targets();

}  // namespace headtune::hip
