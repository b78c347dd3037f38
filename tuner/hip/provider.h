// A provider fills the table of HIP entry points: rocm (AMD's library), cuda (NVIDIA's driver), sim (the simulator)
// and fake (a scripted device for tests). Everything is found at run time; one binary runs on every machine.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "tuner/hip/api.h"

namespace headtune::hip {

struct Provider {
  std::string name = {};
  const Api* api = nullptr;
  std::string version = {};  ///< "HIP 6.4.43484 from libamdhip64.so.6", shown by `headtune devices`
  std::string reason = {};   ///< why `api` is null: what is missing and what to do

  bool available() const { return api != nullptr; }
};

struct ProviderOptions {
  std::filesystem::path rocm;            ///< --rocm PATH: a ROCm root; empty: /opt/rocm, then the loader's path
  std::filesystem::path sysfs = "/sys";  ///< tests put a fake tree here
  std::filesystem::path dev = "/dev";
};

/// One device, initialised and current on the calling thread.
struct Device {
  std::string spec = {};      ///< "cuda:0": opens the same device again
  std::string provider = {};  ///< "cuda"
  std::string version = {};   ///< of the provider
  const Api* api = nullptr;
  int ordinal = 0;
  std::string target = {};                  ///< "gfx942:sramecc+", "sm_90"
  bool estimated = false;                   ///< times come from a model, not from a clock
  void (*set_timing_only)(bool) = nullptr;  ///< simulator: launches take time but compute nothing
  /// Simulator: instructions, cache lines and bank conflicts of what was timed since the last call; of one CU.
  std::map<std::string, long long> (*take_counters)() = nullptr;
  std::string (*fault_text)() = nullptr;    ///< simulator: kernel, instruction, lane and address of the last fault
};

/// Every provider except fake, available or not.
std::vector<Provider> providers(const ProviderOptions& options = {});

/// Opens "rocm:0", "cuda:1", "sim:gfx950", "fake:script.json" or "auto" (the first real device, else the simulator).
/// Throws UnavailableError with the provider's reason, UsageError for a malformed name.
Device open_device(std::string_view spec, const ProviderOptions& options = {});

/// Every device that can be opened now (real ones, then simulated ones).
std::vector<std::string> device_specs(const ProviderOptions& options = {});

}  // namespace headtune::hip
