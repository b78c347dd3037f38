// The float64 statement of what the attention operators compute, on the CPU.
#pragma once

#include <vector>

#include "tuner/op_inputs.h"

namespace headtune {

/// One entry per output row (token, query head); rows are [total_tokens][num_q_heads].
struct Reference {
  std::vector<double> out;  ///< [row][v_head_dim]
  std::vector<double>
      spread;               ///< [row][v_head_dim] sqrt(sum of (p_t v_t)^2): how far rounding every p moves the output
  std::vector<double> lse;  ///< [row] natural log of the sum of exp(score); -inf when every score is
  std::vector<int> keys;    ///< [row] keys that the row attends to
};

/// Threaded; about 1e9 products a second and core.
Reference reference(const Inputs& inputs);

}  // namespace headtune
