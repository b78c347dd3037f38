// Searches over synthetic landscapes and over a recorded sweep: no device, no clock.
#include "tuner/search.h"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cmath>
#include <limits>
#include <set>

#include "tuner/error.h"
#include "tuner/trials.h"

namespace headtune {
namespace {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;

/// 6 x 6 x 2 configurations.
SearchSpace grid() {
  SearchSpace space{{}, {"BLOCK_H", "BLOCK_N", "FUSE_COMBINE"}, {}};
  for (int h = 1; h <= 6; ++h)
    for (int n = 1; n <= 6; ++n)
      for (int fuse = 0; fuse < 2; ++fuse) {
        Config config;
        config.block_h = h, config.block_n = 32 * n, config.fuse_combine = fuse;
        space.configs.push_back(config);
      }
  return space;
}

/// Best at BLOCK_H 5, BLOCK_N 64, fused; each step away costs.
double score(const Config& c) {
  return std::log(20 + 2 * std::abs(c.block_h - 5) + 3 * std::abs(c.block_n / 32 - 2) + 4 * (1 - c.fuse_combine));
}

/// Every proposal, answered at once; `batch` at a time.
std::vector<std::size_t> run(Search& search, const SearchSpace& space, std::size_t batch, std::size_t most = 1000) {
  std::vector<std::size_t> order;
  while (order.size() < most) {
    const auto proposed = search.propose(batch);
    if (proposed.empty()) break;
    for (const std::size_t index : proposed) search.tell(index, score(space.configs[index]));
    order.insert(order.end(), proposed.begin(), proposed.end());
  }
  return order;
}

double best_of(const SearchSpace& space, const std::vector<std::size_t>& tried) {
  double best = std::numeric_limits<double>::infinity();
  for (const std::size_t index : tried) best = std::min(best, score(space.configs[index]));
  return best;
}

TEST_CASE("every search tries each configuration exactly once in the end") {
  const SearchKind kind = GENERATE(SearchKind::exhaustive, SearchKind::random, SearchKind::greedy, SearchKind::guided);
  const std::size_t batch = GENERATE(1u, 4u, 100u);
  const SearchSpace space = grid();
  const auto search = make_search(kind, space, 1);
  auto order = run(*search, space, batch);
  std::sort(order.begin(), order.end());
  CHECK(order.size() == space.configs.size());
  CHECK(std::unique(order.begin(), order.end()) == order.end());
  CHECK(search->propose(1).empty());
}

TEST_CASE("what an earlier sweep told is not proposed again") {
  const SearchKind kind = GENERATE(SearchKind::exhaustive, SearchKind::random, SearchKind::greedy, SearchKind::guided);
  const SearchSpace space = grid();
  const auto search = make_search(kind, space, 1);
  for (std::size_t i = 0; i < 40; ++i) search->tell(i, score(space.configs[i]));
  const auto order = run(*search, space, 4);
  CHECK(order.size() == space.configs.size() - 40);
  CHECK(*std::min_element(order.begin(), order.end()) >= 40);
}

TEST_CASE("failures do not end a search") {
  const SearchKind kind = GENERATE(SearchKind::exhaustive, SearchKind::random, SearchKind::greedy, SearchKind::guided);
  const SearchSpace space = grid();
  const auto search = make_search(kind, space, 1);
  std::size_t count = 0;
  for (auto batch = search->propose(3); !batch.empty(); batch = search->propose(3))
    for (const std::size_t index : batch) search->tell(index, std::numeric_limits<double>::infinity()), ++count;
  CHECK(count == space.configs.size());
}

TEST_CASE("the seed decides, and nothing else") {
  const SearchKind kind = GENERATE(SearchKind::random, SearchKind::greedy, SearchKind::guided);
  const SearchSpace space = grid();
  const auto order = [&](unsigned seed) { return run(*make_search(kind, space, seed), space, 4); };
  CHECK(order(7) == order(7));
  CHECK(order(7) != order(8));
  const auto plain = run(*make_search(SearchKind::exhaustive, space, 7), space, 4);
  CHECK(std::is_sorted(plain.begin(), plain.end()));
}

TEST_CASE("neighbours differ in one axis by the next legal value") {
  SearchSpace space = grid();
  std::erase_if(space.configs, [](const Config& c) { return c.block_h == 3; });  // 2 and 4 are neighbours now
  const auto at = [&](int h, int n, int fuse) {
    for (std::size_t i = 0; i < space.configs.size(); ++i)
      if (space.configs[i].block_h == h && space.configs[i].block_n == n && space.configs[i].fuse_combine == fuse)
        return i;
    return std::size_t(-1);
  };
  const auto around = neighbours(space, at(2, 32, 0));
  CHECK(std::set(around.begin(), around.end()) == std::set{at(1, 32, 0), at(4, 32, 0), at(2, 64, 0), at(2, 32, 1)});
}

TEST_CASE("greedy and guided search find a plain optimum early, random does not") {
  const SearchSpace space = grid();
  const double best = score([] {
    Config c;
    c.block_h = 5, c.block_n = 64, c.fuse_combine = 1;
    return c;
  }());
  const auto found = [&](SearchKind kind, std::size_t most) {
    int count = 0;
    for (unsigned seed = 0; seed < 100; ++seed)
      count += best_of(space, run(*make_search(kind, space, seed), space, 4, most)) == best;
    return count;
  };
  CHECK(found(SearchKind::greedy, 24) >= 60);  // a third of the space
  CHECK(found(SearchKind::guided, 24) >= 90);
  CHECK(found(SearchKind::random, 24) <= 50);
}

TEST_CASE("a guess orders the first proposals, times overrule it") {
  SearchSpace space = grid();
  for (const Config& config : space.configs) space.guesses.push_back(score(config));
  CHECK(score(space.configs[make_search(SearchKind::guided, space, 1)->propose(1)[0]]) == std::log(20.0));
  for (double& guess : space.guesses) guess = -guess;  // the worst guess there is
  int found = 0;
  for (unsigned seed = 0; seed < 20; ++seed)
    found += best_of(space, run(*make_search(SearchKind::guided, space, seed), space, 4, 36)) == std::log(20.0);
  CHECK(found >= 15);  // half of the space
}

TEST_CASE("trials keep to a budget of variants, those known before included") {
  const SearchKind kind = GENERATE(SearchKind::exhaustive, SearchKind::random, SearchKind::greedy, SearchKind::guided);
  SearchOptions options{kind, 1, {10, 0}};
  Trials trials(options, grid());
  for (std::size_t i = 0; i < 3; ++i) trials.finished(i, 1.0);
  CHECK(trials.left_out() == 62);
  std::size_t count = 3;
  for (auto batch = trials.next_batch(); !batch.empty(); batch = trials.next_batch())
    for (const std::size_t index : batch) trials.finished(index, 2.0), ++count;
  CHECK(count == 10);
}

TEST_CASE("budgets and searches are read or refused with one line") {
  CHECK(parse_budget("").variants == 0);
  CHECK(parse_budget("30").variants == 30);
  CHECK(parse_budget("60s").seconds == 60);
  for (const char* text : {"0", "-3", "s", "6m", "1.5s", "60 s", "99999999999"})
    CHECK_THROWS_MATCHES(parse_budget(text), UsageError, MessageMatches(ContainsSubstring("--budget: '")));
  CHECK(parse_search("greedy") == SearchKind::greedy);
  CHECK_THROWS_MATCHES(parse_search("magic"), UsageError,
                       MessageMatches(ContainsSubstring("use exhaustive, random, greedy, guided")));
  CHECK(SearchOptions{SearchKind::guided, 3, {30, 0}}.text() == "guided, seed 3, budget 30");
  CHECK(SearchOptions{}.text() == "exhaustive");
}

}  // namespace
}  // namespace headtune
