// Share of the optimum that each search reaches against the share of the space that it tried, on recorded full sweeps;
// median of 100 seeds.
//
//     search_bench benchmarks/recorded/*.csv
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <exception>

#include "benchmarks/recorded.h"

using namespace headtune;

namespace {

constexpr int seeds = 100;
constexpr double shares[] = {0.05, 0.10, 0.15, 0.20, 0.30, 0.50};
constexpr double good = 0.98;

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

/// Trials that a share of the space allows, at least one.
std::size_t trials_of(double share, std::size_t space) {
  return std::max<std::size_t>(1, static_cast<std::size_t>(share * static_cast<double>(space)));
}

void print_search(const RecordedSweep& sweep, SearchKind kind) {
  std::vector<std::vector<double>> curves;
  for (unsigned seed = 0; seed < seeds; ++seed) curves.push_back(replay_search(sweep, kind, seed));
  std::string line = fmt::format("  {:<11}", name(kind));
  for (const double share : shares) {
    std::vector<double> reached;
    for (const auto& curve : curves) reached.push_back(curve[trials_of(share, curve.size()) - 1]);
    line += fmt::format(" {:>7.1f}", 100 * median(reached));
  }
  std::vector<double> needed;
  for (const auto& curve : curves)
    needed.push_back(static_cast<double>(
        1 + std::count_if(curve.begin(), curve.end(), [](double reached) { return reached < good; })));
  const double size = static_cast<double>(sweep.scores.size());
  fmt::print("{}   {:>5.0f} ({:.0f} %)\n", line, median(needed), 100 * median(needed) / size);
}

void print_sweep(const RecordedSweep& sweep) {
  const auto [best, worst] = std::minmax_element(sweep.scores.begin(), sweep.scores.end());
  fmt::print("{}: {} configurations at {} shapes, the worst {:.1f} times the best; {} within 2 %\n  share tried",
             sweep.name, sweep.scores.size(), sweep.shapes.size(), std::exp(*worst - *best),
             std::count_if(sweep.scores.begin(), sweep.scores.end(),
                           [&, least = *best](double s) { return std::exp(least - s) >= good; }));
  for (const double share : shares) fmt::print(" {:>5.0f} %", 100 * share);
  fmt::print("   trials to {:.0f} %\n", 100 * good);
  for (const SearchKind kind : {SearchKind::exhaustive, SearchKind::random, SearchKind::greedy, SearchKind::guided})
    print_search(sweep, kind);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    for (int i = 1; i < argc; ++i) print_sweep(read_recorded(argv[i]));
  } catch (const std::exception& error) {
    fmt::print(stderr, "search_bench: {}\n", error.what());
    return 2;
  }
  return argc > 1 ? 0 : 2;
}
