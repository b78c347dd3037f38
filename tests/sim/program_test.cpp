// Whole programs made by hipRTC: the same source without and with the optimiser must compute the same, since the
// instructions that are chosen differ and the meaning does not.
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <cstdint>
#include <random>

#include "tests/sim/runtime_fixture.h"

using namespace headtune;

namespace {

constexpr int threads = 256, words = 4 * threads;  // each thread owns four words of input and of output
using Words = std::vector<std::uint32_t>;

/// Every kernel reads in[4 * i ..] and writes out[4 * i ..].
const std::string prologue = R"(
#define KERNEL(name) extern "C" __global__ void name(unsigned* out, const unsigned* in, int n)
__device__ float f(unsigned x) { return __uint_as_float(x); }
__device__ unsigned u(float x) { return __float_as_uint(x); }
)";

const std::string kernels = prologue + R"(
KERNEL(integers) {
  int i = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
  unsigned a = in[i], b = in[i + 1] | 1; long long x = (long long)in[i + 2] << 32 | in[i + 3], y = (long long)(int)b * 12345 + 1;
  long long q = x / y, r = x % y; unsigned long long p = (unsigned long long)x * (unsigned long long)y;
  out[i] = a / b + (a % b) * 3 + (int)a / 7 + __clz(a) + __popc(b) + __brev(a) + (a >> (b & 31)) + __umulhi(a, b);
  out[i + 1] = (unsigned)q ^ (unsigned)(q >> 32); out[i + 2] = (unsigned)r + __popcll(x) + __clzll(y);
  out[i + 3] = (unsigned)(p >> 32) + (unsigned)(x >> (b & 63)) + min((int)a, (int)b) + max(a, b) + (signed char)a + (short)b;
}
KERNEL(floats) {
  int i = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
  float a = (int)in[i] * 1e-6f, b = (int)in[i + 1] * 1e-7f, c = (int)in[i + 2] * 1e-9f;
  out[i] = u(a / b + sqrtf(fabsf(c))); out[i + 1] = u(fmaf(a, b, c) + floorf(a) - rintf(b) + truncf(c) + ceilf(a));
  out[i + 2] = u(fminf(a, b) + fmaxf(b, c) + ldexpf(a, (int)(in[i + 3] & 31) - 16)); out[i + 3] = (int)a + (unsigned)fabsf(b);
}
KERNEL(doubles) {
  int i = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
  double a = (int)in[i] * 1e-3, b = (int)in[i + 1] * 1e-6; long long x = (long long)in[i + 2] << 20 | in[i + 3];
  double r = a / b + sqrt(fabs(b)) + floor(a) + fma(a, b, 1.0) + (double)x + rint(b);
  long long t = (long long)(a * b); unsigned long long w = __double_as_longlong(r);
  out[i] = (unsigned)w; out[i + 1] = (unsigned)(w >> 32); out[i + 2] = (unsigned)t; out[i + 3] = u((float)r);
}
KERNEL(halves) {
  int i = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
  typedef _Float16 h2 __attribute__((ext_vector_type(2)));
  _Float16 a = (_Float16)((int)in[i] * 1e-7f), b = (_Float16)((int)in[i + 1] * 1e-8f);
  h2 v = {a, b}, w = {b, (_Float16)2}; h2 s = v * w + v; h2 m = __builtin_elementwise_max(v, w);
  __bf16 c = (__bf16)((int)in[i + 2] * 1e-5f); float d = (float)c * 3.0f;
  out[i] = u((float)s[0]); out[i + 1] = u((float)s[1] + (float)m[0] - (float)m[1]);
  out[i + 2] = u((float)(__bf16)d); out[i + 3] = (int)(float)(a * b) + u((float)(a / (b + (_Float16)1)));
}
KERNEL(control) {
  int i = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
  unsigned x = in[i], steps = 0, sum = 0;
  while (x > 1 && steps < 60) { x = x & 1 ? x / 3 : x / 2; ++steps; if (x % 11 == 7) continue; sum += x; }
  int local[16]; for (int k = 0; k < 16; ++k) local[(k * n + steps) & 15] = sum + k;
  switch (in[i + 1] & 7) { case 0: sum = 3; break; case 1: sum *= 5; break; case 5: sum -= steps; break; default: sum ^= 0x55; }
  out[i] = steps; out[i + 1] = sum; out[i + 2] = local[in[i + 2] & 15]; out[i + 3] = local[(in[i + 3] + n) & 15];
}
typedef unsigned (*Step)(unsigned);
__device__ __attribute__((noinline)) unsigned twice(unsigned x) { return x * 2 + 1; }
__device__ __attribute__((noinline)) unsigned mixed(unsigned x) { return x ^ (x >> 7); }
__device__ __attribute__((noinline)) unsigned fibonacci(unsigned n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }
KERNEL(calls) {
  int i = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
  Step steps[2] = {twice, mixed};
  out[i] = twice(in[i]); out[i + 1] = steps[n & 1](in[i + 1]); out[i + 2] = steps[in[i + 2] & 1](in[i + 2]); out[i + 3] = fibonacci(in[i + 3] & 7);
}
KERNEL(groups) {
  __shared__ unsigned shared[256];
  int t = threadIdx.x, i = 4 * (blockIdx.x * blockDim.x + t);
  shared[t] = in[i]; __syncthreads();
  unsigned sum = 0; for (int k = 0; k < 8; ++k) sum += shared[(t * 5 + k * n) & (blockDim.x - 1)];
  __syncthreads(); atomicAdd(&shared[t & 7], sum); __syncthreads();
  out[i] = sum; out[i + 1] = shared[t & 7]; out[i + 2] = __shfl_xor((int)in[i], 5) + __shfl_down((int)in[i + 1], 3);
  unsigned long long votes = __ballot(in[i] & 1); out[i + 3] = (unsigned)votes + (unsigned)(votes >> 32) + __all(in[i] != 5) + __any(in[i] & 4);
}
__constant__ float table[8] = {1.5f, -2.0f, 0.25f, 8.0f, -0.125f, 3.0f, 7.0f, 9.0f};
KERNEL(constants) {
  int i = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
  float a = (int)in[i] * 1e-8f;
  out[i] = u(table[in[i] & 7]); out[i + 1] = u(a * table[(in[i + 1] + n) & 7]);
  out[i + 2] = u(__sinf(a) * 0 + fmodf(a, 3.0f)); out[i + 3] = u(fabsf(a) > 1 ? a : -a);
}
)";

