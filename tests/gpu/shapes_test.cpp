// Heads, head sizes, masks and scales: T10, T11, T13..T15 of the kernels' contract, and the benchmark shapes.
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

#include "codegen/render.h"
#include "suite.h"
#include "tuner/op_device.h"
#include "tuner/verify.h"

using namespace headtune;
using test::check;
using test::problem;

namespace {

const std::vector<Case> some_lengths(int extend_len) { return {ragged_case("lengths", {200, 0, 65, 513}, extend_len)}; }

}  // namespace

TEST_CASE("T10 different scales of keys and values apply to the prefix alone") {
  Case shape = ragged_case("scaled", {300, 0, 40}, 8);
  shape.k_scale = 0.37f;
  shape.v_scale = 2.25f;
  check(problem(16, 4, 64, 8, true), {shape});
  check(problem(12, 1, 576, 8, true, 512), {shape});
}

TEST_CASE("T11 twelve, six, four, one and fewer heads than a workgroup takes") {
  const int heads = GENERATE(12, 6, 4, 2, 1);
  check(problem(heads, 1, 64, 4, true), some_lengths(4));
  check(problem(heads, 1, 576, 4, true, 512), some_lengths(4));
}

TEST_CASE("T11 a configuration made for more heads than there are") {
  const int heads = GENERATE(5, 3, 1);
  const Problem p = problem(heads, 1, 64, 4, true);
  test::device();  // skips here where there is none
  std::vector<Config> configs = test::sample_configs("verify_shared_kv", problem(8, 1, 64, 4, true));
  for (Config& config : configs) config.block_h = 8;
  check("verify_shared_kv", p, some_lengths(4), configs);
}

TEST_CASE("T13 three and six query heads to a KV head") {
  const auto [q, kv] = GENERATE(table<int, int>({{6, 2}, {12, 2}, {12, 4}, {24, 4}}));
  check(problem(q, kv, 64, 4, true), some_lengths(4));
}

TEST_CASE("T14 causal and not") {
  const bool causal = GENERATE(false, true);
  check(problem(16, 4, 64, 8, causal), some_lengths(8));
  check(problem(16, 4, 128, 5, causal), some_lengths(5));
  check(problem(8, 1, 256, 4, causal), some_lengths(4));
}

TEST_CASE("T14 with one new token the mask changes no bit") {
  const auto run = [](bool causal) {
    const Problem p = problem(16, 4, 64, 1, causal);
    const Op& op = find_op("verify_shared_kv");
    const Config config = test::sample_configs(op.name(), p).front();
    const Inputs inputs = make_inputs(p, ragged_case("one token", {200, 0, 65}, 1));
    const Plan plan = op.plan(p, config, test::device_arch(), 3, 200);
    const hip::Api& api = *test::device().api;
    const DeviceInputs on_device(api, inputs);
    DeviceOutputs outputs(api, inputs, plan);
    outputs.poison(0xff);
    VerifyParams params = on_device.params();
    outputs.bind(params);
    LoadedKernels(api, test::compile(op.name(), p, {config}).front().code, op.kernels()).launch(plan, params);
    REQUIRE(api.device_synchronize() == hip::success);
    return outputs.read_out();
  };
  test::device();  // skips here where there is none
  CHECK(run(true) == run(false));
}

TEST_CASE("T15 value rows shorter than key rows") {
  const auto [head_dim, v_head_dim] = GENERATE(table<int, int>({{576, 512}, {192, 128}, {96, 64}}));
  check(problem(4, 1, head_dim, 4, true, v_head_dim), some_lengths(4));
}

TEST_CASE("head sizes 64, 128, 256 in both 16-bit types") {
  const int head_dim = GENERATE(64, 128, 256);
  Problem p = problem(8, 2, head_dim, 4, true);
  p.dtype = p.kv_dtype = GENERATE(DType::bf16, DType::fp16);
  check(p, some_lengths(4));
}

TEST_CASE("MLA in fp16") {
  Problem p = problem(12, 1, 576, 8, true, 512);
  p.dtype = p.kv_dtype = DType::fp16;
  check(p, some_lengths(8));
}

TEST_CASE("benchmark shapes S1 to S7, quick cases") {
  const Problem p =
      GENERATE(problem(16, 2, 256, 4, true), problem(12, 1, 576, 8, true, 512), problem(8, 2, 64, 7, false),
               problem(16, 4, 64, 8, false), problem(16, 1, 576, 7, false, 512), problem(16, 1, 256, 4, true),
               problem(4, 1, 256, 1, true), problem(16, 1, 128, 4, true), problem(128, 1, 576, 4, true, 512));
  CAPTURE(p.num_q_heads, p.num_kv_heads, p.head_dim, p.extend_len);
  // 128 heads are eight workgroups of the same code: fewer keys keep the simulated run short.
  check(p, p.num_q_heads < 64 ? quick_cases(p) : some_lengths(p.extend_len));
}
