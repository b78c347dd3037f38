// The C interface on a simulated device: right results from both operators, capture and replay with other lengths
// (T16), and a status with text for everything that can be refused.
#include <catch2/catch_test_macros.hpp>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "tuner/engine/headtune.h"
#include "tuner/hip/buffer.h"
#include "tuner/op_device.h"
#include "tuner/op_reference.h"
#include "tuner/toolchain.h"
#include "tuner/verify.h"

namespace headtune {
namespace {

constexpr headtune_problem draft = {64, 64, 8, 2, 7, 0, HEADTUNE_BF16, HEADTUNE_BF16, 32, 512};
const Problem problem = {64, 64, 8, 2, 7, false, DType::bf16, DType::bf16};

using Kernels = std::shared_ptr<headtune_kernels>;

const char* device() {
  try {
    Toolchain(ToolchainOptions{}).version("gfx950");
  } catch (const std::exception& error) {
    SKIP("no compiler for gfx950: " << error.what());
  }
  return "sim:gfx950";
}

Kernels prepare(const headtune_problem& wanted = draft) {
  headtune_kernels* kernels = nullptr;
  const headtune_status status = headtune_prepare(device(), &wanted, &kernels);
  INFO(headtune_last_error());
  REQUIRE(status == HEADTUNE_OK);
  return Kernels(kernels, headtune_release);
}

headtune_call call_of(const VerifyParams& p, void* out, const hip::DeviceBuffer& workspace) {
  return {p.q,
          p.k_extend,
          p.v_extend,
          p.k_cache,
          p.v_cache,
          out,
          p.qo_indptr,
          p.kv_indptr,
          p.kv_indices,
          p.q_stride_token,
          p.q_stride_head,
          p.k_extend_stride_token,
          p.k_extend_stride_head,
          p.v_extend_stride_token,
          p.v_extend_stride_head,
          p.k_cache_stride_slot,
          p.k_cache_stride_head,
          p.v_cache_stride_slot,
          p.v_cache_stride_head,
          p.out_stride_token,
          p.out_stride_head,
          p.batch,
          p.sm_scale,
          p.k_scale,
          p.v_scale,
          workspace.get(),
          workspace.bytes()};
}

/// One batch on the device with room for its output and workspace.
struct Bench {
  Kernels kernels;
  hip::Device sim = hip::open_device("sim:gfx950");
  Inputs inputs;
  DeviceInputs on_device;
  hip::DeviceBuffer out, workspace;

  explicit Bench(const Case& shape, Kernels shared = prepare(), const Problem& of = problem)
      : kernels(std::move(shared)),
        inputs(make_inputs(of, shape)),
        on_device(*sim.api, inputs),
        out(*sim.api, static_cast<std::size_t>(inputs.out.rows * inputs.out.stride_row * 2)),
        workspace(*sim.api, needed()) {
    out.fill(0xff);
    REQUIRE(headtune_clear_workspace(kernels.get(), workspace.get(), workspace.bytes(), nullptr) == HEADTUNE_OK);
  }

  std::size_t needed() const {
    std::size_t bytes = 0;
    REQUIRE(headtune_workspace_bytes(kernels.get(), inputs.shape.batch(), &bytes) == HEADTUNE_OK);
    return bytes;
  }
  headtune_call call() const { return call_of(on_device.params(), out.get(), workspace); }

  std::vector<std::byte> result() const {
    std::vector<std::byte> bytes(out.bytes());
    out.download(bytes.data(), bytes.size());
    return bytes;
  }

