// Shows how a sweep advances: one line that rewrites itself on a terminal, plain lines otherwise, nothing with --json.
#pragma once

#include <chrono>
#include <string>

#include "tuner/sweep.h"

namespace headtune::cli {

class Progress final : public SweepObserver {
 public:
  explicit Progress(bool quiet);
  ~Progress() override;

  /// Starts the next problem: "[2/4] head_dim 128, ...".
  void begin(const std::string& title);
  void step(const SweepCounts& counts, const std::string& what) override;
  /// Ends the line of the problem.
  void end();

 private:
  std::string line(const SweepCounts& counts, const std::string& what) const;

  bool quiet_, terminal_;
  std::string title_;
  SweepCounts last_;
  std::chrono::steady_clock::time_point start_, shown_;
};

/// "12 of 96: 20 pruned, 4 known, 30 compiled, 8 verified, 8 timed, 1 failed".
std::string counts_text(const SweepCounts& counts);

}  // namespace headtune::cli
