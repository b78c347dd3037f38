// The simulated time of code objects that hipRTC makes here and now. Skipped, and said so, without a compiler.

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <tuple>

#include "tests/sim/runtime_fixture.h"

using namespace headtune;
using namespace headtune::test;

namespace {

/// Simulated time of what `work` enqueues on the null stream.
template <class Work>
double timed(Work work) {
  hip::Event start = nullptr, stop = nullptr;
  REQUIRE(api().event_create(&start) == hip::success);
  REQUIRE(api().event_create(&stop) == hip::success);
  REQUIRE(api().event_record(start, nullptr) == hip::success);
  work();
  const auto error = api().event_record(stop, nullptr);
  INFO(words(error));
  REQUIRE(error == hip::success);
  float milliseconds = -1;
  REQUIRE(api().event_elapsed_time(&milliseconds, start, stop) == hip::success);
  api().event_destroy(start);
  api().event_destroy(stop);
  return milliseconds * 1e3;
}

}  // namespace

TEST_CASE("simulated time repeats, adds up and grows with the work", "[sim]") {
  const std::string arch = GENERATE("gfx90a", "gfx942", "gfx950");
  const Compiled code(arch, scale);
  const std::size_t count = 1 << 22;
  const Buffer<float> x(count), y(count);
  sim::set_timing_only(true);
  const auto run = [&](unsigned blocks) {
    return launch(code.function("scale"), {{blocks, 1, 1}, {256, 1, 1}}, nullptr, y.data, x.data, 2.0f, 1 << 22);
  };
  const double once = timed([&] { REQUIRE(run(1 << 14) == hip::success); });
  const double again = timed([&] { REQUIRE(run(1 << 14) == hip::success); });
  const double thrice = timed([&] {
    for (int i = 0; i < 3; ++i) REQUIRE(run(1 << 14) == hip::success);
  });
  const double half = timed([&] { REQUIRE(run(1 << 13) == hip::success); });
  sim::set_timing_only(false);
  CHECK(once == again);
  CHECK(thrice > 2.99 * once);
  CHECK(thrice < 3.01 * once);
  CHECK(half < 0.75 * once);
  // 2 x 16 MiB at the nominal bandwidth is the least that it can take.
  const double floor =
      2.0 * 4 * static_cast<double>(count) / (sim::device_model(sim::Arch::gfx950).facts->hbm_tb_per_s * 1e6);
  CHECK(once > floor);
}

TEST_CASE("timing alone computes nothing and disturbs nothing", "[sim]") {
  const Compiled code("gfx942", scale);
  const Buffer<float> x(ramp(256)), y(std::vector<float>(256, -1.0f));
  sim::set_timing_only(true);
  const double us = timed([&] {
    REQUIRE(launch(code.function("scale"), {{4, 1, 1}}, nullptr, y.data, x.data, 2.0f, 256) == hip::success);
  });
  sim::set_timing_only(false);
  CHECK(us > 0);
  CHECK(y.read() == std::vector<float>(256, -1.0f));
}

TEST_CASE("lost coalescing costs time", "[sim]") {
  const Compiled code("gfx950", R"(
    extern "C" __global__ void k(float* y, const float* x, int stride) {
      const int i = blockIdx.x * blockDim.x + threadIdx.x;
      y[i] = x[(i * stride) & ((1 << 22) - 1)];
    })");
  const Buffer<float> x(std::size_t{1 << 22}), y(std::size_t{1 << 20});
  sim::set_timing_only(true);
  const auto time_of = [&](int stride) {
    return timed([&] {
      REQUIRE(launch(code.function("k"), {{4096, 1, 1}, {256, 1, 1}}, nullptr, y.data, x.data, stride) == hip::success);
    });
  };
  const double coalesced = time_of(1), scattered = time_of(33);
  sim::set_timing_only(false);
  CHECK(scattered > 4 * coalesced);
}

