// Provider over the simulator (tuner/sim): AMD code objects executed on the CPU, times from a cycle model.
#pragma once

#include "tuner/hip/provider.h"

namespace headtune::hip {

/// Always available; a module needs headtune-toolchain with comgr when it is loaded, found as ProviderOptions::rocm
/// says.
Provider sim_provider(const ProviderOptions& options = {});

/// "gfx950" or an ordinal; throws UsageError.
Device open_sim(std::string_view spec, std::string_view argument, const ProviderOptions& options = {});

/// "gfx90a", "gfx942", "gfx950".
std::vector<std::string> sim_targets();

}  // namespace headtune::hip
