// An 8-bit prefix in either encoding (T9), its scales (T10), and what of T1..T22 depends on how its rows are read.
#include <fmt/format.h>

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <cmath>
#include <numeric>

#include "suite.h"
#include "tuner/dtype.h"
#include "tuner/hip/buffer.h"

using namespace headtune;
using test::check;
using test::problem;

namespace {

/// One kernel for each pair of types: 64 threads, thread t widens codes 4 t .. 4 t + 3.
constexpr const char* source = R"(
#include <headtune/tile/fp8.h>
using namespace headtune::tile;
struct Tensors {
  unsigned* out;
  const unsigned* codes;
};
template <class T, class Kv>
__device__ void widen_codes(const Tensors& tensors) {
  const unsigned word = tensors.codes[threadIdx.x];
  tensors.out[2 * threadIdx.x] = widen<T, Kv, 0>(word);
  tensors.out[2 * threadIdx.x + 1] = widen<T, Kv, 1>(word);
}
extern "C" {
__global__ void fp8_e4m3fn_bf16(Tensors t) { widen_codes<Bf16, E4m3fn>(t); }
__global__ void fp8_e4m3fn_fp16(Tensors t) { widen_codes<Fp16, E4m3fn>(t); }
__global__ void fp8_e4m3fnuz_bf16(Tensors t) { widen_codes<Bf16, E4m3fnuz>(t); }
__global__ void fp8_e4m3fnuz_fp16(Tensors t) { widen_codes<Fp16, E4m3fnuz>(t); }
}
)";

struct Tensors {
  void *out, *codes;
};

/// All 256 codes as the device widens them.
std::vector<std::uint16_t> widened(DType from, DType to) {
  static const Binary binary = test::compile_source(source);
  const hip::Api& api = *test::device().api;
  const auto module = hip::load_module(api, binary.code);
  std::vector<std::uint8_t> codes(256);
  std::iota(codes.begin(), codes.end(), std::uint8_t{0});
  const auto in = hip::DeviceBuffer::of(api, std::span<const std::uint8_t>(codes));
  const hip::DeviceBuffer out(api, 512);
  hip::launch(api, hip::get_function(api, module, (to_string(from) + "_" + to_string(to)).c_str()), 1, 1, 1, 64, 0,
              nullptr, Tensors{out.get(), in.get()});
  REQUIRE(api.device_synchronize() == hip::success);
  std::vector<std::uint16_t> result(256);
  out.download(result.data(), 512);
  return result;
}

Problem fp8_problem(int q_heads, int kv_heads, int head_dim, int extend_len, bool causal, DType encoding) {
  Problem p = problem(q_heads, kv_heads, head_dim, extend_len, causal, head_dim == 576 ? 512 : 0);
  p.kv_dtype = encoding;
  return p;
}

/// T1..T5, T10, T12, T17, T19 at once: short, long, empty and padded requests, partial pages with NaN behind them,
/// scattered and shared slots in padded rows, scales that differ.
std::vector<Case> hard_cases(int extend_len) {
  Case shape = ragged_case("ragged", {1, 63, 0, 65, 513, 31, 200}, extend_len);
  shape.extend_lens = {extend_len, 1, extend_len, extend_len, extend_len, 0, extend_len};
  shape.layout.page = 16;
  shape.layout.duplicates = true;
  shape.layout.row_padding = 48;
  shape.k_scale = 0.37f;
  shape.v_scale = 2.25f;
  return {shape, ragged_case("all empty", {0, 0}, extend_len)};
}

}  // namespace

TEST_CASE("T9 every code of either encoding becomes the same number in either 16-bit type", "[fp8]") {
  const DType from = GENERATE(DType::fp8_e4m3fn, DType::fp8_e4m3fnuz), to = GENERATE(DType::bf16, DType::fp16);
  const std::vector<std::uint16_t> got = widened(from, to);
  for (int code = 0; code < 256; ++code) {
    const float expected = decode(from, static_cast<std::uint16_t>(code));
    const float number = decode(to, got[static_cast<std::size_t>(code)]);
    INFO(fmt::format("{} code {:#04x} as {}: {}, expected {}", to_string(from), code, to_string(to), number, expected));
    CHECK((std::isnan(expected) ? std::isnan(number) : number == expected));
  }
}

TEST_CASE("T9 T10 an 8-bit prefix of either encoding, with scales", "[fp8]") {
  const DType encoding = GENERATE(DType::fp8_e4m3fn, DType::fp8_e4m3fnuz);
  check(fp8_problem(16, 4, 64, 8, false, encoding), hard_cases(8));
}

TEST_CASE("an 8-bit prefix beside fp16", "[fp8]") {
  Problem p = fp8_problem(8, 2, 64, 7, true, GENERATE(DType::fp8_e4m3fn, DType::fp8_e4m3fnuz));
  p.dtype = DType::fp16;
  check(p, hard_cases(7));
}

TEST_CASE("an 8-bit prefix of head sizes 128 and 256", "[fp8]") {
  const auto [heads, kv_heads, head_dim] = GENERATE(table<int, int, int>({{12, 4, 128}, {8, 1, 256}}));
  check(fp8_problem(heads, kv_heads, head_dim, 4, true, DType::fp8_e4m3fn), hard_cases(4));
}

TEST_CASE("an 8-bit prefix under MLA", "[fp8]") {
  const auto [heads, causal, encoding] =
      GENERATE(table<int, bool, DType>({{12, true, DType::fp8_e4m3fn}, {5, false, DType::fp8_e4m3fnuz}}));
  check(fp8_problem(heads, 1, 576, 8, causal, encoding), hard_cases(8));
}

TEST_CASE("T3 an 8-bit prefix around BLOCK_N", "[fp8]") {
  const Problem p = fp8_problem(16, 4, 64, 8, true, DType::fp8_e4m3fn);
  test::device();  // skips here where there is none
  for (const Config& config : test::sample_configs("verify_shared_kv", p, 2))
    check("verify_shared_kv", p,
          {ragged_case("around BLOCK_N", {config.block_n - 1, config.block_n, config.block_n + 1}, 8)}, {config});
}

TEST_CASE("T7 T8 an 8-bit pool beyond 4 GiB, slot numbers above 65535", "[fp8]") {
  const Problem p = fp8_problem(16, 4, 64, 8, false, DType::fp8_e4m3fn);
  std::vector<Case> cases;
  for (const long long bytes : {65536LL * 256, 1LL << 31, 1LL << 32}) {
    Case shape = ragged_case("pool of " + std::to_string(bytes) + " bytes", {90, 300}, 8);
    shape.layout.slot_shift = bytes / 256 - 100;  // slots on both sides of the limit
    cases.push_back(shape);
  }
  check(p, cases, GENERATE(32, 64));
}

TEST_CASE("T21 T22 long 8-bit prefixes are repeatable", "[fp8]") {
  const Problem p = fp8_problem(8, 2, 64, 7, false, DType::fp8_e4m3fn);
  std::vector<Case> cases(2, ragged_case("repeat", {4097, 2000, 31}, 7));
  check("verify_shared_kv", p, cases, test::sample_configs("verify_shared_kv", p, 2));
}
