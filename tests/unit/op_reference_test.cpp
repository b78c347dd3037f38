// The reference against a second statement of the formula: one output element at a time, in long double.
#include "tuner/op_reference.h"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <cmath>

#include "tuner/dtype.h"
#include "tuner/op.h"

using namespace headtune;

namespace {

long double element(const Tensor& tensor, long long row, int head, int d) {
  return decode(tensor.type, load_bits(tensor.bytes.data(), tensor.type, tensor.offset(row, head) + d));
}

struct Row {
  const Inputs& in;
  std::size_t request;
  int new_token, head;

  int kv_head() const { return head / in.problem.kv_group_num(); }
  int token() const { return in.qo_indptr[request] + new_token; }
  int prefix() const { return in.shape.prefix_lens[request]; }
  int keys() const { return prefix() + (in.problem.is_causal ? new_token + 1 : in.shape.extend_lens[request]); }
  long long slot(int t) const { return in.kv_indices[static_cast<std::size_t>(in.kv_indptr[request] + t)]; }

  long double score(int t) const {
    long double dot = 0;
    for (int d = 0; d < in.problem.head_dim; ++d)
      dot += element(in.q, token(), head, d) *
             (t < prefix() ? element(in.k_cache, slot(t), kv_head(), d)
                           : element(in.k_extend, in.qo_indptr[request] + t - prefix(), kv_head(), d));
    return dot * in.sm_scale * (t < prefix() ? in.shape.k_scale : 1);
  }

  long double value(int t, int d) const {
    return t < prefix() ? in.shape.v_scale * element(in.values(), slot(t), kv_head(), d)
                        : element(in.v_extend, in.qo_indptr[request] + t - prefix(), kv_head(), d);
  }
};

void check_row(const Row& row, const Reference& got) {
  long double total = 0, out = 0;
  const int d = row.in.problem.v_head_dim - 1;
  for (int t = 0; t < row.keys(); ++t) {
    const long double weight = std::exp(row.score(t));
    total += weight, out += weight * row.value(t, d);
  }
  const auto at = static_cast<std::size_t>(row.token() * row.in.problem.num_q_heads + row.head);
  CHECK(std::fabs(static_cast<double>(out / total) -
                  got.out[at * static_cast<std::size_t>(d + 1) + static_cast<std::size_t>(d)]) < 1e-10);
  CHECK(std::fabs(static_cast<double>(std::log(total)) - got.lse[at]) < 1e-10);
  CHECK(got.keys[at] == row.keys());
}

void check_all(const Inputs& inputs) {
  const Reference got = reference(inputs);
  for (std::size_t b = 0; b < inputs.shape.prefix_lens.size(); ++b)
    for (int i = 0; i < inputs.shape.extend_lens[b]; ++i)
      for (int head = 0; head < inputs.problem.num_q_heads; ++head) check_row({inputs, b, i, head}, got);
}

Problem problem(int q, int kv, int dim, int v_dim, bool causal) {
  Problem p;
  p.num_q_heads = q, p.num_kv_heads = kv, p.head_dim = dim, p.v_head_dim = v_dim;
  p.extend_len = 4, p.is_causal = causal;
  return p;
}

}  // namespace

TEST_CASE("reference: agrees with the formula for grouped heads, MLA, causal and not, ragged, empty and scaled") {
  const bool causal = GENERATE(false, true);
  Case shape = ragged_case("x", {0, 1, 37, 5}, 4);
  shape.extend_lens = {4, 2, 3, 0};
  shape.k_scale = 0.5f, shape.v_scale = 2;
  shape.values.key_growth = 2;
  shape.layout.duplicates = true;
  shape.layout.row_padding = 16;
  check_all(make_inputs(problem(6, 2, 32, 32, causal), shape));
  check_all(make_inputs(problem(3, 1, 48, 32, causal), shape));
  Problem fp8 = problem(4, 4, 32, 32, causal);
  fp8.dtype = DType::fp16, fp8.kv_dtype = DType::fp8_e4m3fnuz;
  check_all(make_inputs(fp8, shape));
}

TEST_CASE("reference: rows whose scores are all -inf give 0 and lse -inf") {
  Case shape = ragged_case("x", {9}, 2);
  shape.values.prefix_minus_infinity = shape.values.extend_minus_infinity = true;
  const Reference got = reference(make_inputs(problem(2, 1, 32, 32, true), shape));
  for (double out : got.out) CHECK(out == 0);
  for (double lse : got.lse) CHECK((std::isinf(lse) && lse < 0));
}

TEST_CASE("op: byte floor and flops of a known shape") {
  const Problem p = problem(16, 4, 64, 64, false);
  const Case shape = uniform_case("x", 8, 32768, 4);
  const double kv = 8.0 * 32768 * 4 * 128 * 2;
  CHECK(byte_floor(p, shape) == kv + 32 * (4 * 128 + 16 * 128) * 2.0);
  CHECK(flop_count(p, shape) == 2.0 * 8 * (4.0 * 32768 + 16) * 16 * 128);
  const Problem mla = problem(12, 1, 576, 512, true);
  CHECK(byte_floor(mla, uniform_case("x", 1, 1000, 4)) == 1000 * 576 * 2.0 + 4 * (1088 + 12 * 1088) * 2.0);
}
