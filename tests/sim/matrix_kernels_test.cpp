// Whole kernels around the matrix, LDS, memory and lane instructions, compiled here and now, against float64 on the
// host; optimised or not, they must agree. Skipped, and said so, without a compiler.
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <cmath>
#include <cstring>
#include <map>
#include <random>

#include "tuner/dtype.h"
#include "tuner/error.h"
#include "tuner/hip/buffer.h"
#include "tuner/sim/runtime.h"
#include "tuner/toolchain.h"

using namespace headtune;

namespace {

// A and B are row-major bf16, fp8, f64; one wave computes a 16 x 16 tile of C.
const std::string source = R"(
typedef float f4 __attribute__((ext_vector_type(4)));
typedef double d4 __attribute__((ext_vector_type(4)));
typedef short s4 __attribute__((ext_vector_type(4)));
typedef __bf16 b8 __attribute__((ext_vector_type(8)));
typedef unsigned short u16;

extern "C" __global__ void bf16_product(float* c, const u16* a, const u16* b, int n, int k) {
  const int lane = threadIdx.x, row = lane % 16, group = lane / 16;
  const int i0 = 16 * blockIdx.y, j0 = 16 * blockIdx.x;
  f4 sum = {0, 0, 0, 0};
#if defined(__gfx950__)
  for (int k0 = 0; k0 < k; k0 += 32) {
    union { b8 v; u16 s[8]; } x, y;
    for (int e = 0; e < 8; ++e) {
      x.s[e] = a[(i0 + row) * k + k0 + 8 * group + e];
      y.s[e] = b[(k0 + 8 * group + e) * n + j0 + row];
    }
    sum = __builtin_amdgcn_mfma_f32_16x16x32_bf16(x.v, y.v, sum, 0, 0, 0);
  }
#else
  for (int k0 = 0; k0 < k; k0 += 16) {
    s4 x, y;
    for (int e = 0; e < 4; ++e) {
      x[e] = a[(i0 + row) * k + k0 + 4 * group + e];
      y[e] = b[(k0 + 4 * group + e) * n + j0 + row];
    }
    sum = __builtin_amdgcn_mfma_f32_16x16x16bf16_1k(x, y, sum, 0, 0, 0);
  }
#endif
  for (int r = 0; r < 4; ++r) c[(i0 + 4 * group + r) * n + j0 + row] = sum[r];
}

extern "C" __global__ void f64_product(double* c, const double* a, const double* b, int k) {
  const int lane = threadIdx.x, row = lane % 16, group = lane / 16;
  d4 sum = {0, 0, 0, 0};
  for (int k0 = 0; k0 < k; k0 += 4)
    sum = __builtin_amdgcn_mfma_f64_16x16x4f64(a[row * k + k0 + group], b[(k0 + group) * 16 + row], sum, 0, 0, 0);
  for (int r = 0; r < 4; ++r) c[(4 * r + group) * 16 + row] = sum[r];
}

#if !defined(__gfx90a__)
extern "C" __global__ void fp8_product(float* c, const unsigned char* a, const unsigned char* b, int k) {
  const int lane = threadIdx.x, row = lane % 16, group = lane / 16;
  f4 sum = {0, 0, 0, 0};
  for (int k0 = 0; k0 < k; k0 += 32) {
    long x = 0, y = 0;
    for (int e = 0; e < 8; ++e) {
      x |= (long)a[row * k + k0 + 8 * group + e] << (8 * e);
      y |= (long)b[(k0 + 8 * group + e) * 16 + row] << (8 * e);
    }
    sum = __builtin_amdgcn_mfma_f32_16x16x32_fp8_fp8(x, y, sum, 0, 0, 0);
  }
  for (int r = 0; r < 4; ++r) c[(4 * group + r) * 16 + row] = sum[r];
}

// B goes to LDS with loads that bypass registers.
extern "C" __global__ void load_to_lds(unsigned* out, const unsigned* in) {
  __shared__ unsigned tile[256];
  const int wave = threadIdx.x / 64;
  __builtin_amdgcn_global_load_lds((const __attribute__((address_space(1))) unsigned*)(in + threadIdx.x),
                                   (__attribute__((address_space(3))) unsigned*)(tile + 64 * wave), 4, 0, 0);
  __builtin_amdgcn_s_waitcnt(0x0f70);  // vmcnt(0): the barrier alone does not wait for other waves' loads
  __syncthreads();
  out[threadIdx.x] = tile[255 - threadIdx.x];
}
#endif

#if defined(__gfx950__)
// B's tile lies row-major in LDS; the transposed read makes it a matrix operand.
extern "C" __global__ void transposed_product(float* c, const u16* a, const u16* b, int k) {
  __shared__ u16 tile[16 * 16];
  const int lane = threadIdx.x, row = lane % 16, group = lane / 16;
  f4 sum = {0, 0, 0, 0};
  for (int k0 = 0; k0 < k; k0 += 16) {
    for (int e = 0; e < 4; ++e) tile[4 * lane + e] = b[k0 * 16 + 4 * lane + e];
    __syncthreads();
    s4 x;
    for (int e = 0; e < 4; ++e) x[e] = a[row * k + k0 + 4 * group + e];
    const s4 y = __builtin_amdgcn_ds_read_tr16_b64_v4i16(
        (__attribute__((address_space(3))) s4*)(tile + (4 * group + row / 4) * 16 + row % 4 * 4));
    sum = __builtin_amdgcn_mfma_f32_16x16x16bf16_1k(x, y, sum, 0, 0, 0);
    __syncthreads();
  }
  for (int r = 0; r < 4; ++r) c[(4 * group + r) * 16 + row] = sum[r];
}
#endif

__device__ __attribute__((noinline)) int stir(int* p, int n) {
  int b[8];
  for (int i = 0; i < 8; ++i) b[i] = p[(i * n) & 7];
  int s = 0;
  for (int i = 0; i < n; ++i) s += b[(i + s) & 7];
  p[n & 7] = s;
  return s;
}

extern "C" __global__ void scratch(int* out, const int* in, int n) {
  int a[16];
  for (int i = 0; i < 16; ++i) a[i] = in[i * 64 + threadIdx.x];
  out[threadIdx.x] = stir(a, n) + stir(a + 8, n + 1) + a[n & 15];
}

extern "C" __global__ void histogram(unsigned* global, float* sum, const unsigned char* in, int n) {
  __shared__ unsigned local[256];
  for (int i = threadIdx.x; i < 256; i += blockDim.x) local[i] = 0;
  __syncthreads();
  float part = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    atomicAdd(&local[in[i]], 1u);
    part += in[i];
  }
  for (int offset = 32; offset > 0; offset /= 2) part += __shfl_xor(part, offset);
  if (threadIdx.x % 64 == 0) atomicAdd(sum, part);
  __syncthreads();
  for (int i = threadIdx.x; i < 256; i += blockDim.x) atomicAdd(&global[i], local[i]);
}
)";

