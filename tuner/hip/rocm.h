// Provider over AMD's libamdhip64 (ROCm 5.2 to 7.x).
#pragma once

#include "tuner/hip/provider.h"

namespace headtune::hip {

Provider rocm_provider(const ProviderOptions& options);

/// Where libamdhip64 is looked for, in order.
std::vector<std::string> rocm_libraries(const std::filesystem::path& rocm);

/// Why the kernel driver cannot be used by this process, or empty when it can.
std::string kfd_problem(const std::filesystem::path& dev);

/// The text for a /dev/kfd that belongs to `group` and is closed to this process.
std::string kfd_permission_text(const std::filesystem::path& kfd, unsigned group);

}  // namespace headtune::hip
