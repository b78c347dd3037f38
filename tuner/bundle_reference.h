// The float64 statement of what stage 1 leaves in the workspace.
#pragma once

#include <vector>

#include "tuner/op_inputs.h"

namespace headtune {

/// Laid out as the workspace; NaN where nothing is written (empty splits, new tokens that a request does not have).
struct PrefixPartials {
  std::vector<float> out;  ///< [batch][num_splits][num_q_heads][extend_len][v_head_dim], normalised within the split
  std::vector<float> lse;  ///< [batch][num_splits][num_q_heads][extend_len], natural log
};

/// Splits are cut as on the device, from num_splits, min_keys_per_split and BLOCK_N. Threaded.
PrefixPartials prefix_partials(const Inputs& inputs, int num_splits, int min_keys_per_split, int block_n);

}  // namespace headtune
