#include "tuner/search_model.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

namespace headtune {
namespace {

/// Ridge of an effect: as if one more time had shown none.
constexpr double effect_doubt = 1;
/// Ridge of the slope, in squares of log time: a few times that contradict the guess outweigh it.
constexpr double slope_doubt = 0.05;
/// How far log times lie off the guess before anything is known: guesses are right within a tenth or so.
constexpr double first_spread = 0.1;
/// Weight of curiosity against expectation.
constexpr double curiosity = 0.3;

int value_of(const Config& config, const std::string& axis) {
  for (const Knob& knob : knobs)
    if (axis == knob.name) return config.*knob.member;
  return 0;
}

/// Solves a x = b for a symmetric positive definite `a`, by elimination.
std::vector<double> solve(std::vector<std::vector<double>> a, std::vector<double> b) {
  const std::size_t n = b.size();
  for (std::size_t pivot = 0; pivot < n; ++pivot)
    for (std::size_t row = pivot + 1; row < n; ++row) {
      const double factor = a[row][pivot] / a[pivot][pivot];
      if (factor == 0) continue;
      for (std::size_t column = pivot; column < n; ++column) a[row][column] -= factor * a[pivot][column];
      b[row] -= factor * b[pivot];
    }
  for (std::size_t row = n; row-- > 0;) {
    for (std::size_t column = row + 1; column < n; ++column) b[row] -= a[row][column] * b[column];
    b[row] /= a[row][row];
  }
  return b;
}

}  // namespace

SearchModel::SearchModel(const SearchSpace& space)
    : guesses_(space.guesses), values_(space.configs.size()), spread_(first_spread) {
  const double mean = std::accumulate(guesses_.begin(), guesses_.end(), 0.0) / std::max(1.0, double(guesses_.size()));
  for (double& guess : guesses_) guess -= mean;
  std::size_t count = 0;
  for (const std::string& axis : space.axes) {
    std::map<int, std::size_t> numbers;
    for (const Config& config : space.configs) numbers.emplace(value_of(config, axis), 0);
    if (numbers.size() < 2) continue;  // teaches nothing
    for (auto& [value, number] : numbers) number = count++;
    for (std::size_t i = 0; i < values_.size(); ++i) values_[i].push_back(numbers.at(value_of(space.configs[i], axis)));
  }
  trials_.assign(count, 0);
  weights_.assign(2 + count, 0.0);
}

double SearchModel::expected(std::size_t index) const {
  double sum = weights_[0] + std::max(0.0, 1 + weights_[1]) * guess(index);
  for (const std::size_t value : values_[index]) sum += weights_[2 + value];
  return sum;
}

double SearchModel::promise(std::size_t index) const {
  double doubts = 0;
  for (const std::size_t value : values_[index]) doubts += 1.0 / (1 + trials_[value]);
  return expected(index) - curiosity * spread_ * std::sqrt(doubts);
}

void SearchModel::expect(std::size_t index) {
  for (const std::size_t value : values_[index]) ++trials_[value];
}

void SearchModel::fit(const std::vector<double>& scores) {
  std::fill(trials_.begin(), trials_.end(), 0);
  std::vector<std::vector<double>> a(weights_.size(), std::vector<double>(weights_.size(), 0.0));
  std::vector<double> b(weights_.size(), 0.0);
  for (std::size_t i = 0; i < a.size(); ++i) a[i][i] = i == 0 ? 1e-6 : i == 1 ? slope_doubt : effect_doubt;
  std::vector<std::size_t> known;
  for (std::size_t i = 0; i < scores.size(); ++i) {
    if (!std::isnan(scores[i])) expect(i);
    if (!std::isfinite(scores[i])) continue;
    known.push_back(i);
    std::vector<std::pair<std::size_t, double>> terms = {{0, 1.0}, {1, guess(i)}};
    for (const std::size_t value : values_[i]) terms.emplace_back(2 + value, 1.0);
    for (const auto& [row, x] : terms) {
      for (const auto& [column, y] : terms) a[row][column] += x * y;
      b[row] += x * (scores[i] - guess(i));
    }
  }
  weights_ = solve(std::move(a), std::move(b));
  double squares = first_spread * first_spread;
  for (const std::size_t i : known) squares += std::pow(scores[i] - expected(i), 2);
  spread_ = std::sqrt(squares / static_cast<double>(known.size() + 1));
}

}  // namespace headtune
