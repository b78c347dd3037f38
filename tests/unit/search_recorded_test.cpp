// Searches on recorded full sweeps (benchmarks/recorded): what `benchmarks/search_bench` prints, as bounds.
#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <filesystem>

#include "benchmarks/recorded.h"

namespace headtune {
namespace {

std::vector<RecordedSweep> recorded() {
  std::vector<RecordedSweep> sweeps;
  for (const auto& entry : std::filesystem::directory_iterator(HEADTUNE_RECORDED))
    if (entry.path().extension() == ".csv") sweeps.push_back(read_recorded(entry.path()));
  return sweeps;
}

/// Share of the optimum after 15 % of the space (at least one trial), median of 100 seeds.
double median_reached(const RecordedSweep& sweep, SearchKind kind) {
  std::vector<double> reached;
  for (unsigned seed = 0; seed < 100; ++seed) {
    const auto curve = replay_search(sweep, kind, seed);
    const auto trials = std::max<std::size_t>(1, static_cast<std::size_t>(0.15 * static_cast<double>(curve.size())));
    reached.push_back(curve[trials - 1]);
  }
  std::sort(reached.begin(), reached.end());
  return reached[reached.size() / 2];
}

TEST_CASE("every search finds the optimum of a recorded sweep in the end") {
  for (const RecordedSweep& sweep : recorded())
    for (const SearchKind kind : {SearchKind::exhaustive, SearchKind::random, SearchKind::greedy, SearchKind::guided}) {
      const auto curve = replay_search(sweep, kind, 3);
      CHECK(curve.size() == sweep.scores.size());
      CHECK(curve.back() == 1);
    }
}

TEST_CASE("guided search reaches 98 % of the best within 15 % of every recorded space") {
  const auto sweeps = recorded();
  CHECK(sweeps.size() >= 22);
  for (const RecordedSweep& sweep : sweeps) {
    INFO(sweep.name);
    CHECK(median_reached(sweep, SearchKind::guided) >= 0.98);
  }
}

TEST_CASE("without its guess guided search does not") {
  int missed = 0;
  for (RecordedSweep sweep : recorded()) {
    sweep.space.guesses.clear();
    missed += median_reached(sweep, SearchKind::guided) < 0.98;
  }
  CHECK(missed > 10);
}

}  // namespace
}  // namespace headtune
