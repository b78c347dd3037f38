// What results depend on besides the code: the device and the software that drives it.
#pragma once

#include <filesystem>
#include <string>

#include "tuner/hip/provider.h"

namespace headtune {

struct Environment {
  std::string provider;  ///< "rocm", "cuda", "sim", "fake"
  std::string arch;      ///< "gfx942", "sm_90": never a marketing name
  std::string features;  ///< ":sramecc+:xnack-", sorted; empty on NVIDIA
  int cu_count = 0;
  int wave_size = 0;
  long long lds_per_workgroup = 0;  ///< bytes
  long long lds_per_cu = 0;
  long long l2_bytes = 0;
  long long llc_bytes = 0;  ///< last-level cache: MALL where there is one
  long long memory_bytes = 0;
  std::string driver;
  std::string runtime;
  std::string compiler;     ///< Toolchain::version
  std::string device_name;  ///< shown, never keyed: one GPU has several marketing names
  bool estimated = false;

  /// One line of every keyed field; equal lines mean comparable results.
  std::string fingerprint() const;
};

/// Throws hip::DeviceError. `compiler` is Toolchain::version(device.target).
Environment read_environment(const hip::Device& device, const std::string& compiler,
                             const std::filesystem::path& root = "/");

}  // namespace headtune
