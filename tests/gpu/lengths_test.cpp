// Prefix and extend lengths: T1..T3, T12, T17, T18, T22 of the kernels' contract.
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

#include "suite.h"

using namespace headtune;
using test::check;
using test::problem;

TEST_CASE("T1 empty prefix: one request of a batch, and all") {
  check(problem(16, 4, 64, 8, false),
        {ragged_case("one empty", {77, 0, 300}, 8), ragged_case("first and last empty", {0, 129, 0}, 8),
         ragged_case("all empty", {0, 0, 0}, 8), ragged_case("single empty request", {0}, 8)});
  check(problem(12, 1, 576, 8, true, 512), {ragged_case("one empty", {65, 0}, 8), ragged_case("all empty", {0, 0}, 8)});
}

TEST_CASE("T2 short and long prefixes mixed") {
  check(problem(8, 2, 64, 7, false), {ragged_case("mixed", {3, 5000, 1, 700, 64, 2049}, 7)});
  check(problem(8, 1, 256, 4, true), {ragged_case("mixed", {2000, 2, 257}, 4)});
}

TEST_CASE("T3 prefix of one key") {
  check(problem(16, 4, 64, 8, false), {ragged_case("one key", {1}, 8), ragged_case("one key each", {1, 1, 1}, 8)});
}

TEST_CASE("T3 prefixes around BLOCK_N and around whole splits") {
  const Problem p = problem(16, 4, 64, 8, true);
  for (const std::string& op : op_names())
    for (const Config& config : test::sample_configs(op, p, 2)) {
      const int block = config.block_n;
      const int splits = find_op(op).plan(p, config, test::device_arch(), 1, 16 * block).num_splits;
      std::vector<Case> cases = {ragged_case("around BLOCK_N", {block - 1, block, block + 1}, 8)};
      for (int length : {splits * block - 1, splits * block, splits * block + 1, 16 * block + 1})
        cases.push_back(ragged_case("around " + std::to_string(splits) + " splits", {length}, 8));
      check(op, p, cases, {config});
    }
}

TEST_CASE("T3 ragged prefixes") {
  check(problem(16, 2, 128, 4, true), {ragged_case("ragged", {1, 63, 64, 65, 4096, 4097}, 4)});
  check(problem(16, 1, 128, 4, true), {ragged_case("S6", {1, 77, 4099}, 4)});
}

TEST_CASE("T12 extend lengths 1 to 8, fewer rows than a matrix instruction") {
  const int extend_len = GENERATE(1, 2, 3, 4, 5, 6, 7, 8);
  check(problem(4, 2, 64, extend_len, true), {ragged_case("short", {130, 0, 31}, extend_len)});
}

TEST_CASE("T12 requests with fewer new tokens than the variant's EXTEND_LEN") {
  Case shape = ragged_case("ragged extend", {100, 200, 300, 64}, 8);
  shape.extend_lens = {8, 3, 1, 5};
  check(problem(16, 4, 64, 8, true), {shape});
  check(problem(12, 1, 576, 8, false, 512), {shape});
}

TEST_CASE("T17 padded graph rows of length 0") {
  Case shape = ragged_case("padded", {100, 0, 300, 0, 0}, 7);
  shape.extend_lens = {7, 0, 7, 0, 0};
  Case with_prefix = ragged_case("padded with prefix", {100, 50, 300}, 7);
  with_prefix.extend_lens = {7, 0, 7};
  check(problem(8, 2, 64, 7, false), {shape, with_prefix});
}

TEST_CASE("T18 over-provisioned, mostly empty splits") {
  Case shape = ragged_case("planned for 128k", {5, 0, 600}, 8);
  shape.planned_context = 131072;
  check(problem(16, 4, 64, 8, false), {shape});
  check(problem(12, 1, 576, 8, true, 512), {shape});
}

TEST_CASE("T22 long contexts, several KV heads, not causal", "[long]") {
  const int context = GENERATE(65536, 131072);
  const Problem p = problem(8, 4, 64, 4, false);
  check("verify_shared_kv", p, {ragged_case("long", {context + 3}, 4)}, test::sample_configs("verify_shared_kv", p));
}