const hip::Api& api() { return sim::api(); }

/// The kernels for one architecture and optimisation level, compiled once.
hip::Function kernel(const std::string& arch, const std::string& level, const std::string& name) {
  static Toolchain toolchain = [] {
    ToolchainOptions options;
    options.jobs = 1;
    return Toolchain(options);
  }();
  static std::map<std::string, hip::Module> modules;
  REQUIRE(api().set_device(sim::ordinal_of(arch)) == hip::success);
  hip::Module& module = modules[arch + level];
  if (module == nullptr) {
    try {
      toolchain.version(arch);
    } catch (const UnavailableError& error) {
      SKIP("no compiler: " << error.what());
    }
    sim::configure({.disassemble = [](auto code, const auto& target) { return toolchain.disassemble(code, target); },
                    .check_races = true});
    const Binary binary = toolchain.compile({source, arch, {"-std=c++17", level}});
    INFO(binary.log);
    REQUIRE(binary.status == CompileStatus::ok);
    const hip::Error error = api().module_load_data(&module, binary.code.data());
    INFO(sim::last_fault_text());
    REQUIRE(error == hip::success);
  }
  hip::Function function = nullptr;
  REQUIRE(api().module_get_function(&function, module, name.c_str()) == hip::success);
  return function;
}

template <class... A>
void launch(hip::Function function, unsigned grid_x, unsigned grid_y, unsigned block, A... arguments) {
  void* addresses[] = {&arguments...};
  const hip::Error error =
      api().module_launch_kernel(function, grid_x, grid_y, 1, block, 1, 1, 0, nullptr, addresses, nullptr);
  INFO(sim::last_fault_text());
  REQUIRE(error == hip::success);
}

