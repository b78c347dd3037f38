// The trials of one problem's sweep: a search within a budget, in batches that keep compilers and device busy.
#pragma once

#include <chrono>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "tuner/search.h"

namespace headtune {

/// How much of a space a sweep looks at, per problem. None given: all of it.
struct Budget {
  int variants = 0;    ///< tried in the end, those of earlier sweeps included; 0: no bound
  double seconds = 0;  ///< of this sweep, finalists' race apart; 0: no bound
};

/// "30" variants or "60s"; "": no bound. Throws UsageError.
Budget parse_budget(const std::string& text);

struct SearchOptions {
  SearchKind kind = SearchKind::exhaustive;
  unsigned seed = 1;
  Budget budget;

  /// "guided, seed 1, budget 30"; "exhaustive".
  std::string text() const;
};

class Trials {
 public:
  /// The clock of a budget in seconds starts here.
  Trials(const SearchOptions& options, SearchSpace space);
  Trials(const Trials&) = delete;  // the search refers to the space
  Trials& operator=(const Trials&) = delete;

  /// A configuration that an earlier sweep finished, or that one of this sweep's batch finished; score as
  /// Search::tell takes it.
  void finished(std::size_t index, double score);

  /// The next configurations to compile and run; empty when all are tried or the budget ends.
  std::vector<std::size_t> next_batch();

  /// Whether the seconds have passed.
  bool out_of_time() const;

  /// Configurations that this budget leaves alone as far as is known now.
  int left_out() const;

 private:
  std::size_t batch_size() const;

  SearchOptions options_;
  SearchSpace space_;
  std::unique_ptr<Search> search_;
  std::size_t tried_ = 0;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace headtune
