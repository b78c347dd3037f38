// The simulated HIP runtime with code objects that hipRTC makes here and now. Skipped, and said so, without a compiler.

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include "tests/sim/runtime_fixture.h"

using namespace headtune;
using namespace headtune::test;
using Catch::Matchers::ContainsSubstring;

TEST_CASE("explicit arguments of every size arrive", "[sim]") {
  const std::string arch = GENERATE("gfx90a", "gfx942", "gfx950");
  const Compiled code(arch, R"(
    struct Mixed { char c; short s; double d; long long l; };
    extern "C" __global__ void k(double* out, char c, short s, int i, Mixed m, float f) {
      out[0] = c; out[1] = s; out[2] = i; out[3] = m.c; out[4] = m.s; out[5] = m.d; out[6] = (double)m.l; out[7] = f;
    })");
  struct Mixed {
    char c;
    short s;
    double d;
    long long l;
  };
  const Buffer<double> out(8);
  const auto error = launch(code.function("k"), {{1, 1, 1}, {1, 1, 1}}, nullptr, out.data, char{-3}, short{-300}, 70000,
                            Mixed{5, 600, 0.25, 1LL << 40}, 1.5f);
  INFO(words(error));
  REQUIRE(error == hip::success);
  CHECK(out.read() == std::vector<double>{-3, -300, 70000, 5, 600, 0.25, 1099511627776.0, 1.5});
}

TEST_CASE("ids, block and grid sizes agree with HIP in three dimensions", "[sim]") {
  const std::string arch = GENERATE("gfx90a", "gfx942", "gfx950");
  const std::string level = GENERATE("-O0", "-O3");  // without optimisation the compiler asks for all hidden arguments
  const Compiled code(arch, R"(
    extern "C" __global__ void k(unsigned* out) {
      const unsigned b = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
      const unsigned t = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
      unsigned* o = out + 12 * (b * blockDim.x * blockDim.y * blockDim.z + t);
      o[0] = threadIdx.x; o[1] = threadIdx.y; o[2] = threadIdx.z; o[3] = blockIdx.x; o[4] = blockIdx.y; o[5] = blockIdx.z;
      o[6] = blockDim.x; o[7] = blockDim.y; o[8] = blockDim.z; o[9] = gridDim.x; o[10] = gridDim.y; o[11] = gridDim.z;
    })",
                      {level});
  const Shape shape{{3, 2, 2}, {5, 7, 3}};
  const std::size_t threads = 5 * 7 * 3, blocks = 3 * 2 * 2;
  const Buffer<unsigned> out(12 * threads * blocks);
  const auto error = launch(code.function("k"), shape, nullptr, out.data);
  INFO(words(error));
  REQUIRE(error == hip::success);
  const auto values = out.read();
  std::size_t at = 0;
  for (unsigned b = 0; b < blocks; ++b) {
    for (unsigned t = 0; t < threads; ++t, at += 12) {
      const std::vector<unsigned> want = {t % 5, t / 5 % 7, t / 35, b % 3, b / 3 % 2, b / 6, 5, 7, 3, 3, 2, 2};
      REQUIRE(std::vector<unsigned>(values.begin() + static_cast<long>(at),
                                    values.begin() + static_cast<long>(at) + 12) == want);
    }
  }
}

TEST_CASE("waves exchange through static and dynamic LDS across barriers", "[sim]") {
  const std::string arch = GENERATE("gfx90a", "gfx942", "gfx950");
  const Compiled code(arch, R"(
    extern "C" __global__ void __launch_bounds__(256) k(float* y, const float* x) {
      __shared__ float a[256];
      extern __shared__ float b[];
      const int t = threadIdx.x, base = blockIdx.x * 256;
      a[t] = x[base + t];
      __syncthreads();
      b[t] = a[255 - t];
      __syncthreads();
      y[base + t] = b[(t + 64) % 256];
    })");
  const Buffer<float> x(ramp(1024)), y(std::size_t{1024});
  const auto error = launch(code.function("k"), {{4, 1, 1}, {256, 1, 1}, 1024}, nullptr, y.data, x.data);
  INFO(words(error));
  REQUIRE(error == hip::success);
  const auto values = y.read();
  for (int i = 0; i < 1024; ++i) REQUIRE(values[i] == static_cast<float>(i / 256 * 256 + 255 - (i % 256 + 64) % 256));
}

