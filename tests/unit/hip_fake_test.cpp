#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_floating_point.hpp>
#include <filesystem>
#include <fstream>

#include "tests/unit/fake_device.h"
#include "tuner/dtype.h"
#include "tuner/error.h"
#include "tuner/hip/fake_kernel.h"

using namespace headtune;
using namespace headtune::test;
using Catch::Matchers::WithinAbs;

namespace {

constexpr const char* source =
    "struct Variant { static constexpr int HEAD_DIM = 2; static constexpr int V_HEAD_DIM = 2; static constexpr int "
    "NUM_Q_HEADS = 1; static constexpr int KV_GROUP_NUM = 1; static constexpr int IS_CAUSAL = 1; static constexpr int "
    "DTYPE = 0; static constexpr int KV_DTYPE = 0; static constexpr int INDEX_BITS = 32; static constexpr int BLOCK_H "
    "= 4; };";

/// One request, one prefix key equal to the one new key, so that the output is the mean of both values.
struct TinyProblem {
  std::uint16_t q[2] = {encode(DType::bf16, 1), encode(DType::bf16, 0)};
  std::uint16_t k[4] = {q[0], q[1], q[0], q[1]};
  std::uint16_t v[4] = {encode(DType::bf16, 1), encode(DType::bf16, 2), encode(DType::bf16, 3), encode(DType::bf16, 6)};
  std::uint16_t out[3] = {0xffff, 0xffff, 0xabcd};
  int qo_indptr[2] = {0, 1}, kv_indptr[2] = {0, 1}, kv_indices[1] = {0};
  VerifyParams params{};

  TinyProblem() {
    params = {.q = q,
              .k_extend = k + 2,
              .v_extend = v + 2,
              .k_cache = k,
              .v_cache = v,
              .out = out,
              .qo_indptr = qo_indptr,
              .kv_indptr = kv_indptr,
              .kv_indices = kv_indices,
              .partial_out = nullptr,
              .partial_lse = nullptr,
              .split_done = nullptr,
              .q_stride_token = 2,
              .q_stride_head = 2,
              .k_extend_stride_token = 2,
              .k_extend_stride_head = 2,
              .v_extend_stride_token = 2,
              .v_extend_stride_head = 2,
              .k_cache_stride_slot = 2,
              .k_cache_stride_head = 2,
              .v_cache_stride_slot = 2,
              .v_cache_stride_head = 2,
              .out_stride_token = 2,
              .out_stride_head = 2,
              .batch = 1,
              .num_splits = 1,
              .min_keys_per_split = 64,
              .sm_scale = 1,
              .k_scale = 1,
              .v_scale = 1};
  }
  double output(int i) const { return decode(DType::bf16, out[i]); }
};

/// Launches the kernel once outside a graph.
hip::Error run_once(FakeDeviceFixture& fake, TinyProblem& problem, const char* kernel = "verify_shared_kv_stage2") {
  const auto module = hip::load_module(fake.api(), image(source));
  const auto function = hip::get_function(fake.api(), module, kernel);
  void* arguments[] = {&problem.params};
  return fake.api().module_launch_kernel(function, 1, 1, 1, 64, 1, 1, 0, nullptr, arguments, nullptr);
}

}  // namespace

TEST_CASE("a scripted variant computes attention") {
  FakeDeviceFixture fake(R"({})");
  TinyProblem problem;
  CHECK(run_once(fake, problem) == hip::success);
  CHECK_THAT(problem.output(0), WithinAbs(2, 1e-2));
  CHECK_THAT(problem.output(1), WithinAbs(4, 1e-2));
  CHECK(problem.out[2] == 0xabcd);
}

