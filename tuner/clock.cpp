#include "tuner/clock.h"

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <fstream>
#include <sstream>

#include "tuner/hip/library.h"

namespace headtune {
namespace {

/// NVIDIA's management library, as far as it is needed. Handles are opaque, results are ints, 0 is success.
struct Nvml {
  int (*init)();
  int (*device_by_pci)(const char* bus_id, void** device);
  int (*clock_info)(void* device, int type, unsigned* mhz);
  int (*throttle_reasons)(void* device, unsigned long long* reasons);
  bool ready = false;
};

constexpr int nvml_clock_sm = 1;
// Software power cap, hardware slowdown, software and hardware thermal slowdown, power brake (nvml.h). Not among them:
// idle, application clocks, display.
constexpr unsigned long long nvml_held_down = 0x4 | 0x8 | 0x20 | 0x40 | 0x80;

const Nvml& nvml() {
  static const Nvml loaded = [] {
    Nvml functions{};
    const hip::Library library({"libnvidia-ml.so.1"});
    functions.ready = library && library.bind(functions.init, "nvmlInit_v2") &&
                      library.bind(functions.device_by_pci, "nvmlDeviceGetHandleByPciBusId_v2") &&
                      library.bind(functions.clock_info, "nvmlDeviceGetClockInfo") &&
                      library.bind(functions.throttle_reasons, "nvmlDeviceGetCurrentClocksThrottleReasons") &&
                      functions.init() == 0;
    return functions;
  }();
  return loaded;
}

std::string pci_bus_id(const hip::Device& device) {
  char text[32] = {};
  device.api->device_get_pci_bus_id(text, sizeof text, device.ordinal);
  return text;
}

void* nvml_device(const std::string& bus_id) {
  void* handle = nullptr;
  if (!nvml().ready || nvml().device_by_pci(bus_id.c_str(), &handle) != 0) return nullptr;
  return handle;
}

}  // namespace

ClockReader::ClockReader(const hip::Device& device, const std::filesystem::path& sysfs) {
  std::string bus_id = pci_bus_id(device);
  if (device.provider == "cuda") nvml_device_ = nvml_device(bus_id);
  if (device.provider == "rocm") {
    std::transform(bus_id.begin(), bus_id.end(), bus_id.begin(), [](unsigned char c) { return std::tolower(c); });
    sclk_ = sysfs / "bus/pci/devices" / bus_id / "pp_dpm_sclk";
  }
}

int ClockReader::mhz() const {
  unsigned mhz = 0;
  if (nvml_device_ && nvml().clock_info(nvml_device_, nvml_clock_sm, &mhz) == 0) return static_cast<int>(mhz);
  if (sclk_.empty()) return 0;
  std::stringstream text;
  text << std::ifstream(sclk_).rdbuf();
  return active_clock(text.str());
}

bool ClockReader::throttled() const {
  unsigned long long reasons = 0;
  return nvml_device_ && nvml().throttle_reasons(nvml_device_, &reasons) == 0 && (reasons & nvml_held_down) != 0;
}

int active_clock(const std::string& pp_dpm_sclk) {
  std::istringstream lines(pp_dpm_sclk);
  for (std::string line; std::getline(lines, line);) {
    int level = 0, mhz = 0;
    if (line.find('*') != std::string::npos && std::sscanf(line.c_str(), "%d: %d", &level, &mhz) == 2) return mhz;
  }
  return 0;
}

}  // namespace headtune
