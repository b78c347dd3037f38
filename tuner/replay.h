// Runs a bundle on a device and compares what it expects.
#pragma once

#include <string>
#include <vector>

#include "tuner/bundle.h"
#include "tuner/hip/provider.h"

namespace headtune {

struct ReplayCheck {
  std::string buffer;
  BundleDistance distance;
  double bound = 0;
  bool passed() const { return distance.rel_l2 <= bound; }
};

struct ReplayResult {
  std::vector<ReplayCheck> checks;  ///< one per expectation
  float milliseconds = 0;           ///< of all launches together; the cycle model's on a simulated device

  bool passed() const;
};

/// Throws UsageError when the device is of another architecture, hip::DeviceError when a launch fails.
ReplayResult replay(const Bundle& bundle, const hip::Device& device);

}  // namespace headtune
