// Verification on the scripted device: what is right passes, and every kind of wrong is found and described.
#include "tuner/verify.h"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cmath>

#include "codegen/render.h"
#include "fake_device.h"
#include "tuner/dtype.h"
#include "tuner/tolerance.h"

using namespace headtune;
using Catch::Matchers::ContainsSubstring;

namespace {

Problem draft64() {
  Problem p;
  p.head_dim = p.v_head_dim = 64;
  p.num_q_heads = 8, p.num_kv_heads = 2, p.extend_len = 4, p.is_causal = false;
  return p;
}

VerifyResult verify_scripted(const std::string& variant) {
  const test::FakeDeviceFixture fake(R"({"variants": [)" + variant + "]}");
  const std::vector<std::byte> code = test::image(render("verify_shared_kv", draft64(), Config{}));
  return Verifier(fake.device(), find_op("verify_shared_kv"), draft64(), quick_cases(draft64())).check(Config{}, code);
}

/// The right answer, rounded to the output type, as a kernel would leave it.
std::vector<std::byte> right_output(const Inputs& inputs, const Reference& expected) {
  std::vector<std::byte> out(static_cast<std::size_t>(inputs.out.rows * inputs.out.stride_row) * 2, std::byte{0xff});
  const auto dim = static_cast<std::size_t>(inputs.out.dim);
  for (long long token = 0; token < inputs.out.rows; ++token)
    for (int head = 0; head < inputs.out.heads; ++head)
      for (std::size_t d = 0; d < dim; ++d) {
        const auto row = static_cast<std::size_t>(token * inputs.out.heads + head);
        store_bits(out.data(), inputs.out.type, inputs.out.offset(token, head) + static_cast<long long>(d),
                   encode(inputs.out.type, static_cast<float>(expected.out[row * dim + d])));
      }
  return out;
}

/// One of the quick cases with its reference, for changing single elements of a right answer.
struct Sample {
  explicit Sample(std::size_t index)
      : inputs(make_inputs(draft64(), quick_cases(draft64())[index])),
        expected(reference(inputs)),
        out(right_output(inputs, expected)) {}

  std::string failure() const { return compare(inputs, expected, out, 0xff).failure; }
  void set(long long element, float value) {
    store_bits(out.data(), inputs.out.type, element, encode(inputs.out.type, value));
  }

  Inputs inputs;
  Reference expected;
  std::vector<std::byte> out;
};

}  // namespace

TEST_CASE("verify: a right variant passes with an error near the output's rounding") {
  const VerifyResult result = verify_scripted(R"({"match": {}})");
  CHECK(result.failure == "");
  CHECK(result.cases == static_cast<int>(quick_cases(draft64()).size()));
  CHECK(result.relative_l2 > 1e-4);
  CHECK(result.relative_l2 < 3e-3);
}

TEST_CASE("verify: wrong results are found and described") {
  const auto [output, text] = GENERATE(table<std::string, std::string>(
      {{"nan", "nan"}, {"wrong_last_split", "expected"}, {"unwritten", "nan"}, {"out_of_bounds", "was overwritten"}}));
  CAPTURE(output);
  const VerifyResult result = verify_scripted(R"({"match": {}, "output": ")" + output + R"("})");
  CHECK_FALSE(result.passed());
  CHECK_THAT(result.failure, ContainsSubstring(text));
}

TEST_CASE("compare: the rounded reference passes in every quick case") {
  for (std::size_t i = 0; i < quick_cases(draft64()).size(); ++i) CHECK(Sample(i).failure() == "");
}

TEST_CASE("compare: one element that is NaN, infinite, unwritten or off by three roundings fails with its place") {
  Sample sample(0);
  const int head = 5, column = 17;
  const long long token = sample.inputs.qo_indptr[4];
  const long long at = sample.inputs.out.offset(token, head) + column;
  const float right = decode(DType::bf16, load_bits(sample.out.data(), DType::bf16, at));
  const float wrong =
      GENERATE(std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(), 0.0f, 3.39e38f, 1.0f);
  sample.set(at, wrong == 1.0f ? right + 0.1f : wrong);
  CHECK_THAT(sample.failure(), ContainsSubstring("[head 5][17] (new token 0 of request 4, prefix 65)"));
}

TEST_CASE("compare: a write between rows is found") {
  Sample sample(2);
  REQUIRE(sample.inputs.shape.layout.row_padding > 0);
  sample.set(sample.inputs.out.offset(1, 2) + sample.inputs.out.dim, 0);
  CHECK_THAT(sample.failure(), ContainsSubstring("padding after token 1"));
}

TEST_CASE("compare: leaving the last split out of one element fails") {
  // The last split of the long case is a single key; its weight alone must be enough to be seen.
  Sample sample(1);
  const Inputs& in = sample.inputs;
  const std::size_t dim = static_cast<std::size_t>(in.out.dim);
  const long long last = in.kv_indices.back();
  int seen = 0, rows = 0;
  for (int token = 0; token < 4; ++token)
    for (int head = 0; head < 8; ++head, ++rows) {
      double dot = 0, moved = 0;
      for (int d = 0; d < 64; ++d)
        dot += static_cast<double>(
                   decode(DType::bf16, load_bits(in.q.bytes.data(), DType::bf16, in.q.offset(token, head) + d))) *
               static_cast<double>(decode(DType::bf16, load_bits(in.k_cache.bytes.data(), DType::bf16,
                                                                 in.k_cache.offset(last, head / 4) + d)));
      const std::size_t row = static_cast<std::size_t>(token * 8 + head);
      const double weight = std::exp(dot * static_cast<double>(in.sm_scale) - sample.expected.lse[row]);
      for (std::size_t d = 0; d < dim; ++d) {
        const double value =
            decode(DType::bf16, load_bits(in.v_cache.bytes.data(), DType::bf16,
                                          in.v_cache.offset(last, head / 4) + static_cast<long long>(d)));
        const Tolerance t = tolerance(in.problem, sample.expected.keys[row]);
        moved = std::max(
            moved, weight * std::fabs(value) /
                       element_bound(t, sample.expected.out[row * dim + d], sample.expected.spread[row * dim + d]));
      }
      if (moved > 1) ++seen;
    }
  CHECK(seen > rows / 4);
}

TEST_CASE("tolerance: bf16 outputs stay under 5e-3, fp16 under 8e-4, both grow little with length") {
  Problem p = draft64();
  CHECK(relative_l2_bound(tolerance(p, 1000)) <= 5.0001e-3);
  p.dtype = p.kv_dtype = DType::fp16;
  CHECK(relative_l2_bound(tolerance(p, 1000)) < 8e-4);
  CHECK(relative_l2_bound(tolerance(p, 200000)) < 9e-4);
}