template <class T>
hip::DeviceBuffer upload(const std::vector<T>& values) {
  return hip::DeviceBuffer::of(api(), std::span<const T>(values));
}

template <class T>
std::vector<T> download(const hip::DeviceBuffer& buffer) {
  std::vector<T> values(buffer.bytes() / sizeof(T));
  buffer.download(values.data(), buffer.bytes());
  return values;
}

std::vector<std::uint16_t> random_bf16(std::size_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  std::vector<std::uint16_t> values(count);
  for (auto& value : values) value = encode(DType::bf16, normal(random));
  return values;
}

/// Largest |c - a b| over the sum of |a||b|; all row-major, a is m x k.
template <class C>
double error_of(const std::vector<C>& c, const std::vector<double>& a, const std::vector<double>& b, int m, int n,
                int k) {
  double worst = 0;
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j) {
      double sum = 0, size = 0;
      for (int t = 0; t < k; ++t) {
        const double product = a[static_cast<std::size_t>(i * k + t)] * b[static_cast<std::size_t>(t * n + j)];
        sum += product;
        size += std::fabs(product);
      }
      worst = std::max(worst, std::fabs(static_cast<double>(c[static_cast<std::size_t>(i * n + j)]) - sum) / size);
    }
  return worst;
}

std::vector<double> decoded(const std::vector<std::uint16_t>& values) {
  std::vector<double> result;
  for (const std::uint16_t value : values) result.push_back(static_cast<double>(decode(DType::bf16, value)));
  return result;
}

std::string any_arch() { return GENERATE("gfx90a", "gfx942", "gfx950"); }
std::string any_level() { return GENERATE("-O0", "-O3"); }

}  // namespace

TEST_CASE("a bf16 matrix product agrees with float64", "[sim]") {
  const std::string arch = any_arch(), level = any_level();
  const hip::Function function = kernel(arch, level, "bf16_product");  // makes the device current
  const int m = 32, n = 48, k = 96;
  const auto a = random_bf16(m * k, 1), b = random_bf16(k * n, 2);
  const auto da = upload(a), db = upload(b);
  hip::DeviceBuffer dc(api(), m * n * sizeof(float));
  launch(function, n / 16, m / 16, 64, dc.get(), da.get(), db.get(), n, k);
  REQUIRE(error_of(download<float>(dc), decoded(a), decoded(b), m, n, k) < 1e-6);
}

TEST_CASE("an f64 matrix product agrees with the host", "[sim]") {
  const std::string arch = any_arch();
  const hip::Function function = kernel(arch, "-O3", "f64_product");  // makes the device current
  const int k = 24;
  std::mt19937 random(3);
  std::normal_distribution<double> normal;
  std::vector<double> a(16 * k), b(k * 16);
  for (auto* values : {&a, &b})
    for (double& value : *values) value = normal(random);
  const auto da = upload(a), db = upload(b);
  hip::DeviceBuffer dc(api(), 256 * sizeof(double));
  launch(function, 1, 1, 64, dc.get(), da.get(), db.get(), k);
  REQUIRE(error_of(download<double>(dc), a, b, 16, 16, k) < 1e-15);
}

