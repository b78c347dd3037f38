// The options that say what is computed; shared by sweep, inspect, explain and bundle.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "headtune/config.h"

namespace headtune::cli {

struct ProblemOptions {
  std::string op = "verify_shared_kv";
  std::string head_dim = "64";
  int v_head_dim = 0;  ///< 0: as head_dim; 512 for 576
  std::string heads = "8/2";
  int extend_len = 7;
  bool causal = false;
  std::string dtype = "bf16";
  std::string kv_dtype;  ///< empty: as dtype
};

void add_problem_options(CLI::App& command, ProblemOptions& options);

/// One problem per head_dim of the list. Throws UsageError when the numbers make none.
std::vector<Problem> problems(const ProblemOptions& options);

/// The only problem; throws UsageError when --head-dim lists several.
Problem problem(const ProblemOptions& options);

/// "head_dim 64, 8/2 heads, L 7, non-causal, bf16".
std::string describe(const Problem& problem);

}  // namespace headtune::cli
