#include "tuner/trials.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "tuner/error.h"

namespace headtune {
namespace {

/// Few, so that each batch learns from the last one; enough that the next variants compile while one is timed.
constexpr std::size_t learning_batch = 4;

}  // namespace

Budget parse_budget(const std::string& text) {
  if (text.empty()) return {};
  const bool seconds = text.back() == 's';
  int value = 0;
  const char* last = text.data() + text.size() - (seconds ? 1 : 0);
  const auto [end, error] = std::from_chars(text.data(), last, value);
  if (error != std::errc() || end != last || value < 1)
    throw UsageError(fmt::format("--budget: '{}' is neither variants such as 30 nor seconds such as 60s", text));
  return seconds ? Budget{0, static_cast<double>(value)} : Budget{value, 0};
}

std::string SearchOptions::text() const {
  std::string text = name(kind);
  if (kind != SearchKind::exhaustive) text += fmt::format(", seed {}", seed);
  if (budget.variants > 0) text += fmt::format(", budget {}", budget.variants);
  if (budget.seconds > 0) text += fmt::format(", budget {:g}s", budget.seconds);
  return text;
}

Trials::Trials(const SearchOptions& options, SearchSpace space)
    : options_(options), space_(std::move(space)), search_(make_search(options_.kind, space_, options_.seed)) {}

void Trials::finished(std::size_t index, double score) {
  search_->tell(index, score);
  ++tried_;
}

bool Trials::out_of_time() const {
  const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - start_;
  return options_.budget.seconds > 0 && passed.count() >= options_.budget.seconds;
}

std::size_t Trials::batch_size() const {
  const std::size_t wanted = search_->learns() ? learning_batch : space_.configs.size();
  if (options_.budget.variants == 0) return wanted;
  const auto bound = static_cast<std::size_t>(options_.budget.variants);
  return bound > tried_ ? std::min(wanted, bound - tried_) : 0;
}

std::vector<std::size_t> Trials::next_batch() {
  return out_of_time() ? std::vector<std::size_t>{} : search_->propose(batch_size());
}

int Trials::left_out() const {
  if (options_.budget.variants == 0) return 0;
  const std::size_t looked_at = std::max(tried_, static_cast<std::size_t>(options_.budget.variants));
  return static_cast<int>(space_.configs.size() - std::min(looked_at, space_.configs.size()));
}

}  // namespace headtune
