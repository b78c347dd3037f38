// How far a kernel's output may lie from float64, from dtypes and accumulation length alone.
#pragma once

#include "headtune/config.h"

namespace headtune {

struct Tolerance {
  double output_roundoff;  ///< half spacing at 1 of the output type
  double weight_roundoff;  ///< of the type that the second product multiplies the weights in
  double sum_roundoff;     ///< of float32 sums over the longest row
};

/// `keys` is the longest row of the softmax.
Tolerance tolerance(const Problem& problem, int keys);

/// Bound on |out - ref| of one element. `spread` is sqrt(sum of (p v)^2): independent rounding errors of the weights
/// add in squares, so a fixed multiple of the spread covers them at any length.
double element_bound(const Tolerance& tolerance, double reference, double spread);

/// Bound on |out - ref|_2 / |ref|_2 over a whole output; 5e-3 for bf16.
double relative_l2_bound(const Tolerance& tolerance);

}  // namespace headtune
