// Reading Hugging Face configs: the fixtures, and one clear line for each odd or hostile field.
#include "tuner/model_config.h"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include "tuner/error.h"

namespace headtune {
namespace {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;

ModelConfig fixture(const std::string& name) {
  return read_model_config(std::filesystem::path(HEADTUNE_FIXTURES) / name);
}

void rejects(const std::string& text, const std::string& part) {
  INFO(text);
  CHECK_THROWS_MATCHES(parse_model_config(text, "config.json"), UsageError,
                       MessageMatches(ContainsSubstring(part) && !ContainsSubstring("\n")));
}

std::string llama_with(const std::string& field) {
  return R"({"architectures": ["LlamaForCausalLM"], "num_hidden_layers": 2, "hidden_size": 512,)"
         R"( "num_attention_heads": 8, )" +
         field + "}";
}

}  // namespace

TEST_CASE("Kimi-K3: MLA 576/512 in a nested text_config, a quarter of the layers attend") {
  const ModelConfig model = fixture("kimi_k3.json");
  CHECK(model.traits.kimi_k3);
  CHECK(model.traits.mla);
  REQUIRE(model.layers.size() == 2);
  CHECK(model.layers[0].count == 24);
  CHECK(model.layers[1].count == 72);
  CHECK_FALSE(model.layers[1].softmax);
  const Problem problem = problem_of(model, 8, 8);
  CHECK(problem.num_q_heads == 12);
  CHECK(problem.num_kv_heads == 1);
  CHECK(problem.head_dim == 576);
  CHECK(problem.v_head_dim == 512);
  CHECK(problem.is_causal);
}

TEST_CASE("DSpark draft: grouped heads, non-causal blocks of 7") {
  const ModelConfig model = fixture("dspark_draft_gqa.json");
  CHECK(model.traits.dspark_draft);
  CHECK(model.draft_block == 7);
  const Problem problem = problem_of(model, 8, model.draft_block);
  CHECK(problem.num_q_heads == 8);
  CHECK(problem.num_kv_heads == 2);
  CHECK(problem.head_dim == 64);
  CHECK_FALSE(problem.is_causal);
}

TEST_CASE("K3DSparkModel is an MLA draft, not a grouped-head one") {
  const ModelConfig model = fixture("k3_dspark_mla.json");
  CHECK_FALSE(model.traits.dspark_draft);
  CHECK(model.traits.mla);
  CHECK_FALSE(model.is_causal);
}

TEST_CASE("Qwen3.5: KV heads are replicated over more ranks than heads") {
  const ModelConfig model = fixture("qwen3_5.json");
  CHECK(model.traits.qwen3_5);
  REQUIRE(model.layers.size() == 2);
  CHECK(model.layers[0].kind == "linear_attention");
  CHECK(model.layers[1].count == 2);
  CHECK(problem_of(model, 1, 4).num_kv_heads == 2);
  CHECK(problem_of(model, 4, 4).num_kv_heads == 1);
  CHECK(problem_of(model, 4, 4).num_q_heads == 8);
}

TEST_CASE("plain Llama derives head_dim from the hidden size") {
  const ModelConfig model = fixture("llama.json");
  CHECK(model.head_dim == 128);
  CHECK_THROWS_MATCHES(problem_of(model, 3, 4), UsageError, MessageMatches(ContainsSubstring("--tp 3")));
}

TEST_CASE("odd and hostile fields give one clear line") {
  rejects("{", "not JSON at byte");
  rejects("[]", "JSON object");
  rejects("{}", "architectures");
  rejects(R"({"architectures": [7]})", "a list of strings");
  rejects(R"({"architectures": ["A"]})", "num_attention_heads");
  rejects(llama_with(R"("num_key_value_heads": 3)"), "a divisor of num_attention_heads = 8");
  rejects(llama_with(R"("num_key_value_heads": 0)"), "from 1 to 8");
  rejects(llama_with(R"("head_dim": 1e3)"), "whole number");
  rejects(llama_with(R"("head_dim": 18446744073709551615)"), "from 1 to 4096");
  rejects(llama_with(R"("head_dim": -64)"), "from 1 to 4096");
  rejects(llama_with(R"("head_dim": "64")"), "whole number");
  rejects(llama_with(R"("layer_types": ["full_attention"])"), "a list of 2 names");
  rejects(llama_with(R"("layer_types": {"a": 1})"), "a list of strings");
  rejects(llama_with(R"("linear_attn_config": 3)"), "an object");
  rejects(R"({"architectures": ["A"], "text_config": []})", "text_config should be an object");
  CHECK_THROWS_MATCHES(read_model_config("/nonexistent/config.json"), UsageError,
                       MessageMatches(ContainsSubstring("cannot be read")));
}

TEST_CASE("a sliding window is a layer group of its own") {
  const ModelConfig model = parse_model_config(llama_with(R"("sliding_window": 128)"), "c");
  REQUIRE(model.layers.size() == 1);
  CHECK(model.layers[0].sliding_window == 128);
  CHECK(parse_model_config(llama_with(R"("sliding_window": 128, "use_sliding_window": false)"), "c").layers[0].kind ==
        "full attention");
}

}  // namespace headtune