TEST_CASE("what the last workgroup does for all is counted, and its counter is left alone", "[sim]") {
  const Compiled code("gfx950", R"(
    extern "C" __global__ void k(unsigned* count, float* y, const float* x, int loops) {
      __shared__ unsigned before;
      if (threadIdx.x == 0) before = atomicAdd(count, 1u);
      __syncthreads();
      if (before != gridDim.x - 1) return;
      float sum = 0;
      for (int i = 0; i < loops; ++i) sum += x[i % 64] * sum + 1.f;
      y[threadIdx.x] = sum;
    })");
  const Buffer<unsigned> count(std::vector<unsigned>{0});
  const Buffer<float> x(ramp(64)), y(std::size_t{64});
  sim::set_timing_only(true);
  const auto time_of = [&](int loops) {
    return timed([&] {
      REQUIRE(launch(code.function("k"), {{300, 1, 1}}, nullptr, count.data, y.data, x.data, loops) == hip::success);
    });
  };
  const double without = time_of(0), with = time_of(1000);
  sim::set_timing_only(false);
  CHECK(with > without + 1000 * 8 / 2400.0);  // a multiply-add each takes 4 cycles at least, a load more
  CHECK(count.read()[0] == 0);
}

TEST_CASE("what the last workgroup does is counted where the grid ends in workgroups without work and a short one",
          "[sim]") {
  // A line of 128 workgroups, of which `used` have work, the last of them less: splits of a request.
  const Compiled code("gfx950", R"(
    __device__ float work(const float* x, int loops) {
      float sum = 0;
      for (int i = 0; i < loops; ++i) sum += x[i % 64] * sum + 1.f;
      return sum;
    }
    extern "C" __global__ void k(unsigned* count, float* y, const float* x, int used, int loops, int after) {
      __shared__ unsigned before;
      if (blockIdx.y >= used) return;
      y[threadIdx.x] = work(x, blockIdx.y + 1 < used ? loops : 1);
      if (threadIdx.x == 0) before = atomicAdd(count + blockIdx.x, 1u);
      __syncthreads();
      if (before == used - 1) y[threadIdx.x] += work(x, after);
    })");
  const Buffer<unsigned> count(std::vector<unsigned>(8, 0));
  const Buffer<float> x(ramp(64)), y(std::size_t{64});
  // Columns of the grid: 512 workgroups, so that all those of the last round are without work; 96 of one round.
  const auto [columns, lines, used] =
      GENERATE(std::tuple(4u, 128u, 32), std::tuple(8u, 12u, 11), std::tuple(2u, 128u, 2));
  sim::set_timing_only(true);
  const auto time_of = [&](int loops, int after) {
    return timed([&] {
      REQUIRE(launch(code.function("k"), {{columns, lines, 1}}, nullptr, count.data, y.data, x.data, used, loops,
                     after) == hip::success);
    });
  };
  const double neither = time_of(1, 0), own = time_of(400, 0), both = time_of(400, 1000);
  sim::set_timing_only(false);
  CHECK(own > neither + 400 * 8 / 2400.0);  // a multiply-add each takes 4 cycles at least, a load more
  CHECK(both > own + 1000 * 8 / 2400.0);
}

TEST_CASE("workgroups that read the same data are faster than those that do not", "[sim]") {
  const Compiled code("gfx942", R"(
    extern "C" __global__ void k(float* y, const float4* x, int stride) {
      float sum = 0;
      const float4* from = x + blockIdx.x * stride + threadIdx.x;
      for (int i = 0; i < 32; ++i) { const float4 v = from[i * 256]; sum += v.x + v.y + v.z + v.w; }
      y[blockIdx.x * 256 + threadIdx.x] = sum;
    })");
  const Buffer<float> x(std::size_t{304} * 32 * 256 * 4), y(std::size_t{304} * 256);
  sim::set_timing_only(true);
  const auto time_of = [&](int stride) {
    return timed([&] {
      REQUIRE(launch(code.function("k"), {{304, 1, 1}, {256, 1, 1}}, nullptr, y.data, x.data, stride) == hip::success);
    });
  };
  sim::take_counters();  // of other tests
  const double apart = time_of(32 * 256);
  const auto counters_apart = sim::take_counters();
  const double together = time_of(0);
  const auto counters_together = sim::take_counters();
  sim::set_timing_only(false);
  CHECK(counters_apart.at("instructions") == counters_together.at("instructions"));
  CHECK(counters_apart.at("instructions") > 32);
  CHECK(counters_apart.at("lds_conflict_cycles") == 0);
  CHECK(sim::take_counters().empty());
  CHECK(sim::last_estimate().sharing_percent == 1600);
  CHECK(together < 0.8 * apart);
}