test::Compiled compiled(const std::string& arch, const std::string& level) {
  return {arch, kernels, {level, "-ffp-contract=off"}};
}

Words input() {
  std::mt19937 random(7);
  Words values(words);
  for (auto& value : values) value = random();
  return values;
}

Words run(const test::Compiled& code, const char* name) {
  const test::Buffer<std::uint32_t> from(input()), to(words);
  const hip::Error error =
      test::launch(code.function(name), {{threads / 128, 1, 1}, {128, 1, 1}}, nullptr, to.data, from.data, 3);
  INFO(sim::last_fault_text());
  REQUIRE(error == hip::success);
  return to.read();
}

/// The integer kernel computed here.
Words expected_integers() {
  const Words in = input();
  Words out(in.size());
  for (int i = 0; i < words; i += 4) {
    const std::uint32_t a = in[i], b = in[i + 1] | 1;
    const std::int64_t x = static_cast<std::int64_t>(std::uint64_t{in[i + 2]} << 32 | in[i + 3]);
    const std::int64_t y = std::int64_t{static_cast<std::int32_t>(b)} * 12345 + 1, q = x / y;
    std::uint32_t reversed = 0;
    for (int n = 0; n < 32; ++n) reversed |= (a >> n & 1) << (31 - n);
    out[i] = a / b + (a % b) * 3 + static_cast<std::uint32_t>(static_cast<std::int32_t>(a) / 7) +
             (a ? static_cast<std::uint32_t>(__builtin_clz(a)) : 32) +
             static_cast<std::uint32_t>(__builtin_popcount(b)) + reversed + (a >> (b & 31)) +
             static_cast<std::uint32_t>(std::uint64_t{a} * b >> 32);
    out[i + 1] = static_cast<std::uint32_t>(q) ^ static_cast<std::uint32_t>(q >> 32);
  }
  return out;
}

}  // namespace

TEST_CASE("programs compute the same with and without the optimiser", "[sim]") {
  const std::string arch = GENERATE("gfx90a", "gfx942", "gfx950");
  const test::Compiled plain = compiled(arch, "-O0"), some = compiled(arch, "-O1"), most = compiled(arch, "-O3");
  for (const char* name : {"integers", "floats", "doubles", "halves", "control", "calls", "groups", "constants"}) {
    INFO(arch << " " << name);
    const Words first = run(plain, name);
    CHECK(first == run(some, name));
    CHECK(first == run(most, name));
    CHECK(first != input());
  }
}

TEST_CASE("integer division and bit functions are right", "[sim]") {
  const std::string arch = GENERATE("gfx90a", "gfx942", "gfx950");
  const Words got = run(compiled(arch, "-O3"), "integers"), want = expected_integers();
  for (int i = 0; i < words; i += 4) {
    REQUIRE(got[i] == want[i]);
    REQUIRE(got[i + 1] == want[i + 1]);
  }
}