TEST_CASE("private arrays live in scratch", "[sim]") {
  const std::string arch = GENERATE("gfx90a", "gfx942", "gfx950");
  const Compiled code(arch, R"(
    extern "C" __global__ void k(float* y, const int* index) {
      float a[32];
      for (int i = 0; i < 32; ++i) a[i] = i * 10 + threadIdx.x;
      __asm__ volatile("" ::: "memory");
      for (int i = 0; i < 32; ++i) a[(i * 5 + index[threadIdx.x]) % 32] += 1000;
      y[threadIdx.x] = a[index[threadIdx.x]];
    })",
                      {"-O1"});
  std::vector<int> index(128);
  for (int i = 0; i < 128; ++i) index[i] = i * 7 % 32;
  const Buffer<int> where(index);
  const Buffer<float> y(128);
  const auto error = launch(code.function("k"), {{1, 1, 1}, {128, 1, 1}}, nullptr, y.data, where.data);
  INFO(words(error));
  REQUIRE(error == hip::success);
  const auto values = y.read();
  for (int i = 0; i < 128; ++i) REQUIRE(values[i] == static_cast<float>(index[i] * 10 + i + 1000));
}

TEST_CASE("atomics across workgroups add up", "[sim]") {
  const std::string arch = GENERATE("gfx90a", "gfx942", "gfx950");
  const Compiled code(arch, R"(
    extern "C" __global__ void k(unsigned* sum, float* total) {
      atomicAdd(sum, threadIdx.x + blockIdx.x);
      atomicAdd(total, 0.5f);
    })");
  const Buffer<unsigned> sum(std::vector<unsigned>{0});
  const Buffer<float> total(std::vector<float>{0});
  const auto error = launch(code.function("k"), {{5, 1, 1}, {100, 1, 1}}, nullptr, sum.data, total.data);
  INFO(words(error));
  REQUIRE(error == hip::success);
  CHECK(sum.read()[0] == 5u * 4950u + 100u * 10u);
  CHECK(total.read()[0] == 250.0f);
}

TEST_CASE("host threads change nothing", "[sim]") {
  const Compiled code("gfx950", scale);
  const Buffer<float> x(ramp(10000)), y(std::size_t{10000});
  std::vector<std::vector<float>> results;
  for (int threads : {1, 4}) {
    sim::configure({.disassemble = [](auto, const auto&) { return std::vector<Instruction>(); }, .threads = threads});
    REQUIRE(launch(code.function("scale"), {{157, 1, 1}}, nullptr, y.data, x.data, 0.1f, 10000) == hip::success);
    results.push_back(y.read());
  }
  CHECK(results[0] == results[1]);
  CHECK(results[0][9999] == 9999 * 0.1f);
}

TEST_CASE("a graph replays with the arguments of its capture and the data of its replay", "[sim]") {
  const Compiled code("gfx950", scale);
  const Buffer<float> x(ramp(256)), y(std::size_t{256});
  hip::Stream stream = nullptr;
  REQUIRE(api().stream_create(&stream) == hip::success);
  REQUIRE(api().memset(y.data, 0, 1024) == hip::success);
  REQUIRE(api().stream_begin_capture(stream, hip::stream_capture_thread_local) == hip::success);
  REQUIRE(launch(code.function("scale"), {{4, 1, 1}}, stream, y.data, x.data, 2.0f, 256) == hip::success);
  hip::Graph graph = nullptr;
  REQUIRE(api().stream_end_capture(stream, &graph) == hip::success);
  CHECK(y.read()[100] == 0.0f);  // capturing executes nothing
  hip::GraphExec exec = nullptr;
  REQUIRE(api().graph_instantiate(&exec, graph, nullptr, nullptr, 0) == hip::success);
  REQUIRE(api().graph_launch(exec, stream) == hip::success);
  CHECK(y.read()[100] == 200.0f);
  const std::vector<float> other(256, 3.0f);
  REQUIRE(api().memcpy(x.data, other.data(), 1024, hip::memcpy_host_to_device) == hip::success);
  REQUIRE(api().graph_launch(exec, stream) == hip::success);
  CHECK(y.read()[100] == 6.0f);
  api().graph_exec_destroy(exec);
  api().graph_destroy(graph);
  api().stream_destroy(stream);
}

TEST_CASE("a fault names kernel, place, instruction, lane and address", "[sim]") {
  const std::string arch = GENERATE("gfx90a", "gfx942", "gfx950");
  const Compiled code(arch, scale);
  const Buffer<float> x(ramp(100)), y(std::size_t{100});
  const auto error = launch(code.function("scale"), {{2, 1, 1}}, nullptr, y.data, x.data, 2.0f, 101);
  CHECK(error == hip::error_illegal_address);
  CHECK_THAT(sim::last_fault_text(), ContainsSubstring("kernel scale: read of 4 bytes"));
  CHECK_THAT(sim::last_fault_text(), ContainsSubstring("workgroup 1,0,0"));
  CHECK_THAT(sim::last_fault_text(), ContainsSubstring("global_load_dword"));
  CHECK_THAT(sim::last_fault_text(), ContainsSubstring("lane 36"));
  CHECK_THAT(words(error), ContainsSubstring("kernel scale"));
}

