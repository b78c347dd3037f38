// Provider over NVIDIA's driver API: each HIP entry point is a thin wrapper over its CUDA counterpart.
#pragma once

#include "tuner/hip/provider.h"

namespace headtune::hip {

Provider cuda_provider();

/// NVIDIA's number for a hipDeviceAttribute_t value, or -1 when headtune does not use it.
int cuda_device_attribute(int hip_attribute);

}  // namespace headtune::hip
