// The GPU's core clock, where the machine lets one read it: NVML on NVIDIA, sysfs on AMD. Optional at run time.
#pragma once

#include <filesystem>
#include <string>

#include "tuner/hip/provider.h"

namespace headtune {

class ClockReader {
 public:
  explicit ClockReader(const hip::Device& device, const std::filesystem::path& sysfs = "/sys");

  /// Present core clock; 0 when it cannot be read.
  int mhz() const;
  /// Whether the device says that heat or power holds its clock down (NVIDIA; false where it cannot be read).
  bool throttled() const;

 private:
  std::filesystem::path sclk_;  ///< AMD: pp_dpm_sclk of the device
  void* nvml_device_ = nullptr;
};

/// The active entry ("1: 2100Mhz *") of AMD's pp_dpm_sclk; 0 when there is none.
int active_clock(const std::string& pp_dpm_sclk);

}  // namespace headtune