TEST_CASE("scripted results can be wrong in the ways that matter") {
  TinyProblem problem;
  SECTION("NaN only at context 1") {
    FakeDeviceFixture fake(R"({"variants": [{"match": {}, "output": "nan", "output_context": 1}]})");
    run_once(fake, problem);
    CHECK(problem.output(0) != problem.output(0));
  }
  SECTION("right at other contexts") {
    FakeDeviceFixture fake(R"({"variants": [{"match": {}, "output": "nan", "output_context": 7}]})");
    run_once(fake, problem);
    CHECK_THAT(problem.output(0), WithinAbs(2, 1e-2));
  }
  SECTION("one wrong element") {
    FakeDeviceFixture fake(R"({"variants": [{"match": {"BLOCK_H": 4}, "output": "wrong_last_split"}]})");
    run_once(fake, problem);
    CHECK_THAT(problem.output(1), WithinAbs(4.5, 1e-2));
  }
  SECTION("unwritten") {
    FakeDeviceFixture fake(R"({"variants": [{"match": {}, "output": "unwritten"}]})");
    run_once(fake, problem);
    CHECK(problem.out[0] == 0xffff);
  }
  SECTION("out of bounds") {
    FakeDeviceFixture fake(R"({"variants": [{"match": {}, "output": "out_of_bounds"}]})");
    run_once(fake, problem);
    CHECK(problem.out[2] != 0xabcd);
  }
}

TEST_CASE("a device fault stays until the device is opened again") {
  FakeDeviceFixture fake(R"({"variants": [{"match": {"BLOCK_H": 4}, "fault": "illegal_address"}]})");
  TinyProblem problem;
  CHECK(run_once(fake, problem) == hip::error_illegal_address);
  hip::DevicePtr pointer = nullptr;
  CHECK(fake.api().malloc(&pointer, 16) == hip::error_illegal_address);
  CHECK(fake.api().device_synchronize() == hip::error_illegal_address);
}

TEST_CASE("events measure scripted time, graphs without the gaps between launches") {
  FakeDeviceFixture fake(R"({"gap_us": 5, "variants": [{"match": {}, "time_us": 20, "times": {"1x1": 30}}]})");
  const hip::Api& api = fake.api();
  TinyProblem problem;
  const auto module = hip::load_module(api, image(source));
  const auto function = hip::get_function(api, module, "verify_shared_kv_stage1");
  const auto stream = hip::make_stream(api);
  const auto graph = hip::capture_graph(api, stream.get(), [&](hip::Stream s) {
    for (int i = 0; i < 10; ++i) hip::launch(api, function, 1, 1, 1, 64, 0, s, problem.params);
  });
  const auto start = hip::make_event(api), stop = hip::make_event(api);
  api.event_record(start.get(), stream.get());
  api.graph_launch(graph.get(), stream.get());
  api.event_record(stop.get(), stream.get());
  float ms = 0;
  CHECK(api.event_elapsed_time(&ms, start.get(), stop.get()) == hip::success);
  CHECK_THAT(ms * 1000, WithinAbs(305, 0.1));
}

TEST_CASE("equal seeds repeat the noise") {
  const auto time_once = [] {
    FakeDeviceFixture fake(R"({"seed": 7, "noise": 0.1, "variants": [{"match": {}, "time_us": 20}]})");
    TinyProblem problem;
    const auto start = hip::make_event(fake.api()), stop = hip::make_event(fake.api());
    fake.api().event_record(start.get(), nullptr);
    run_once(fake, problem, "verify_shared_kv_stage1");
    fake.api().event_record(stop.get(), nullptr);
    float ms = 0;
    fake.api().event_elapsed_time(&ms, start.get(), stop.get());
    return ms;
  };
  CHECK(time_once() == time_once());
}

TEST_CASE("memory is limited and double frees are refused") {
  FakeDeviceFixture fake(R"({"device": {"memory_bytes": 4096}})");
  hip::DevicePtr pointer = nullptr;
  CHECK(fake.api().malloc(&pointer, 8192) == hip::error_out_of_memory);
  CHECK(fake.api().malloc(&pointer, 4096) == hip::success);
  CHECK(fake.api().free(pointer) == hip::success);
  CHECK(fake.api().free(pointer) == hip::error_invalid_value);
}

TEST_CASE("mistakes in a script are named") {
  using hip::parse_fake_script;
  CHECK_THROWS_AS(parse_fake_script("{", "s.json"), UsageError);
  CHECK_THROWS_WITH(parse_fake_script(R"({"speed": 1})", "s.json"), "s.json: unknown member \"speed\"");
  CHECK_THROWS_WITH(parse_fake_script(R"({"variants": [{"output": "wrongish"}]})", "s.json"),
                    "s.json: variants[0]: output cannot be \"wrongish\"");
}
