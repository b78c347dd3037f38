// The timer against kernels whose duration is known because they watch the device's own clock.
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

#include "suite.h"
#include "tuner/hip/buffer.h"
#include "tuner/measure.h"

using namespace headtune;
using namespace headtune::test;

namespace {

/// Spins for a number of ticks: nanoseconds on NVIDIA, 10 ns (100 MHz) on AMD.
constexpr const char* source = R"(
#if defined(__CUDA_ARCH__) || defined(__CUDACC_RTC__)
__device__ unsigned long long ticks() { unsigned long long t; asm volatile("mov.u64 %0, %globaltimer;" : "=l"(t)); return t; }
#else
__device__ unsigned long long ticks() { return __builtin_amdgcn_s_memrealtime(); }
#endif
extern "C" __global__ void spin(const unsigned long long count) {
  const unsigned long long start = ticks();
  while (ticks() - start < count) {}
}
)";

Binary spin_kernel() {
  Toolchain toolchain{ToolchainOptions{}};
  return toolchain.compile({source, device().target, {"-std=c++17"}});
}

double ticks_per_us() { return device_arch().family == Family::nvidia ? 1000 : 100; }

}  // namespace

TEST_CASE("kernels of known duration are timed right, launch overhead and all") {
  if (device().estimated) SKIP("simulated time has nothing to check against");
  const double us = GENERATE(20.0, 100.0, 1000.0);
  const Binary binary = spin_kernel();
  INFO(binary.log);
  REQUIRE(binary.status == CompileStatus::ok);
  const hip::Api& api = *device().api;
  const auto module = hip::load_module(api, binary.code);
  const auto function = hip::get_function(api, module, "spin");
  const auto ticks = static_cast<unsigned long long>(us * ticks_per_us());
  const Timing timing = measure(
      device(), [&](hip::Stream stream, int) { hip::launch(api, function, 1, 1, 1, 32, 0, stream, ticks); }, {});
  // A kernel in a graph starts and ends within about 2 us of its neighbours; its clock ticks in steps of up to 1 us.
  INFO(timing.method << ", flags: " << timing.flags());
  CHECK(timing.median_us >= us - 0.1);
  CHECK(timing.median_us <= us * 1.02 + 3);
}
