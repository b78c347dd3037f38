#include "tuner/environment.h"

#include <fmt/format.h>
#include <sys/utsname.h>

#include <algorithm>
#include <fstream>
#include <regex>
#include <sstream>

#include "headtune/arch.h"
#include "tuner/hip/check.h"
#include "tuner/hip/fake.h"
#include "tuner/hip/kfd.h"

namespace headtune {
namespace {

namespace fs = std::filesystem;

/// 0 for an attribute that the provider does not know.
int attribute_of(const hip::Device& device, int attribute) {
  int value = 0;
  return device.api->device_get_attribute(&value, attribute, device.ordinal) == hip::success ? value : 0;
}

std::string first_line(const fs::path& file) {
  std::ifstream in(file);
  std::string line;
  std::getline(in, line);
  return line;
}

std::string kernel_release() {
  utsname names{};
  return uname(&names) == 0 ? names.release : "";
}

/// "580.159" of NVIDIA's kernel module; the driver API only tells the CUDA version that it speaks.
std::string nvidia_driver(const fs::path& root) {
  const std::string line = first_line(root / "proc/driver/nvidia/version");
  std::smatch match;
  return std::regex_search(line, match, std::regex(R"(\s(\d+\.\d+(\.\d+)?)\s)")) ? match[1].str() : "";
}

/// The version of an out-of-tree amdgpu module, else the kernel's.
std::string amd_driver(const fs::path& root) {
  const std::string module = first_line(root / "sys/module/amdgpu/version");
  return module.empty() ? "linux " + kernel_release() : "amdgpu " + module;
}

std::string driver_of(const hip::Device& device, const fs::path& root) {
  if (device.provider == "cuda") return nvidia_driver(root);
  if (device.provider == "rocm") return amd_driver(root);
  if (device.provider == "fake") return hip::fake_device().driver;
  return device.version;
}

/// "6.4.43484" of a HIP runtime, "13.0" of a CUDA driver.
std::string runtime_of(const hip::Device& device) {
  if (device.provider == "fake") return hip::fake_device().runtime;
  int version = 0;
  device.api->runtime_get_version(&version);
  if (device.provider == "cuda") return fmt::format("{}.{}", version / 1000, version / 10 % 100);
  if (device.provider == "rocm")
    return fmt::format("{}.{}.{}", version / 10000000, version / 100000 % 100, version % 100000);
  return device.version;
}

void read_names(const hip::Device& device, Environment& environment) {
  const hip::Target target = hip::split_target(device.target);
  environment.arch = target.base;
  for (const std::string& feature : target.features) environment.features += ":" + feature;
  char name[256] = {};
  check(*device.api, device.api->device_get_name(name, sizeof name, device.ordinal), "hipDeviceGetName");
  environment.device_name = name;
}

void read_counts(const hip::Device& device, Environment& environment) {
  using namespace hip::attribute;
  environment.cu_count = attribute_of(device, multiprocessor_count);
  environment.wave_size = attribute_of(device, warp_size);
  environment.lds_per_workgroup =
      std::max(attribute_of(device, max_lds_per_workgroup), attribute_of(device, max_lds_per_workgroup_optin));
  environment.lds_per_cu = std::max(attribute_of(device, max_lds_per_cu), attribute_of(device, amd_max_lds_per_cu));
  environment.l2_bytes = attribute_of(device, l2_cache_size);
  std::size_t bytes = 0;
  check(*device.api, device.api->device_total_mem(&bytes, device.ordinal), "hipDeviceTotalMem");
  environment.memory_bytes = static_cast<long long>(bytes);
}

/// HIP does not report the MALL; the kernel driver does on newer systems, else the architecture's figure is taken.
void read_last_level_cache(const hip::Device& device, const fs::path& root, Environment& environment) {
  environment.llc_bytes = environment.l2_bytes;
  if (device.provider == "cuda") return;
  if (device.provider == "fake") {
    environment.llc_bytes = hip::fake_device().llc_bytes;
    return;
  }
  if (const Arch* arch = find_arch(environment.arch.c_str()))
    environment.llc_bytes = std::max(environment.llc_bytes, arch->llc_bytes);
  char bus_id[32] = {};
  if (device.provider != "rocm" || device.api->device_get_pci_bus_id(bus_id, sizeof bus_id, device.ordinal)) return;
  if (const auto node = hip::find_kfd_node(root / "sys", bus_id); node && node->llc_bytes > 0)
    environment.llc_bytes = node->llc_bytes;
}

}  // namespace

std::string Environment::fingerprint() const {
  return fmt::format("{} {}{} cu={} wave={} lds={}/{} l2={} llc={} driver={} runtime={} compiler={} times={}", provider,
                     arch, features, cu_count, wave_size, lds_per_workgroup, lds_per_cu, l2_bytes, llc_bytes, driver,
                     runtime, compiler, estimated ? "estimated" : "measured");
}

Environment read_environment(const hip::Device& device, const std::string& compiler, const fs::path& root) {
  Environment environment;
  environment.provider = device.provider;
  environment.compiler = compiler;
  environment.estimated = device.estimated;
  environment.driver = driver_of(device, root);
  environment.runtime = runtime_of(device);
  read_names(device, environment);
  read_counts(device, environment);
  read_last_level_cache(device, root, environment);
  return environment;
}

}  // namespace headtune
