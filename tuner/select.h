// Chooses the configurations of one table cell from their times. Pure: no device, no database.
//
// Objective: the geometric mean over all points (context x batch) of time / best time at that point.
// Candidates that noise cannot tell apart tie; ties go to the incumbent, then to fewer registers, then to a fixed
// order, so that two runs over the same truth give the same table (sglang#35343).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "headtune/config.h"

namespace headtune {

/// One point at which every candidate of a cell should have been timed.
struct Point {
  int context = 0;  ///< keys of the prefix
  int batch = 0;

  friend bool operator==(const Point&, const Point&) = default;
  friend auto operator<=>(const Point&, const Point&) = default;
};

/// Median time at one point, with its confidence interval. Microseconds, or simulated microseconds.
struct PointTime {
  Point point;
  double median_us = 0;
  double low_us = 0;
  double high_us = 0;
  bool trusted = true;  ///< false: taken while the device still moved; it decides nothing
};

struct Candidate {
  Config config;
  int registers = 0;  ///< VGPR + AGPR (NVIDIA: registers per thread)
  std::vector<PointTime> times;
};

struct SelectOptions {
  double split_regret = 0.02;       ///< a context that loses more than this gets its own row
  std::optional<Config> incumbent;  ///< the present table's entry
};

/// How well one configuration does over a range of contexts.
struct Score {
  Config config;
  double ratio = 1;        ///< geometric mean of time / best time; 1 is the best possible
  double uncertainty = 0;  ///< half-width of the relative interval of `ratio`
  double max_regret = 0;   ///< worst context: its mean ratio over that of the context's own best configuration, minus 1
  int max_regret_context = 0;
};

/// The winner over [context_min, context_max].
struct Choice {
  int context_min = 0;
  int context_max = 0;
  Score winner;
  std::vector<Score> ranking;  ///< every complete candidate, best ratio first
  int tied = 0;                ///< candidates of `ranking` that noise cannot tell from its first
  std::string reason;          ///< "best", "tie: incumbent", "tie: fewer registers", "tie: order"
};

/// One choice, or several where a single configuration loses too much on a context. Empty when no candidate was timed
/// at every point of its context range. Candidates with an untrusted time are left out.
std::vector<Choice> select(const std::vector<Candidate>& candidates, const SelectOptions& options = {});

bool trusted(const Candidate& candidate);

/// Indices of the candidates worth timing again against each other: near the best overall or at one context. Untrusted
/// times keep nobody in or out of the race but themselves.
std::vector<std::size_t> finalists(const std::vector<Candidate>& candidates);

}  // namespace headtune
