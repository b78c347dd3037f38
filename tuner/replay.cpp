#include "tuner/replay.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "headtune/arch.h"
#include "tuner/error.h"
#include "tuner/hip/buffer.h"
#include "tuner/sim/loader.h"

namespace headtune {
namespace {

using Buffers = std::map<std::string, hip::DeviceBuffer>;
using Modules = std::map<std::string, hip::Owned<hip::Module>>;

void require_arch(const Bundle& bundle, const hip::Device& device) {
  const Arch *wanted = find_arch(bundle.arch.c_str()), *there = find_arch(device.target.c_str());
  if (wanted == nullptr || wanted != there)
    throw UsageError(fmt::format("the bundle is for {}, {} is {}", bundle.arch, device.spec, device.target));
}

Buffers upload(const Bundle& bundle, const hip::Api& api) {
  Buffers buffers;
  for (const auto& [name, buffer] : bundle.buffers) {
    hip::DeviceBuffer& on_device = buffers[name] = hip::DeviceBuffer(api, buffer.bytes);
    if (buffer.file.empty())
      on_device.fill(buffer.fill);
    else
      on_device.upload(bundle.files.at(buffer.file).data(), buffer.bytes);
  }
  return buffers;
}

std::vector<std::byte> kernel_arguments(const BundleLaunch& launch, const Buffers& buffers) {
  std::vector<std::byte> bytes = launch.kernarg;
  for (const BundlePointer& pointer : launch.pointers) {
    const void* address = buffers.at(pointer.buffer).at(pointer.byte_offset);
    std::memcpy(&bytes[pointer.offset], &address, sizeof address);
  }
  return bytes;
}

/// Offsets of the explicit arguments; the runtime adds the hidden ones itself.
std::vector<std::uint32_t> argument_offsets(const Bundle& bundle, const BundleLaunch& launch) {
  if (find_arch(bundle.arch.c_str())->family == Family::nvidia) return {0};
  sim::CodeObject object;
  try {
    object = sim::load(bundle.files.at(launch.code_object));
  } catch (const sim::BadCode& error) {
    throw UsageError(fmt::format("{}: {}", launch.code_object, error.what()));
  }
  const auto kernel = object.kernels.find(launch.kernel);
  if (kernel == object.kernels.end())
    throw UsageError(fmt::format("{} has no kernel '{}'", launch.code_object, launch.kernel));
  std::vector<std::uint32_t> offsets;
  for (const sim::KernelArgument& argument : kernel->second.arguments) {
    if (argument.kind.rfind("hidden_", 0) == 0) continue;
    if (std::size_t{argument.offset} + argument.size > launch.kernarg.size())
      throw UsageError(fmt::format("the kernel arguments of '{}' are too short", launch.kernel));
    offsets.push_back(argument.offset);
  }
  return offsets;
}

void run(const Bundle& bundle, const BundleLaunch& launch, const hip::Api& api, Modules& modules,
         const Buffers& buffers, hip::Stream stream) {
  std::vector<std::byte> bytes = kernel_arguments(launch, buffers);
  std::vector<void*> arguments;
  for (const std::uint32_t offset : argument_offsets(bundle, launch)) arguments.push_back(&bytes[offset]);
  auto& module = modules[launch.code_object];
  if (!module) module = hip::load_module(api, bundle.files.at(launch.code_object));
  const hip::Function function = hip::get_function(api, module, launch.kernel);
  hip::check(
      api,
      api.module_launch_kernel(function, launch.grid[0], launch.grid[1], launch.grid[2], launch.block[0],
                               launch.block[1], launch.block[2], launch.dynamic_lds, stream, arguments.data(), nullptr),
      "launch of " + launch.kernel);
}

ReplayCheck compare(const Bundle& bundle, const BundleExpect& expect, const Buffers& buffers) {
  const hip::DeviceBuffer& buffer = buffers.at(expect.buffer);
  std::vector<std::byte> actual(buffer.bytes());
  buffer.download(actual.data(), actual.size());
  return {expect.buffer, bundle_distance(actual, expect.dtype, bundle.files.at(expect.file)), expect.rel_l2};
}

}  // namespace

bool ReplayResult::passed() const {
  return std::all_of(checks.begin(), checks.end(), [](const ReplayCheck& check) { return check.passed(); });
}

ReplayResult replay(const Bundle& bundle, const hip::Device& device) {
  require_arch(bundle, device);
  const hip::Api& api = *device.api;
  const Buffers buffers = upload(bundle, api);
  Modules modules;
  const auto stream = hip::make_stream(api);
  const auto begin = hip::make_event(api), end = hip::make_event(api);
  hip::check(api, api.event_record(begin.get(), stream.get()), "hipEventRecord");
  for (const BundleLaunch& launch : bundle.launches) run(bundle, launch, api, modules, buffers, stream.get());
  hip::check(api, api.event_record(end.get(), stream.get()), "hipEventRecord");
  hip::check(api, api.stream_synchronize(stream.get()), "hipStreamSynchronize");
  ReplayResult result;
  hip::check(api, api.event_elapsed_time(&result.milliseconds, begin.get(), end.get()), "hipEventElapsedTime");
  for (const BundleExpect& expect : bundle.expect) result.checks.push_back(compare(bundle, expect, buffers));
  return result;
}

}  // namespace headtune
