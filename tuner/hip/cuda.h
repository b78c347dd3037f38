// Provider over NVIDIA's driver API: each HIP entry point is a thin wrapper over its CUDA counterpart.
#pragma once

#include "tuner/hip/provider.h"

namespace headtune::hip {

Provider cuda_provider();

}  // namespace headtune::hip
