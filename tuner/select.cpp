#include "tuner/select.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <tuple>

namespace headtune {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// The fixed order of configurations: by knob, as config.h lists them.
std::vector<int> order_key(const Config& config) {
  std::vector<int> values;
  for (const Knob& knob : knobs) values.push_back(config.*knob.member);
  return values;
}

/// Natural logarithms of time / best time, and relative half-widths of the intervals, by point.
struct Ratios {
  const Candidate* candidate = nullptr;
  std::map<Point, double> log_ratio;
  std::map<Point, double> half_width;
};

/// Of the trusted candidates; of all where none is trusted.
std::map<Point, double> best_times(const std::vector<Candidate>& candidates) {
  const bool any = std::any_of(candidates.begin(), candidates.end(), [](const Candidate& c) { return trusted(c); });
  std::map<Point, double> best;
  for (const Candidate& candidate : candidates)
    for (const PointTime& time : candidate.times) {
      if (any && !trusted(candidate)) continue;
      auto [entry, fresh] = best.emplace(time.point, time.median_us);
      if (!fresh) entry->second = std::min(entry->second, time.median_us);
    }
  return best;
}

std::vector<Ratios> ratios_of(const std::vector<Candidate>& candidates) {
  const auto best = best_times(candidates);
  std::vector<Ratios> all;
  for (const Candidate& candidate : candidates) {
    Ratios ratios{&candidate, {}, {}};
    for (const PointTime& time : candidate.times) {
      if (best.count(time.point) == 0) continue;  // only untrusted candidates were timed there
      ratios.log_ratio[time.point] = std::log(time.median_us / best.at(time.point));
      ratios.half_width[time.point] = (time.high_us - time.low_us) / 2 / time.median_us;
    }
    all.push_back(std::move(ratios));
  }
  return all;
}

/// A range of contexts and the points in it.
struct Segment {
  std::vector<int> contexts;
  std::vector<Point> points;
};

Segment segment_of(const std::set<Point>& points, const std::vector<int>& contexts) {
  Segment segment{contexts, {}};
  for (const Point& point : points)
    if (std::find(contexts.begin(), contexts.end(), point.context) != contexts.end()) segment.points.push_back(point);
  return segment;
}

bool complete(const Ratios& ratios, const Segment& segment) {
  return std::all_of(segment.points.begin(), segment.points.end(),
                     [&](const Point& point) { return ratios.log_ratio.count(point) != 0; });
}

/// Mean log ratio over the points of one context (0: all of the segment).
double mean_log(const Ratios& ratios, const Segment& segment, int context) {
  double sum = 0;
  int count = 0;
  for (const Point& point : segment.points)
    if (context == 0 || point.context == context) sum += ratios.log_ratio.at(point), ++count;
  return sum / count;
}

/// Points are independent, so the half-width of the mean shrinks with the root of their number.
double mean_half_width(const Ratios& ratios, const Segment& segment) {
  double squares = 0;
  for (const Point& point : segment.points) squares += std::pow(ratios.half_width.at(point), 2);
  return std::sqrt(squares) / static_cast<double>(segment.points.size());
}

double best_mean_log(const std::vector<Ratios>& all, const Segment& segment, int context) {
  const Segment own = segment_of({segment.points.begin(), segment.points.end()}, {context});
  double best = infinity;
  for (const Ratios& ratios : all)
    if (complete(ratios, own)) best = std::min(best, mean_log(ratios, own, context));
  return best;
}

Score score_of(const Ratios& ratios, const Segment& segment, const std::map<int, double>& best_by_context) {
  Score score{ratios.candidate->config, std::exp(mean_log(ratios, segment, 0)), mean_half_width(ratios, segment), -1,
              0};
  for (int context : segment.contexts) {
    const double regret = std::exp(mean_log(ratios, segment, context) - best_by_context.at(context)) - 1;
    if (regret > score.max_regret) score.max_regret = regret, score.max_regret_context = context;
  }
  return score;
}

bool ties(const Score& a, const Score& best) {
  return std::log(a.ratio / best.ratio) <= std::hypot(a.uncertainty, best.uncertainty) + 1e-12;
}

/// The scores of every complete candidate, best first; equal ones in the fixed order.
std::vector<std::pair<Score, int>> rank(const std::vector<Ratios>& all, const Segment& segment) {
  std::map<int, double> best_by_context;
  for (int context : segment.contexts) best_by_context[context] = best_mean_log(all, segment, context);
  std::vector<std::pair<Score, int>> ranking;
  for (const Ratios& ratios : all)
    if (complete(ratios, segment))
      ranking.emplace_back(score_of(ratios, segment, best_by_context), ratios.candidate->registers);
  std::sort(ranking.begin(), ranking.end(), [](const auto& a, const auto& b) {
    return std::tuple(a.first.ratio, order_key(a.first.config)) < std::tuple(b.first.ratio, order_key(b.first.config));
  });
  return ranking;
}

using Ranking = std::vector<std::pair<Score, int>>;

/// Index into the tied head of the ranking, and why.
std::pair<std::size_t, std::string> break_tie(const Ranking& ranking, std::size_t tied,
                                              const std::optional<Config>& incumbent) {
  if (tied == 1) return {0, "best"};
  for (std::size_t i = 0; i < tied; ++i)
    if (incumbent && ranking[i].first.config == *incumbent) return {i, "tie: incumbent"};
  const auto key = [&](std::size_t i) { return std::tuple(ranking[i].second, order_key(ranking[i].first.config)); };
  std::size_t least = 0;
  for (std::size_t i = 1; i < tied; ++i)
    if (key(i) < key(least)) least = i;
  const auto as_few = std::count_if(ranking.begin(), ranking.begin() + static_cast<std::ptrdiff_t>(tied),
                                    [&](const auto& entry) { return entry.second == ranking[least].second; });
  return {least, as_few > 1 ? "tie: order" : "tie: fewer registers"};
}

std::optional<Choice> choose(const std::vector<Ratios>& all, const Segment& segment,
                             const std::optional<Config>& incumbent) {
  const auto ranking = rank(all, segment);
  if (ranking.empty()) return std::nullopt;
  std::size_t tied = 0;
  while (tied < ranking.size() && ties(ranking[tied].first, ranking[0].first)) ++tied;
  const auto [winner, reason] = break_tie(ranking, tied, incumbent);
  Choice choice{
      segment.contexts.front(), segment.contexts.back(), ranking[winner].first, {}, static_cast<int>(tied), reason};
  for (const auto& entry : ranking) choice.ranking.push_back(entry.first);
  return choice;
}

/// The cheapest way to cut contexts [0, end) into rows: fewest rows that all keep the regret bound, then the least
/// summed objective.
struct Cut {
  int rows = std::numeric_limits<int>::max();
  double objective = infinity;
  std::vector<Choice> choices;
};

bool better(const Cut& a, const Cut& b) { return std::tie(a.rows, a.objective) < std::tie(b.rows, b.objective); }

std::optional<Cut> extend(const Cut& head, const std::optional<Choice>& tail, std::size_t contexts, double bound) {
  if (head.rows == std::numeric_limits<int>::max() || !tail) return std::nullopt;
  const bool within = tail->winner.max_regret <= bound + tail->winner.uncertainty;
  if (!within && contexts > 1) return std::nullopt;
  Cut cut{head.rows + 1, head.objective + std::log(tail->winner.ratio) * static_cast<double>(contexts), head.choices};
  cut.choices.push_back(*tail);
  return cut;
}

}  // namespace

