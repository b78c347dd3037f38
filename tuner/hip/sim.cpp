#include "tuner/hip/sim.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <memory>

#include "tuner/error.h"
#include "tuner/sim/runtime.h"
#include "tuner/sim/timing_table.h"
#include "tuner/toolchain.h"

namespace headtune::hip {
namespace {

/// Starts the compile process when the first module is loaded.
sim::Disassembler make_disassembler(const std::filesystem::path& rocm) {
  auto toolchain = std::make_shared<std::unique_ptr<Toolchain>>();
  ToolchainOptions tool;
  tool.rocm = rocm;
  tool.jobs = 1;
  return [toolchain, tool](std::span<const std::byte> code, const std::string& arch) {
    if (!*toolchain) *toolchain = std::make_unique<Toolchain>(tool);
    return (*toolchain)->disassemble(code, arch);
  };
}

}  // namespace

Provider sim_provider(const ProviderOptions& options) {
  static const bool configured = [&] {
    sim::configure({.disassemble = make_disassembler(options.rocm)});
    return true;
  }();
  (void)configured;
  return {
      .name = "sim", .api = &sim::api(), .version = fmt::format("simulator, cycle model {}", sim::cycle_model_version)};
}

Device open_sim(std::string_view spec, std::string_view argument, const ProviderOptions& options) {
  const Provider provider = sim_provider(options);
  Device device{.spec = std::string(spec), .provider = provider.name, .version = provider.version, .api = provider.api};
  device.ordinal = sim::ordinal_of(std::string(argument));
  if (device.ordinal < 0)
    throw UsageError(fmt::format("device `{}`: sim has {}", spec, fmt::join(sim_targets(), ", ")));
  provider.api->set_device(device.ordinal);
  device.target = sim::device_models()[static_cast<std::size_t>(device.ordinal)].facts->name;
  device.estimated = true;
  device.set_timing_only = sim::set_timing_only;
  device.take_counters = sim::take_counters;
  device.fault_text = [] { return sim::last_fault_text(); };
  return device;
}

std::vector<std::string> sim_targets() {
  std::vector<std::string> names;
  for (const auto& model : sim::device_models()) names.push_back(model.facts->name);
  return names;
}

}  // namespace headtune::hip
