#include "tuner/op_inputs.h"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <cmath>
#include <set>

#include "tuner/dtype.h"
#include "tuner/error.h"

using namespace headtune;

namespace {

Problem problem(DType kv = DType::bf16) {
  Problem p;
  p.head_dim = p.v_head_dim = 32;
  p.num_q_heads = 4, p.num_kv_heads = 2, p.extend_len = 3;
  p.kv_dtype = kv;
  return p;
}

float element(const Tensor& tensor, long long row, int head, int d) {
  return decode(tensor.type, load_bits(tensor.bytes.data(), tensor.type, tensor.offset(row, head) + d));
}

bool finite_row(const Tensor& tensor, long long row) {
  for (int head = 0; head < tensor.heads; ++head)
    for (int d = 0; d < tensor.dim; ++d)
      if (!std::isfinite(element(tensor, row, head, d))) return false;
  return true;
}

}  // namespace

TEST_CASE("inputs: used slots are finite, everything else is NaN, slot 0 included") {
  const DType kv = GENERATE(DType::bf16, DType::fp8_e4m3fn, DType::fp8_e4m3fnuz);
  Case shape = ragged_case("x", {0, 5, 17}, 3);
  shape.layout.page = 4;
  shape.layout.row_padding = 16;
  const Inputs inputs = make_inputs(problem(kv), shape);
  const std::set<long long> used(inputs.kv_indices.begin(), inputs.kv_indices.end());
  CHECK(used.size() == 22);
  CHECK_FALSE(used.contains(0));
  for (const Tensor* pool : {&inputs.k_cache, &inputs.v_cache})
    for (long long slot = 0; slot < pool->rows; ++slot) {
      CHECK(finite_row(*pool, slot) == used.contains(slot));
      CHECK(std::isnan(element(*pool, slot, 0, pool->dim)));  // padding
    }
}

TEST_CASE("inputs: pages are consecutive, their order is shuffled") {
  Case shape = ragged_case("x", {64, 64}, 3);
  shape.layout.page = 16;
  const Inputs inputs = make_inputs(problem(), shape);
  bool ascending = true;
  for (std::size_t t = 0; t < inputs.kv_indices.size(); ++t) {
    CHECK(inputs.kv_indices[t] % 16 == static_cast<long long>(t % 16));
    if (t % 16 == 0 && t > 0) ascending = ascending && inputs.kv_indices[t] > inputs.kv_indices[t - 1];
  }
  CHECK_FALSE(ascending);
}

TEST_CASE("inputs: equal seeds give equal bytes, other seeds others") {
  Case shape = ragged_case("x", {40}, 3);
  const Inputs a = make_inputs(problem(), shape), b = make_inputs(problem(), shape);
  CHECK(a.k_cache.bytes == b.k_cache.bytes);
  CHECK(a.kv_indices == b.kv_indices);
  shape.seed = 2;
  CHECK(make_inputs(problem(), shape).q.bytes != a.q.bytes);
}

TEST_CASE("inputs: duplicates share slots, first_slot moves the pool up") {
  Case shape = ragged_case("x", {400}, 3);
  shape.layout.duplicates = true;
  shape.layout.first_slot = 70000;
  const Inputs inputs = make_inputs(problem(), shape);
  const std::set<long long> used(inputs.kv_indices.begin(), inputs.kv_indices.end());
  CHECK(used.size() < 400);
  CHECK(*used.begin() >= 70000);
}

TEST_CASE("inputs: values are about normal") {
  const Inputs inputs = make_inputs(problem(), ragged_case("x", {2000}, 3));
  double sum = 0, squares = 0;
  for (long long slot : inputs.kv_indices)
    for (int d = 0; d < 32; ++d) {
      const double x = element(inputs.k_cache, slot, 1, d);
      sum += x, squares += x * x;
    }
  CHECK(std::fabs(sum / 64000) < 0.02);
  CHECK(std::fabs(squares / 64000 - 1) < 0.03);
}

TEST_CASE("inputs: a case that does not fit the problem is refused") {
  Case shape = ragged_case("x", {5}, 4);
  CHECK_THROWS_AS(make_inputs(problem(), shape), UsageError);
  shape = ragged_case("x", {-1}, 3);
  CHECK_THROWS_AS(make_inputs(problem(), shape), UsageError);
}
