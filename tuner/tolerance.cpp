#include "tuner/tolerance.h"

#include <cmath>

#include "tuner/dtype.h"

namespace headtune {
namespace {

constexpr double float_roundoff = 0x1p-24;

// Rounding errors are about uniform in +-roundoff: standard deviation 0.58, and 0.4 averaged over a binade. Six times
// the weights' deviation, so that no right element of 1e8 fails.
constexpr double weight_margin = 2.5;

// Two independent roundings (weights, output) of 0.4 each give 0.57; the rest is margin. 5e-3 for bf16.
constexpr double l2_margin = 1.27;

}  // namespace

Tolerance tolerance(const Problem& problem, int keys) {
  return {unit_roundoff(problem.dtype), unit_roundoff(problem.dtype), float_roundoff * std::sqrt(1.0 + keys)};
}

double element_bound(const Tolerance& t, double reference, double spread) {
  // exp2, sums and the merge of splits work in float32: a few dozen roundings beside those over the keys.
  const double float_error = 32 * float_roundoff + 4 * t.sum_roundoff;
  return t.output_roundoff * std::fabs(reference) + (weight_margin * t.weight_roundoff + float_error) * spread + 1e-30;
}

double relative_l2_bound(const Tolerance& t) { return l2_margin * t.output_roundoff + 4 * t.sum_roundoff; }

}  // namespace headtune
