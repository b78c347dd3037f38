#include "tuner/verify.h"

namespace headtune {
namespace {

/// Lengths around every BLOCK_N in use, empty requests, a padded graph row and short extend lengths in one batch.
Case ragged(const Problem& problem) {
  Case result = ragged_case("ragged", {0, 1, 63, 64, 65, 0, 127, 128, 129, 255, 257, 513, 40}, problem.extend_len);
  result.extend_lens[3] = 1;
  result.extend_lens[9] = (problem.extend_len + 1) / 2;
  result.extend_lens.back() = 0;
  return result;
}

/// One long request, many splits, the last one a single key. All keys weigh about the same, so that each is visible.
Case long_last_split(int extend_len) {
  Case result = ragged_case("last split", {4097}, extend_len);
  result.layout.page = 16;
  return result;
}

/// Padded rows, shared slots, scales, a running maximum that keeps rising, and splits that mostly stay empty.
Case strided(int extend_len) {
  Case result = ragged_case("strided", {1100, 97, 300}, extend_len);
  result.layout.row_padding = 32;
  result.layout.duplicates = true;
  result.values = {.score_std = 2, .key_growth = 3};
  result.k_scale = 0.75f;
  result.v_scale = 1.5f;
  result.planned_context = 16384;
  return result;
}

}  // namespace

std::vector<Case> quick_cases(const Problem& problem) {
  std::vector<Case> cases = {ragged(problem), long_last_split(problem.extend_len), strided(problem.extend_len)};
  for (std::size_t i = 0; i < cases.size(); ++i) cases[i].seed = 100 + i;
  return cases;
}

}  // namespace headtune