bool trusted(const Candidate& candidate) {
  return std::all_of(candidate.times.begin(), candidate.times.end(), [](const PointTime& t) { return t.trusted; });
}

std::vector<Choice> select(const std::vector<Candidate>& all_candidates, const SelectOptions& options) {
  std::vector<Candidate> candidates;
  std::copy_if(all_candidates.begin(), all_candidates.end(), std::back_inserter(candidates), trusted);
  const auto all = ratios_of(candidates);
  std::set<Point> points;
  std::set<int> context_set;
  for (const Candidate& candidate : candidates)
    for (const PointTime& time : candidate.times) points.insert(time.point), context_set.insert(time.point.context);
  const std::vector<int> contexts(context_set.begin(), context_set.end());

  std::vector<Cut> best(contexts.size() + 1);
  best[0] = {0, 0, {}};
  for (std::size_t end = 1; end <= contexts.size(); ++end)
    for (std::size_t begin = 0; begin < end; ++begin) {
      const Segment segment = segment_of(points, {contexts.begin() + static_cast<std::ptrdiff_t>(begin),
                                                  contexts.begin() + static_cast<std::ptrdiff_t>(end)});
      const auto cut = extend(best[begin], choose(all, segment, options.incumbent), end - begin, options.split_regret);
      if (cut && better(*cut, best[end])) best[end] = *cut;
    }
  return best.back().choices;
}

namespace {

/// Mean log ratio, the fixed order, index.
using Standing = std::tuple<double, std::vector<int>, std::size_t>;

/// Of the candidates that were timed at every point of the segment, best first.
std::vector<Standing> standings(const std::vector<Ratios>& all, const Segment& segment, bool of_trusted) {
  std::vector<Standing> sorted;
  for (std::size_t i = 0; i < all.size(); ++i)
    if (trusted(*all[i].candidate) == of_trusted && complete(all[i], segment))
      sorted.emplace_back(mean_log(all[i], segment, 0), order_key(all[i].candidate->config), i);
  std::sort(sorted.begin(), sorted.end());
  return sorted;
}

}  // namespace

std::vector<std::size_t> finalists(const std::vector<Candidate>& candidates) {
  // Screening sees the clock ramp and few samples: 10 % covers both. Eight keep an interleaved race short.
  constexpr double near = 1.10, near_at_one_context = 1.05;
  constexpr std::size_t most = 8, most_at_one_context = 2;
  const auto all = ratios_of(candidates);
  std::set<Point> points;
  std::set<int> contexts;
  for (const Ratios& ratios : all)
    for (const auto& [point, ratio] : ratios.log_ratio) points.insert(point), contexts.insert(point.context);

  std::set<std::size_t> chosen;
  const auto take = [&](const std::vector<int>& range, double limit, std::size_t count) {
    const Segment segment = segment_of(points, range);
    double best = infinity;  // the trusted come first and say what is near
    for (const bool of_trusted : {true, false}) {
      const auto sorted = standings(all, segment, of_trusted);
      if (best == infinity && !sorted.empty()) best = std::get<0>(sorted[0]);
      for (std::size_t i = 0; i < std::min(count, sorted.size()); ++i)
        if (std::get<0>(sorted[i]) <= best + std::log(limit)) chosen.insert(std::get<2>(sorted[i]));
    }
  };
  if (!points.empty()) take({contexts.begin(), contexts.end()}, near, most);
  for (const int context : contexts) take({context}, near_at_one_context, most_at_one_context);
  return {chosen.begin(), chosen.end()};
}

}  // namespace headtune
