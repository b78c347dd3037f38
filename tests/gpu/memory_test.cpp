// Where data lies and what lies around it: T4..T8, T19, T21 of the kernels' contract.
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

#include "suite.h"
#include "tuner/verify.h"

using namespace headtune;
using test::check;
using test::problem;

TEST_CASE("T4 NaN past the end of a sequence inside its last page") {
  Case shape = ragged_case("pages of 16", {17, 33, 250, 1}, 8);
  shape.layout.page = 16;
  Case large = ragged_case("pages of 64", {65, 100}, 8);
  large.layout.page = 64;
  check(problem(16, 4, 64, 8, false), {shape, large});
  check(problem(12, 1, 576, 8, true, 512), {shape});
}

TEST_CASE("T5 NaN in pool slot 0, which a masked gather must not read") {
  check(problem(16, 4, 128, 8, false), {ragged_case("partial tiles", {1, 2, 15, 17, 31, 33, 47, 100}, 8)});
}

TEST_CASE("T6 all prefix scores -inf: the new tokens alone count; all scores -inf: the output is 0") {
  const Problem p = GENERATE(problem(16, 4, 64, 8, true), problem(8, 1, 256, 4, false));
  Case prefix = ragged_case("prefix -inf", {100, 300}, p.extend_len);
  prefix.values.prefix_minus_infinity = true;
  Case all = prefix;
  all.name = "all -inf";
  all.values.extend_minus_infinity = true;
  Case extend = ragged_case("new tokens -inf", {100, 300}, p.extend_len);
  extend.values.extend_minus_infinity = true;
  check(p, {prefix, all, extend});
}

TEST_CASE("T7 offsets of 2^31 elements and more, pools beyond 4 GiB") {
  const auto [p, index_bits] = GENERATE(table<Problem, int>({{problem(16, 4, 64, 8, false), 32},
                                                             {problem(16, 4, 64, 8, false), 64},
                                                             {problem(12, 1, 576, 8, true, 512), 32},
                                                             {problem(12, 1, 576, 8, true, 512), 64}}));
  const long long row = p.num_kv_heads * p.head_dim;
  std::vector<Case> cases;
  for (const long long elements : {1LL << 31, 1LL << 32, 5LL << 32}) {
    Case shape = ragged_case("pool of " + std::to_string(elements) + " elements", {90, 300}, 8);
    shape.layout.slot_shift = elements / row - 100;  // slots on both sides of the limit
    cases.push_back(shape);
  }
  check(p, cases, index_bits);
}

TEST_CASE("T7 64-bit slot numbers beyond 2^32") {
  Case shape = ragged_case("slots beyond 2^32", {90, 300}, 8);
  shape.layout.slot_shift = (1LL << 32) - 100;
  check(problem(16, 4, 64, 8, false), {shape}, 64);
}

TEST_CASE("T8 slot numbers above 65535 with eight KV heads") {
  Case shape = ragged_case("slots above 65535", {300, 90}, 4);
  shape.layout.slot_shift = 65536 - 100;
  check(problem(16, 8, 64, 4, true), {shape});
}

TEST_CASE("T19 padded rows, shuffled and shared slots") {
  Case shape = ragged_case("padded rows", {300, 0, 90}, 8);
  shape.layout.row_padding = GENERATE(16, 48);
  shape.layout.duplicates = true;
  check(problem(16, 4, 64, 8, true), {shape});
  check(problem(12, 1, 576, 8, true, 512), {shape});
}

TEST_CASE("T19 ascending slots give the same answer quality as shuffled ones") {
  Case shape = ragged_case("ascending", {300, 90}, 8);
  shape.layout.shuffle = false;
  check(problem(16, 4, 64, 8, true), {shape});
}

TEST_CASE("T21 repeated runs are bitwise equal with many splits") {
  const Problem p = problem(16, 4, 64, 8, false);
  std::vector<Case> cases(4, ragged_case("repeat", {4097, 2000, 31}, 8));
  check("verify_shared_kv", p, cases, test::sample_configs("verify_shared_kv", p, 3));
}

TEST_CASE("the running maximum rises throughout, by more than any rescale threshold") {
  Case shape = ragged_case("rising", {3000, 500}, 8);
  shape.values = {.score_std = 6, .key_growth = 6};
  check(problem(16, 4, 64, 8, false), {shape});
  check(problem(8, 1, 256, 4, true), {[&] {
          Case four = shape;
          four.extend_lens = {4, 4};
          return four;
        }()});
  check(problem(12, 1, 576, 8, true, 512), {shape});
}