TEST_CASE("fp8 matrix products read each architecture's own encoding", "[sim]") {
  const std::string arch = GENERATE("gfx942", "gfx950");
  const hip::Function function = kernel(arch, "-O3", "fp8_product");  // makes the device current
  const DType type = arch == "gfx942" ? DType::fp8_e4m3fnuz : DType::fp8_e4m3fn;
  const int k = 64;
  std::mt19937 random(4);
  std::normal_distribution<float> normal;
  std::vector<std::uint8_t> a(16 * k), b(k * 16);
  std::vector<double> wide_a, wide_b;
  const auto fill = [&](std::vector<std::uint8_t>& codes, std::vector<double>& wide) {
    for (auto& code : codes) {
      code = static_cast<std::uint8_t>(encode(type, normal(random)));
      wide.push_back(static_cast<double>(decode(type, code)));
    }
  };
  fill(a, wide_a);
  fill(b, wide_b);
  const auto da = upload(a), db = upload(b);
  hip::DeviceBuffer dc(api(), 256 * sizeof(float));
  launch(function, 1, 1, 64, dc.get(), da.get(), db.get(), k);
  REQUIRE(error_of(download<float>(dc), wide_a, wide_b, 16, 16, k) < 1e-6);
}

TEST_CASE("a transposed LDS read gives the matrix operand that a strided one would", "[sim]") {
  const hip::Function function = kernel("gfx950", "-O3", "transposed_product");  // makes the device current
  const int k = 48;
  const auto a = random_bf16(16 * k, 5), b = random_bf16(k * 16, 6);
  const auto da = upload(a), db = upload(b);
  hip::DeviceBuffer dc(api(), 256 * sizeof(float));
  launch(function, 1, 1, 64, dc.get(), da.get(), db.get(), k);
  REQUIRE(error_of(download<float>(dc), decoded(a), decoded(b), 16, 16, k) < 1e-6);
}

TEST_CASE("loads straight into LDS", "[sim]") {
  const std::string arch = GENERATE("gfx942", "gfx950");
  const hip::Function function = kernel(arch, "-O3", "load_to_lds");  // makes the device current
  std::vector<unsigned> in(256);
  for (unsigned i = 0; i < 256; ++i) in[i] = i * i;
  const auto from = upload(in);
  hip::DeviceBuffer to(api(), 1024);
  launch(function, 1, 1, 256, to.get(), from.get());
  std::vector<unsigned> expected(in.rbegin(), in.rend());
  REQUIRE(download<unsigned>(to) == expected);
}

namespace {

int stir(int* p, int n) {
  int b[8];
  for (int i = 0; i < 8; ++i) b[i] = p[(i * n) & 7];
  int s = 0;
  for (int i = 0; i < n; ++i) s += b[(i + s) & 7];
  p[n & 7] = s;
  return s;
}

}  // namespace

TEST_CASE("private memory: arrays indexed at run time and passed to a function", "[sim]") {
  const std::string arch = any_arch(), level = any_level();
  const hip::Function function = kernel(arch, level, "scratch");  // makes the device current
  const int n = 5;
  std::mt19937 random(7);
  std::vector<int> in(16 * 64);
  for (int& value : in) value = static_cast<int>(random() % 1000);
  const auto from = upload(in);
  hip::DeviceBuffer to(api(), 64 * sizeof(int));
  launch(function, 1, 1, 64, to.get(), from.get(), n);
  const auto out = download<int>(to);
  for (int lane = 0; lane < 64; ++lane) {
    int a[16];
    for (int i = 0; i < 16; ++i) a[i] = in[static_cast<std::size_t>(i * 64 + lane)];
    const int first = stir(a, n), second = stir(a + 8, n + 1);
    REQUIRE(out[static_cast<std::size_t>(lane)] == first + second + a[n & 15]);
  }
}

TEST_CASE("atomics on LDS and global memory, shuffles", "[sim]") {
  const std::string arch = any_arch(), level = any_level();
  const hip::Function function = kernel(arch, level, "histogram");  // makes the device current
  const int n = 3000;
  std::mt19937 random(8);
  std::vector<std::uint8_t> in(n);
  std::vector<unsigned> counts(256);
  float total = 0;
  for (auto& value : in) {
    value = static_cast<std::uint8_t>(random());
    ++counts[value];
    total += value;
  }
  const auto from = upload(in);
  hip::DeviceBuffer global(api(), 1024), sum(api(), 4);
  global.fill(0);
  sum.fill(0);
  launch(function, 4, 1, 256, global.get(), sum.get(), from.get(), n);
  REQUIRE(download<unsigned>(global) == counts);
  REQUIRE(download<float>(sum).front() == total);  // whole numbers below 2^24: exact in any order
}
