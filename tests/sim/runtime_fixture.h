// What tests of the simulated HIP runtime share: code objects that hipRTC makes here and now, device buffers, launches.
// Skips the test, and says so, without a compiler.
#pragma once

#include <catch2/catch_test_macros.hpp>
#include <numeric>
#include <string>
#include <vector>

#include "tuner/error.h"
#include "tuner/sim/runtime.h"
#include "tuner/toolchain.h"

namespace headtune::test {

inline const hip::Api& api() { return sim::api(); }

inline Toolchain& toolchain() {
  static Toolchain one{ToolchainOptions()};
  return one;
}

/// Compiles for an architecture and makes its simulated device current.
struct Compiled {
  hip::Module module = nullptr;

  Compiled(const std::string& arch, const std::string& source, const std::vector<std::string>& options = {"-O3"}) {
    try {
      toolchain().version(arch);
    } catch (const UnavailableError& error) {
      SKIP("no compiler: " << error.what());
    }
    sim::configure(
        {.disassemble = [](auto code, const auto& target) { return toolchain().disassemble(code, target); }});
    sim::set_timing_only(false);
    REQUIRE(api().set_device(sim::ordinal_of(arch)) == hip::success);
    std::vector<std::string> all = {"-std=c++17"};
    all.insert(all.end(), options.begin(), options.end());
    const Binary binary = toolchain().compile({source, arch, all});
    INFO(binary.log);
    REQUIRE(binary.status == CompileStatus::ok);
    const hip::Error error = api().module_load_data(&module, binary.code.data());
    INFO(api().get_error_string(error));
    REQUIRE(error == hip::success);
  }
  ~Compiled() {
    if (module) api().module_unload(module);
  }

  hip::Function function(const char* name) const {
    hip::Function result = nullptr;
    REQUIRE(api().module_get_function(&result, module, name) == hip::success);
    return result;
  }
};

template <class T>
struct Buffer {
  explicit Buffer(std::size_t count_) : count(count_) {
    void* memory = nullptr;
    REQUIRE(api().malloc(&memory, count * sizeof(T)) == hip::success);
    data = static_cast<T*>(memory);
  }
  explicit Buffer(const std::vector<T>& values) : Buffer(values.size()) {
    REQUIRE(api().memcpy(data, values.data(), count * sizeof(T), hip::memcpy_host_to_device) == hip::success);
  }
  ~Buffer() { api().free(data); }
  std::vector<T> read() const {
    std::vector<T> values(count);
    REQUIRE(api().memcpy(values.data(), data, count * sizeof(T), hip::memcpy_device_to_host) == hip::success);
    return values;
  }
  std::size_t count;
  T* data = nullptr;
};

struct Shape {
  unsigned grid[3] = {1, 1, 1};
  unsigned block[3] = {64, 1, 1};
  unsigned lds = 0;
};

template <class... A>
hip::Error launch(hip::Function function, const Shape& shape, hip::Stream stream, A... arguments) {
  void* addresses[] = {&arguments...};
  return api().module_launch_kernel(function, shape.grid[0], shape.grid[1], shape.grid[2], shape.block[0],
                                    shape.block[1], shape.block[2], shape.lds, stream, addresses, nullptr);
}

inline std::string words(hip::Error error) { return api().get_error_string(error); }

inline const std::string scale = R"(
extern "C" __global__ void scale(float* y, const float* x, float factor, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i] * factor;
}
)";

/// 0, 1, 2, ...
inline std::vector<float> ramp(std::size_t count) {
  std::vector<float> values(count);
  std::iota(values.begin(), values.end(), 0.0f);
  return values;
}

}  // namespace headtune::test