TEST_CASE("a fault found while timing comes back from the event, and later work is not touched by it", "[sim]") {
  const Compiled code("gfx950", scale);
  const Buffer<float> x(ramp(64)), y(std::size_t{64});
  hip::Event event = nullptr;
  REQUIRE(api().event_create(&event) == hip::success);
  REQUIRE(api().event_record(event, nullptr) == hip::success);
  sim::set_timing_only(true);
  REQUIRE(launch(code.function("scale"), {{2, 1, 1}}, nullptr, y.data, x.data, 2.0f, 65) == hip::success);
  CHECK(api().event_record(event, nullptr) == hip::error_illegal_address);
  CHECK_THAT(sim::last_fault_text(), ContainsSubstring("kernel scale, while it was timed"));
  CHECK(api().event_record(event, nullptr) == hip::success);
  sim::set_timing_only(false);
  api().event_destroy(event);
  CHECK(launch(code.function("scale"), {}, nullptr, y.data, x.data, 2.0f, 64) == hip::success);
}

TEST_CASE("reads of never-written memory and use after free are faults", "[sim]") {
  const Compiled code("gfx950", scale);
  const Buffer<float> x(std::size_t{64}), y(std::size_t{64});
  CHECK(launch(code.function("scale"), {}, nullptr, y.data, x.data, 2.0f, 64) == hip::error_illegal_address);
  CHECK_THAT(sim::last_fault_text(), ContainsSubstring("never-written"));
  float* gone = nullptr;
  {
    const Buffer<float> short_lived(ramp(64));
    gone = short_lived.data;
  }
  CHECK(launch(code.function("scale"), {}, nullptr, y.data, gone, 2.0f, 64) == hip::error_illegal_address);
  CHECK_THAT(sim::last_fault_text(), ContainsSubstring("free"));
}

TEST_CASE("launches that cannot be are refused", "[sim]") {
  const Compiled code("gfx942", "extern \"C\" __global__ void __launch_bounds__(128) k() {}");
  const auto function = code.function("k");
  CHECK(launch(function, {{1, 1, 1}, {256, 1, 1}}, nullptr) == hip::error_invalid_value);
  CHECK(launch(function, {{0, 1, 1}, {64, 1, 1}}, nullptr) == hip::error_invalid_value);
  CHECK(launch(function, {{1, 1, 1}, {64, 1, 1}, 65537}, nullptr) == hip::error_invalid_value);
  CHECK_THAT(sim::last_fault_text(), ContainsSubstring("65537 bytes of LDS"));
  hip::Function missing = nullptr;
  CHECK(api().module_get_function(&missing, code.module, "nothing") == hip::error_not_found);
}

TEST_CASE("a code object of another architecture is refused", "[sim]") {
  const Compiled code("gfx942", scale);
  const Binary binary = toolchain().compile({scale, "gfx942", {"-O3", "-std=c++17"}});
  REQUIRE(api().set_device(sim::ordinal_of("gfx950")) == hip::success);
  hip::Module module = nullptr;
  CHECK(api().module_load_data(&module, binary.code.data()) == hip::error_invalid_image);
  REQUIRE(api().set_device(sim::ordinal_of("gfx942")) == hip::success);
}

TEST_CASE("occupancy follows registers, LDS and wave slots", "[sim]") {
  const Compiled code("gfx942", R"(
    extern "C" __global__ void __launch_bounds__(256) small(float* y) { y[threadIdx.x] = 1; }
    extern "C" __global__ void __launch_bounds__(256) lds(float* y) {
      __shared__ float a[5000];
      a[threadIdx.x * 19] = 1;
      __syncthreads();
      y[threadIdx.x] = a[threadIdx.x * 19 + 19];
    })");
  const auto blocks = [&](const char* name, std::size_t dynamic) {
    int result = -1;
    REQUIRE(api().module_occupancy_max_active_blocks(&result, code.function(name), 256, dynamic) == hip::success);
    return result;
  };
  CHECK(blocks("small", 0) == 8);      // 32 waves per CU, 4 each
  CHECK(blocks("small", 16384) == 4);  // 64 KiB of LDS
  CHECK(blocks("lds", 0) == 3);        // 20000 of 65536 bytes
  CHECK(blocks("lds", 50000) == 0);
}

TEST_CASE("endless loops end in a fault, not in a hang", "[sim][.slow]") {
  const Compiled code("gfx950", R"(
    extern "C" __global__ void k(volatile int* flag) { while (*flag == 0) {} })");
  const Buffer<int> flag(std::vector<int>{0});
  CHECK(launch(code.function("k"), {{1, 1, 1}, {64, 1, 1}}, nullptr, flag.data) == hip::error_launch_failure);
  CHECK_THAT(sim::last_fault_text(), ContainsSubstring("still running"));
}
