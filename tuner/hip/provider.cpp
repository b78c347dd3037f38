#include "tuner/hip/provider.h"

#include <fmt/format.h>

#include <charconv>
#include <optional>

#include "tuner/error.h"
#include "tuner/hip/cuda.h"
#include "tuner/hip/fake.h"
#include "tuner/hip/kfd.h"
#include "tuner/hip/rocm.h"
#include "tuner/hip/sim.h"

namespace headtune::hip {
namespace {

constexpr const char* default_sim_spec = "sim:gfx950";
constexpr const char* spec_forms = "rocm:N, cuda:N, sim:ARCH, fake:SCRIPT.json or auto";

int ordinal_of(std::string_view spec, std::string_view argument) {
  int ordinal = 0;
  const char* end = argument.data() + argument.size();
  const auto [stop, error] = std::from_chars(argument.data(), end, ordinal);
  if (!argument.empty() && (error != std::errc() || stop != end || ordinal < 0))
    throw UsageError(fmt::format("device `{}`: `{}` is not a device number", spec, argument));
  return ordinal;
}

void require(const Provider& provider, std::string_view spec) {
  if (!provider.available()) throw UnavailableError(fmt::format("device {}: {}", spec, provider.reason));
}

std::string cuda_target(const Api& api, int ordinal) {
  int major = 0, minor = 0;
  api.device_get_attribute(&major, attribute::compute_capability_major, ordinal);
  api.device_get_attribute(&minor, attribute::compute_capability_minor, ordinal);
  return fmt::format("sm_{}{}", major, minor);
}

std::string rocm_target(const Api& api, int ordinal, const std::filesystem::path& sysfs) {
  char bus_id[32] = {};
  api.device_get_pci_bus_id(bus_id, sizeof bus_id, ordinal);
  const auto node = find_kfd_node(sysfs, bus_id);
  if (!node)
    throw UnavailableError(fmt::format("device rocm:{}: no KFD topology node with PCI id {} under {}", ordinal, bus_id,
                                       (sysfs / "class/kfd").string()));
  return node->target;
}

Device open_ordinal(const Provider& provider, std::string_view spec, std::string_view argument) {
  require(provider, spec);
  Device device{.spec = std::string(spec), .provider = provider.name, .version = provider.version, .api = provider.api};
  device.ordinal = ordinal_of(spec, argument);
  int count = 0;
  provider.api->get_device_count(&count);
  if (device.ordinal >= count)
    throw UnavailableError(fmt::format("device {}: only {} device{} present", spec, count, count == 1 ? "" : "s"));
  if (const Error error = provider.api->set_device(device.ordinal))
    throw UnavailableError(fmt::format("device {}: {}", spec, provider.api->get_error_string(error)));
  return device;
}

Device open_rocm(std::string_view spec, std::string_view argument, const ProviderOptions& options) {
  Device device = open_ordinal(rocm_provider(options), spec, argument);
  device.target = rocm_target(*device.api, device.ordinal, options.sysfs);
  return device;
}

Device open_cuda(std::string_view spec, std::string_view argument) {
  Device device = open_ordinal(cuda_provider(), spec, argument);
  device.target = cuda_target(*device.api, device.ordinal);
  return device;
}

Device open_fake(std::string_view spec, std::string_view argument) {
  const Provider provider = fake_provider(std::string(argument));
  Device device = open_ordinal(provider, spec, "0");
  device.target = fake_device().target;
  device.set_timing_only = fake_timing_only;
  return device;
}

/// The first real device; without one, the newest simulated one.
Device open_auto(const ProviderOptions& options) {
  const std::string spec = device_specs(options).front();
  return open_device(spec.starts_with("sim:") ? default_sim_spec : spec, options);
}

}  // namespace

std::vector<Provider> providers(const ProviderOptions& options) {
  return {rocm_provider(options), cuda_provider(), sim_provider(options)};
}

std::vector<std::string> device_specs(const ProviderOptions& options) {
  std::vector<std::string> specs;
  for (const Provider& provider : providers(options)) {
    if (provider.name == "sim") continue;
    int count = 0;
    if (provider.available()) provider.api->get_device_count(&count);
    for (int i = 0; i < count; ++i) specs.push_back(fmt::format("{}:{}", provider.name, i));
  }
  for (const std::string& target : sim_targets()) specs.push_back("sim:" + target);
  return specs;
}

Device open_device(std::string_view spec, const ProviderOptions& options) {
  const std::size_t colon = std::min(spec.find(':'), spec.size());
  const std::string_view kind = spec.substr(0, colon);
  const std::string_view argument = spec.substr(std::min(colon + 1, spec.size()));
  if (kind == "auto") return open_auto(options);
  if (kind == "rocm") return open_rocm(spec, argument, options);
  if (kind == "cuda") return open_cuda(spec, argument);
  if (kind == "sim") return open_sim(spec, argument, options);
  if (kind == "fake") return open_fake(spec, argument);
  throw UsageError(fmt::format("device `{}`: expected {}", spec, spec_forms));
}

}  // namespace headtune::hip
