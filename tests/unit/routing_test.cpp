// Routing as a full truth table against the rules as one boolean formula, and each refusal with its reason.
#include <headtune/routing.h>

#include <catch2/catch_test_macros.hpp>
#include <functional>
#include <string>
#include <vector>

namespace headtune {
namespace {

struct Row {
  const char* arch;
  bool allow_gfx942, split_kv, mla, kimi_k3, dspark_draft, qwen3_5;
  int topk, local_num_kv_heads;
};

std::vector<Row> all_rows() {
  std::vector<Row> rows;
  for (const char* arch : {"gfx950", "gfx950:sramecc+:xnack-", "gfx942", "gfx90a", "sm_90"})
    for (int bits = 0; bits < 64; ++bits)
      for (int topk : {0, 1, 4})
        for (int heads : {1, 2})
          rows.push_back({arch, (bits & 1) != 0, (bits & 2) != 0, (bits & 4) != 0, (bits & 8) != 0, (bits & 16) != 0,
                          (bits & 32) != 0, topk, heads});
  return rows;
}

bool expected(const Row& row) {
  const std::string arch = row.arch;
  const bool device = arch.rfind("gfx950", 0) == 0 || (arch == "gfx942" && row.allow_gfx942);
  if (row.mla) return device && row.topk == 1 && row.kimi_k3;
  return device && row.topk == 1 && row.split_kv && (row.dspark_draft || (row.qwen3_5 && row.local_num_kv_heads == 1));
}

AttentionCall good_call() {
  AttentionCall call;
  call.problem = {64, 64, 16, 4, 8, false};
  call.batch = 2;
  call.total_tokens = 16;
  call.cache_num_kv_heads = 4;
  call.cache_head_dim = call.cache_v_head_dim = 64;
  return call;
}

}  // namespace

TEST_CASE("should_use_verify_shared_kv follows the rules for every combination") {
  for (const Row& row : all_rows()) {
    const ModelTraits model{row.dspark_draft, row.kimi_k3, row.qwen3_5, row.mla, row.local_num_kv_heads};
    const Route route =
        should_use_verify_shared_kv(model, Deployment{row.arch, row.topk, row.split_kv, row.allow_gfx942});
    INFO(row.arch << " topk " << row.topk << " mla " << row.mla << ": " << route.reason);
    CHECK(bool(route) == expected(row));
    CHECK_FALSE(std::string(route.reason).empty());
  }
}

TEST_CASE("models are told by the names in architectures") {
  using Names = std::vector<std::string>;
  CHECK(is_dspark_draft(Names{"DSparkDraftModel"}));
  CHECK(is_dspark_draft(Names{"Other", "DSparkDraftModel"}));
  CHECK_FALSE(is_dspark_draft(Names{"K3DSparkModel"}));
  CHECK_FALSE(is_dspark_draft(Names{}));
  CHECK(is_kimi_k3(Names{"KimiK3ForConditionalGeneration"}));
  CHECK_FALSE(is_kimi_k3(Names{"KimiLinearForCausalLM"}));
  CHECK(is_qwen3_5(Names{"Qwen3_5MoeForConditionalGeneration"}));
  CHECK(is_qwen3_5(Names{"Qwen3_5ForCausalLM"}));
  CHECK_FALSE(is_qwen3_5(Names{"Qwen3ForCausalLM"}));
}

TEST_CASE("can_handle accepts the plain call and names each thing it refuses") {
  const Config config{4, 256, 4};
  REQUIRE(can_handle(good_call(), config));
  AttentionCall fp8 = good_call();
  fp8.problem.kv_dtype = DType::fp8_e4m3fnuz;
  REQUIRE(can_handle(fp8, config));
  const struct {
    const char* reason;
    std::function<void(AttentionCall&)> spoil;
  } cases[] = {
      {"empty batch", [](AttentionCall& call) { call.batch = 0; }},
      {"attention sinks", [](AttentionCall& call) { call.has_sinks = true; }},
      {"sliding window", [](AttentionCall& call) { call.sliding_window = 128; }},
      {"logit cap", [](AttentionCall& call) { call.logit_cap = 30; }},
      {"xai temperature", [](AttentionCall& call) { call.xai_temperature = 1; }},
      {"query heads are no multiple of the KV heads", [](AttentionCall& call) { call.problem.num_q_heads = 18; }},
      {"cache and new tokens differ in shape", [](AttentionCall& call) { call.cache_head_dim = 128; }},
      {"head_dim < v_head_dim", [](AttentionCall& call) { call.problem.v_head_dim = call.cache_v_head_dim = 128; }},
      {"a 16-bit cache of another type than Q", [](AttentionCall& call) { call.problem.kv_dtype = DType::fp16; }},
      {"an fp8 cache whose rows are no multiple of 64 elements",
       [](AttentionCall& call) {
         call.problem.kv_dtype = DType::fp8_e4m3fn;
         call.problem.head_dim = call.problem.v_head_dim = call.cache_head_dim = call.cache_v_head_dim = 96;
       }},
      {"ragged extend length", [](AttentionCall& call) { call.total_tokens = 15; }},
      {"query heads per KV head are no multiple of BLOCK_H",
       [](AttentionCall& call) { call.problem.num_q_heads = 12; }},
  };
  for (const auto& test : cases) {
    AttentionCall call = good_call();
    test.spoil(call);
    const Route route = can_handle(call, config);
    CHECK_FALSE(route);
    CHECK(std::string(route.reason) == test.reason);
  }
}

TEST_CASE("routing is usable in constant expressions") {
  static_assert(should_use_verify_shared_kv({true, false, false, false, 4}, {"gfx950", 1, true, false}));
  static_assert(!should_use_verify_shared_kv({true, false, false, false, 4}, {"gfx942", 1, true, false}));
  SUCCEED();
}

}  // namespace headtune
