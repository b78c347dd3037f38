// headtune replay: runs a bundle on a device and checks it.
#include "tuner/replay.h"

#include <fmt/format.h>

#include <memory>

#include "tuner/cli/commands.h"
#include "tuner/hip/check.h"
#include "tuner/sim/runtime.h"

namespace headtune::cli {
namespace {

struct Options {
  std::string folder;
  std::string device = "auto";
  std::vector<std::string> check;
  std::string rocm;
};

/// Checks that only the simulator can make.
void apply_checks(const Options& options, const hip::Device& device) {
  if (options.check.empty()) return;
  if (device.provider != "sim") throw UsageError("--check needs a simulated device, such as --device sim:gfx950");
  bool races = false, uninitialised = true;
  for (const std::string& name : options.check) {
    races |= name == "races";
    uninitialised &= name != "no-uninitialised";
  }
  sim::set_checks(races, uninitialised);
}

Exit run(const Options& options) {
  const Bundle bundle = read_bundle(options.folder);
  const hip::Device device = hip::open_device(options.device, {.rocm = options.rocm});
  apply_checks(options, device);
  ReplayResult result;
  try {
    result = replay(bundle, device);
  } catch (const hip::DeviceError& error) {
    const std::string fault = device.fault_text ? device.fault_text() : "";
    throw Failure(Exit::regress, fault.empty() ? error.what() : fault);
  }
  for (const ReplayCheck& check : result.checks)
    fmt::print("{} {}: relative L2 {:.2e} of at most {:.2e} over {} elements, worst at {}\n",
               check.passed() ? "ok  " : "FAIL", check.buffer, check.distance.rel_l2, check.bound,
               check.distance.compared, check.distance.worst);
  fmt::print("{} on {}: {} launches, {:.1f} us{}\n", result.passed() ? "passed" : "failed", device.spec,
             bundle.launches.size(), static_cast<double>(result.milliseconds) * 1e3,
             device.estimated ? " (estimated)" : "");
  return result.passed() ? Exit::ok : Exit::regress;
}

}  // namespace

void add_replay(CLI::App& app, Exit& result) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("replay", "Run a bundle on a device and check it; exit 1 when it differs");
  command->add_option("folder", options->folder, "Folder that `headtune bundle` wrote")->required();
  command->add_option("--device", options->device, "rocm:0, sim:gfx950, auto")->capture_default_str();
  command->add_option("--check", options->check, "Simulator: races, no-uninitialised")
      ->check(CLI::IsMember({"races", "no-uninitialised"}))
      ->delimiter(',');
  command->add_option("--rocm", options->rocm, "ROCm root or private hipRTC prefix [search]");
  command->callback([options, &result] { result = run(*options); });
}

}  // namespace headtune::cli
