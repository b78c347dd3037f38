// What guided search believes of configurations that were not tried:
//
//   log time = constant + slope * guess + one effect per value of each axis
//
// Guesses (search_guess.h) rank before anything is known. Effects correct them as times come in; each is pulled to zero
// as if one more time had shown none, so that a single lucky time does not rule. Additive on purpose: a handful of
// times cannot support more, and it is plain what was learnt.
#pragma once

#include <cstddef>
#include <vector>

#include "tuner/search.h"

namespace headtune {

class SearchModel {
 public:
  explicit SearchModel(const SearchSpace& space);

  /// `scores`: NaN where not told, infinity where failed.
  void fit(const std::vector<double>& scores);

  /// Lower is better: the expected log time, less what trying values seldom tried may teach.
  double promise(std::size_t index) const;

  /// A trial is under way: its values will have been tried once more.
  void expect(std::size_t index);

 private:
  double guess(std::size_t index) const { return guesses_.empty() ? 0 : guesses_[index]; }
  double expected(std::size_t index) const;

  std::vector<double> guesses_;                   ///< less their mean
  std::vector<std::vector<std::size_t>> values_;  ///< configuration, axis -> which of all axes' values
  std::vector<int> trials_;                       ///< by value
  std::vector<double> weights_;                   ///< constant, slope less 1, then effects by value
  double spread_ = 0;                             ///< of log times around what is expected
};

}  // namespace headtune
