#include "tuner/hip/sim.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <memory>

#include "tuner/error.h"
#include "tuner/hip/check.h"
#include "tuner/sim/runtime.h"
#include "tuner/toolchain.h"

namespace headtune::hip {
namespace {

/// One disassembling process, started with the first module.
sim::Disassembler disassembler(const std::filesystem::path& rocm) {
  ToolchainOptions options;
  options.rocm = rocm;
  options.jobs = 1;
  auto toolchain = std::make_shared<Toolchain>(options);
  return [toolchain](std::span<const std::byte> code, const std::string& arch) {
    return toolchain->disassemble(code, arch);
  };
}

}  // namespace

Provider sim_provider() {
  return {.name = "sim", .api = &sim::api(), .version = "simulated gfx90a, gfx942, gfx950; times are estimated"};
}

Device open_sim(std::string_view arch, const ProviderOptions& options) {
  const Provider provider = sim_provider();
  Device device{.spec = fmt::format("sim:{}", arch),
                .provider = provider.name,
                .version = "headtune sim 1",
                .api = provider.api,
                .ordinal = sim::ordinal_of(std::string(arch)),
                .target = std::string(arch),
                .estimated = true,
                .set_timing_only = sim::set_timing_only,
                .fault_text = [] { return sim::last_fault_text(); }};
  if (device.ordinal < 0)
    throw UsageError(fmt::format("device {}: simulated are {}", device.spec, "gfx90a, gfx942 and gfx950"));
  sim::Options sim_options;
  sim_options.disassemble = disassembler(options.rocm);
  sim::configure(sim_options);
  check(*device.api, device.api->set_device(device.ordinal), "hipSetDevice");
  return device;
}

std::vector<std::string> sim_specs() { return {"sim:gfx950", "sim:gfx942", "sim:gfx90a"}; }

std::vector<std::string> sim_targets() {
  std::vector<std::string> names;
  for (const auto& model : sim::device_models()) names.push_back(model.facts->name);
  return names;
}

}  // namespace headtune::hip
