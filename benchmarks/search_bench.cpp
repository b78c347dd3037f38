// Share of the optimum that each search reaches against the share of the space that it tried, on recorded full sweeps;
// median of 100 seeds.
//
//     search_bench benchmarks/recorded/*.csv
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <exception>
#include <map>
#include <span>

#include "benchmarks/recorded.h"

using namespace headtune;

namespace {

constexpr int seeds = 100;
constexpr double shares[] = {0.05, 0.10, 0.15, 0.20, 0.30, 0.50};
constexpr double good = 0.98, small_share = 0.15;  ///< the aim: that good with that share of the space
constexpr SearchKind kinds[] = {SearchKind::exhaustive, SearchKind::random, SearchKind::greedy, SearchKind::guided};

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

/// Trials that a share of the space allows, at least one.
std::size_t trials_of(double share, std::size_t space) {
  return std::max<std::size_t>(1, static_cast<std::size_t>(share * static_cast<double>(space)));
}

double median_reached(const std::vector<std::vector<double>>& curves, double share) {
  std::vector<double> reached;
  for (const auto& curve : curves) reached.push_back(curve[trials_of(share, curve.size()) - 1]);
  return median(reached);
}

/// Whether it meets the aim.
bool print_search(const RecordedSweep& sweep, SearchKind kind) {
  std::vector<std::vector<double>> curves;
  for (unsigned seed = 0; seed < seeds; ++seed) curves.push_back(replay_search(sweep, kind, seed));
  std::string line = fmt::format("  {:<11}", name(kind));
  for (const double share : shares) line += fmt::format(" {:>7.1f}", 100 * median_reached(curves, share));
  std::vector<double> needed;
  for (const auto& curve : curves)
    needed.push_back(static_cast<double>(
        1 + std::count_if(curve.begin(), curve.end(), [](double reached) { return reached < good; })));
  const double size = static_cast<double>(sweep.scores.size());
  fmt::print("{}   {:>5.0f} ({:.0f} %)\n", line, median(needed), 100 * median(needed) / size);
  return median_reached(curves, small_share) >= good;
}

void print_heading(const RecordedSweep& sweep) {
  const auto [best, worst] = std::minmax_element(sweep.scores.begin(), sweep.scores.end());
  fmt::print("{}: {} configurations at {} shapes, the worst {:.1f} times the best; {} within 2 %\n  share tried",
             sweep.name, sweep.scores.size(), sweep.shapes.size(), std::exp(*worst - *best),
             std::count_if(sweep.scores.begin(), sweep.scores.end(),
                           [&, least = *best](double s) { return std::exp(least - s) >= good; }));
  for (const double share : shares) fmt::print(" {:>5.0f} %", 100 * share);
  fmt::print("   trials to {:.0f} %\n", 100 * good);
}

void print_sweeps(std::span<char*> files) {
  std::map<SearchKind, int> reached;
  for (const char* file : files) {
    const RecordedSweep sweep = read_recorded(file);
    print_heading(sweep);
    for (const SearchKind kind : kinds) reached[kind] += print_search(sweep, kind);
  }
  for (const SearchKind kind : kinds)
    fmt::print("{}: {:.0f} % with {:.0f} % of the space (at least one trial) in {} of {} sweeps\n", name(kind),
               100 * good, 100 * small_share, reached[kind], files.size());
}

}  // namespace

int main(int argc, char** argv) {
  try {
    print_sweeps(std::span(argv, static_cast<std::size_t>(argc)).subspan(1));
  } catch (const std::exception& error) {
    fmt::print(stderr, "search_bench: {}\n", error.what());
    return 2;
  }
  return argc > 1 ? 0 : 2;
}
