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

/// One long request, many splits, the last one a single key; scores keep rising so that the last split weighs most.
Case long_last_split(const Problem&, int extend_len) {
  Case result = ragged_case("last split", {4097}, extend_len);
  result.values.key_growth = 3;
  result.layout.page = 16;
  return result;
}

Case strided(int extend_len) {
  Case result = ragged_case("strided", {1100, 97, 300}, extend_len);
  result.layout.row_padding = 32;
  result.layout.duplicates = true;
  result.k_scale = 0.75f;
  result.v_scale = 1.5f;
  result.planned_context = 16384;  // most splits stay empty
  result.values.score_std = 3;
  return result;
}

}  // namespace

std::vector<Case> quick_cases(const Problem& problem) {
  std::vector<Case> cases = {ragged(problem), long_last_split(problem, problem.extend_len),
                             strided(problem.extend_len)};
  for (std::size_t i = 0; i < cases.size(); ++i) cases[i].seed = 100 + i;
  return cases;
}

}  // namespace headtune
