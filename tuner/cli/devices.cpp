// `headtune devices`: every provider and toolchain, or exactly why it is not available.
#include <fmt/format.h>

#include <cstdio>
#include <nlohmann/json.hpp>

#include "headtune/arch.h"
#include "tuner/cli/commands.h"
#include "tuner/hip/provider.h"
#include "tuner/toolchain.h"
#include "tuner/verify.h"

namespace headtune::cli {
namespace {

using nlohmann::json;

struct Entry {
  std::string name, version, reason;
};

std::vector<Entry> toolchains(const std::filesystem::path& rocm) {
  ToolchainOptions options;
  options.rocm = rocm;
  options.jobs = 1;
  std::vector<Entry> entries;
  for (const auto& [name, arch] : {std::pair{"hiprtc", "gfx950"}, std::pair{"nvrtc", "sm_90"}}) try {
      entries.push_back({name, Toolchain(options).version(arch), ""});
    } catch (const std::exception& error) {
      entries.push_back({name, "", error.what()});
    }
  return entries;
}

json device_json(const std::string& spec, const hip::ProviderOptions& options) {
  try {
    const hip::Device device = hip::open_device(spec, options);
    const Arch arch = arch_of(device);
    char name[256] = "";
    device.api->device_get_name(name, sizeof name, device.ordinal);
    return {{"device", spec},
            {"name", name},
            {"target", device.target},
            {"cu_count", arch.cu_count},
            {"wave_size", arch.wave_size},
            {"lds_bytes", arch.lds_bytes},
            {"estimated", device.estimated}};
  } catch (const std::exception& error) {
    return {{"device", spec}, {"reason", error.what()}};
  }
}

json entry_json(const Entry& entry) {
  json value = {{"name", entry.name}, {"available", entry.reason.empty()}};
  value[entry.reason.empty() ? "version" : "reason"] = entry.reason.empty() ? entry.version : entry.reason;
  return value;
}

json report(const std::filesystem::path& rocm) {
  hip::ProviderOptions options;
  options.rocm = rocm;
  json all = {{"providers", json::array()}, {"toolchains", json::array()}, {"devices", json::array()}};
  for (const hip::Provider& provider : hip::providers(options))
    all["providers"].push_back(
        entry_json({provider.name, provider.version, provider.available() ? "" : provider.reason}));
  for (const Entry& entry : toolchains(rocm)) all["toolchains"].push_back(entry_json(entry));
  for (const std::string& spec : hip::device_specs(options)) all["devices"].push_back(device_json(spec, options));
  return all;
}

std::string entries_text(const json& entries) {
  std::string text;
  for (const json& entry : entries)
    text += fmt::format("  {:<8} {}\n", entry["name"].get<std::string>(),
                        entry["available"] ? entry["version"].get<std::string>()
                                           : "not available: " + entry["reason"].get<std::string>());
  return text;
}

std::string device_text(const json& device) {
  const std::string spec = device["device"];
  if (device.contains("reason"))
    return fmt::format("  {:<12} not usable: {}\n", spec, device["reason"].get<std::string>());
  return fmt::format("  {:<12} {} ({}, {} CUs, wave {}, {} KiB LDS{})\n", spec, device["name"].get<std::string>(),
                     device["target"].get<std::string>(), device["cu_count"].get<int>(), device["wave_size"].get<int>(),
                     device["lds_bytes"].get<int>() / 1024, device["estimated"] ? ", times are estimated" : "");
}

std::string text(const json& all) {
  std::string devices;
  for (const json& device : all["devices"]) devices += device_text(device);
  return "Providers\n" + entries_text(all["providers"]) + "Toolchains\n" + entries_text(all["toolchains"]) +
         "Devices\n" + (devices.empty() ? "  none\n" : devices);
}

}  // namespace

void add_devices(CLI::App& app, Exit&) {
  auto* command = app.add_subcommand("devices", "List devices, providers and toolchains, or why one is not available");
  auto rocm = std::make_shared<std::string>();
  auto as_json = std::make_shared<bool>(false);
  command->add_option("--rocm", *rocm, "ROCm root or private hipRTC prefix [search]");
  command->add_flag("--json", *as_json, "Machine-readable output");
  command->callback([=] { fmt::print("{}", *as_json ? report(*rocm).dump(2) + "\n" : text(report(*rocm))); });
}

std::string version_text() {
  const json all = report({});
  return "headtune " HEADTUNE_VERSION "\n" + entries_text(all["providers"]) + entries_text(all["toolchains"]);
}

}  // namespace headtune::cli
