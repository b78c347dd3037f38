// Searches on recorded full sweeps of a simulated MI355X and an H200: what `benchmarks/search_bench` prints, as bounds.
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

double median_reached(const RecordedSweep& sweep, SearchKind kind, double share) {
  std::vector<double> reached;
  for (unsigned seed = 0; seed < 21; ++seed) {
    const auto curve = replay_search(sweep, kind, seed);
    const auto trials = std::max<std::size_t>(1, static_cast<std::size_t>(share * static_cast<double>(curve.size())));
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

TEST_CASE("guided search reaches 98 % of the best within 15 % of a space of more than 50 configurations") {
  int judged = 0;
  for (const RecordedSweep& sweep : recorded()) {
    if (sweep.scores.size() <= 50) continue;
    INFO(sweep.name);
    CHECK(median_reached(sweep, SearchKind::guided, 0.15) >= 0.98);
    ++judged;
  }
  CHECK(judged >= 2);
}

}  // namespace
}  // namespace headtune