  void check(const Inputs& expected) const {
    REQUIRE(sim.api->device_synchronize() == hip::success);
    CHECK(compare(expected, reference(expected), result(), 0xff).failure == "");
  }
};

void check_both_operators(Bench& bench) {
  const headtune_call call = bench.call();
  REQUIRE(headtune_verify_shared_kv(bench.kernels.get(), &call, nullptr) == HEADTUNE_OK);
  bench.check(bench.inputs);
  bench.out.fill(0xff);
  REQUIRE(headtune_extend_attention(bench.kernels.get(), &call, nullptr) == HEADTUNE_OK);
  bench.check(bench.inputs);
}

}  // namespace

TEST_CASE("both operators compute a ragged batch with an empty prefix") {
  Bench bench(ragged_case("ragged", {300, 0, 65}, 7));
  check_both_operators(bench);
}

TEST_CASE("an fp8 cache with scales, through both operators") {
  headtune_problem wanted = draft;
  wanted.kv_dtype = HEADTUNE_FP8_E4M3FN;
  Problem fp8 = problem;
  fp8.kv_dtype = DType::fp8_e4m3fn;
  Case shape = ragged_case("fp8", {300, 0, 65}, 7);
  shape.k_scale = 0.5f, shape.v_scale = 3;
  Bench bench(shape, prepare(wanted), fp8);
  check_both_operators(bench);
}

TEST_CASE("a captured call replays with shorter lengths") {
  Bench bench(uniform_case("long", 2, 300, 7));
  const headtune_call call = bench.call();
  const auto stream = hip::make_stream(*bench.sim.api);
  const auto graph = hip::capture_graph(*bench.sim.api, stream.get(), [&](hip::Stream captured) {
    REQUIRE(headtune_verify_shared_kv(bench.kernels.get(), &call, captured) == HEADTUNE_OK);
  });
  for (const auto& lengths : {std::vector<int>{300, 300}, std::vector<int>{17, 128}}) {
    Case shape = ragged_case("replay", lengths, 7);
    shape.layout.pool_slots = bench.inputs.k_cache.rows;
    const Inputs step = make_inputs(problem, shape);
    bench.on_device.overwrite(step);
    bench.out.fill(0xff);
    REQUIRE(bench.sim.api->graph_launch(graph.get(), stream.get()) == hip::success);
    bench.check(step);
  }
}

TEST_CASE("threads share kernels, prepare their own, and keep their own errors") {
  const Kernels shared = prepare();
  std::vector<std::unique_ptr<Bench>> benches;
  for (int i = 0; i < 4; ++i)
    benches.push_back(std::make_unique<Bench>(ragged_case("threads", {100 + 37 * i, 0, 65}, 7), shared));

  std::vector<std::string> trouble(benches.size());  // Catch2's assertions are for one thread
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < benches.size(); ++i)
    threads.emplace_back([&, i] {
      const Bench& bench = *benches[i];
      const hip::Api& api = *bench.sim.api;
      api.set_device(bench.sim.ordinal);
      const auto stream = hip::make_stream(api);
      headtune_call call = bench.call();
      for (int round = 0; round < 3; ++round)
        if (headtune_verify_shared_kv(shared.get(), &call, stream.get()) != HEADTUNE_OK) trouble[i] = "call refused";
      if (api.stream_synchronize(stream.get()) != hip::success) trouble[i] = "stream failed";
      headtune_kernels* own = nullptr;
      if (headtune_prepare("sim:gfx950", &draft, &own) != HEADTUNE_OK) trouble[i] = headtune_last_error();
      headtune_release(own);
      call.workspace_bytes = i;
      headtune_verify_shared_kv(shared.get(), &call, stream.get());
      if (std::string(headtune_last_error()).find(", got " + std::to_string(i)) == std::string::npos)
        trouble[i] = std::string("another thread's error: ") + headtune_last_error();
    });
  for (std::thread& thread : threads) thread.join();
  for (std::size_t i = 0; i < benches.size(); ++i) {
    CHECK(trouble[i] == "");
    benches[i]->check(benches[i]->inputs);
  }
}

TEST_CASE("what cannot be done is refused with a status and a line of text") {
  const char* sim = device();
  headtune_kernels* kernels = nullptr;
  CHECK(headtune_prepare(sim, nullptr, &kernels) == HEADTUNE_BAD_ARGUMENT);
  CHECK(headtune_prepare("sim:gfx000", &draft, &kernels) != HEADTUNE_OK);
  CHECK(std::string(headtune_last_error()).find("gfx000") != std::string::npos);
  headtune_problem odd = draft;
  odd.num_kv_heads = 3;
  CHECK(headtune_prepare(sim, &odd, &kernels) == HEADTUNE_UNSUPPORTED);
  odd = draft;
  odd.index_bits = 16;
  CHECK(headtune_prepare(sim, &odd, &kernels) == HEADTUNE_BAD_ARGUMENT);
  odd = draft;
  odd.kv_dtype = static_cast<headtune_dtype>(4);
  CHECK(headtune_prepare(sim, &odd, &kernels) == HEADTUNE_BAD_ARGUMENT);
  CHECK(kernels == nullptr);
  CHECK(std::string(headtune_status_text(HEADTUNE_UNSUPPORTED)) == "no kernel computes this problem");
}

TEST_CASE("a workspace that is too small is refused before anything runs") {
  Bench bench(uniform_case("small", 1, 300, 7));
  headtune_call call = bench.call();
  call.workspace_bytes = 16;
  CHECK(headtune_verify_shared_kv(bench.kernels.get(), &call, nullptr) == HEADTUNE_WORKSPACE_TOO_SMALL);
  CHECK(std::string(headtune_last_error()).find("bytes of workspace") != std::string::npos);
  call = bench.call();
  call.q = nullptr;
  CHECK(headtune_verify_shared_kv(bench.kernels.get(), &call, nullptr) == HEADTUNE_BAD_ARGUMENT);
}

}  // namespace headtune
