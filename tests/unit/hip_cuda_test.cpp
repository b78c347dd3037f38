// The cuda provider over a stand-in for NVIDIA's driver (CMake puts it first on the library path).
#include <dlfcn.h>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <thread>

#include "tuner/environment.h"
#include "tuner/error.h"
#include "tuner/hip/buffer.h"
#include "tuner/hip/provider.h"

using namespace headtune;
using Catch::Matchers::ContainsSubstring;

namespace {

/// What the stand-in counted; skips the test where another libcuda was loaded.
int counted(const char* what) {
  void* library = dlopen("libcuda.so.1", RTLD_NOW);
  auto* counter = library ? reinterpret_cast<int (*)()>(dlsym(library, what)) : nullptr;
  if (!counter) SKIP("the stand-in is not on the library path");
  return counter();
}

hip::Device open_double() {
  counted("cuda_double_launches");
  return hip::open_device("cuda:0");
}

}  // namespace

TEST_CASE("cuda:0 opens and states the device's own figures") {
  const hip::Device device = open_double();
  CHECK(device.target == "sm_90");
  CHECK_THAT(device.version, ContainsSubstring("13.0"));
  const Environment environment = read_environment(device, "nvrtc 13.0", "/nonexistent");
  CHECK(environment.cu_count == 132);
  CHECK(environment.wave_size == 32);
  CHECK(environment.lds_per_workgroup == 232448);
  CHECK(environment.llc_bytes == 60 << 20);
  CHECK(environment.runtime == "13.0");
}

TEST_CASE("an attribute that NVIDIA lacks is an error, not a guess") {
  const hip::Device device = open_double();
  int value = 0;
  CHECK(device.api->device_get_attribute(&value, hip::attribute::amd_max_lds_per_cu, 0) == hip::error_invalid_value);
  CHECK(device.api->get_last_error() == hip::error_invalid_value);
  CHECK(device.api->get_last_error() == hip::success);
}

TEST_CASE("every thread gets the one primary context by itself, as HIP promises") {
  const hip::Device device = open_double();
  hip::Error other = hip::error_invalid_value;
  std::thread([&] { other = device.api->device_synchronize(); }).join();
  CHECK(other == hip::success);
  CHECK(counted("cuda_double_contexts") == 1);
}

TEST_CASE("copies go each way") {
  const hip::Device device = open_double();
  const std::vector<int> values = {3, 1, 4, 1, 5};
  const auto first = hip::DeviceBuffer::of<int>(*device.api, values);
  hip::DeviceBuffer second(*device.api, first.bytes());
  second.copy_from(first);
  std::vector<int> back(5);
  second.download(back.data(), second.bytes());
  CHECK(back == values);
  second.fill(0);
  second.download(back.data(), second.bytes());
  CHECK(back == std::vector<int>(5, 0));
}

TEST_CASE("a launch with much dynamic shared memory opts in first, a small one does not") {
  const hip::Device device = open_double();
  const hip::Api& api = *device.api;
  const std::vector<std::byte> code(16);
  const auto module = hip::load_module(api, code);
  const auto function = hip::get_function(api, module, "kernel");
  const int before = counted("cuda_double_launches"), allowed = counted("cuda_double_opted_in_bytes");
  hip::launch(api, function, 1, 1, 1, 128, 1024, nullptr, 7);
  CHECK(counted("cuda_double_opted_in_bytes") == allowed);
  hip::launch(api, function, 1, 1, 1, 128, 200 * 1024, nullptr, 7);
  CHECK(counted("cuda_double_opted_in_bytes") == 200 * 1024);
  CHECK(counted("cuda_double_launches") == before + 2);
  CHECK_THROWS_WITH(hip::launch(api, function, 1, 1, 1, 128, 400 * 1024, nullptr, 7),
                    ContainsSubstring("hipModuleLaunchKernel"));
}

TEST_CASE("graphs and events pass through") {
  const hip::Device device = open_double();
  const hip::Api& api = *device.api;
  const auto stream = hip::make_stream(api);
  const auto graph = hip::capture_graph(api, stream.get(), [](hip::Stream) {});
  const auto start = hip::make_event(api), stop = hip::make_event(api);
  CHECK(api.graph_launch(graph.get(), stream.get()) == hip::success);
  float milliseconds = 0;
  CHECK(api.event_elapsed_time(&milliseconds, start.get(), stop.get()) == hip::success);
  CHECK(milliseconds == 1.5f);
}
