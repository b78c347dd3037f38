#pragma once

#include "headtune/config.h"

namespace headtune {

/// Whether two problems are the same in every field.
constexpr bool same_problem(const Problem& a, const Problem& b) {
  return a.head_dim == b.head_dim && a.v_head_dim == b.v_head_dim && a.num_q_heads == b.num_q_heads &&
         a.num_kv_heads == b.num_kv_heads && a.extend_len == b.extend_len && a.is_causal == b.is_causal &&
         a.dtype == b.dtype && a.kv_dtype == b.kv_dtype;
}

}  // namespace headtune
