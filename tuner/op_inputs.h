// Deterministic random inputs of the attention operators in host memory: every value is rounded through its storage
// type, everything that no kernel may read is NaN.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "headtune/config.h"
#include "tuner/op_case.h"

namespace headtune {

/// [rows][heads][dim] with padding; strides in elements.
struct Tensor {
  DType type = DType::bf16;
  long long rows = 0;  ///< tokens or pool slots
  int heads = 0;
  int dim = 0;
  long long stride_row = 0, stride_head = 0;
  std::vector<std::byte> bytes;

  long long offset(long long row, int head) const { return row * stride_row + head * stride_head; }
};

struct Inputs {
  Problem problem;
  Case shape;
  float sm_scale = 0;
  Tensor q, k_extend, v_extend;
  Tensor k_cache, v_cache;                ///< MLA: v_cache has no bytes of its own, V is the first part of the K row
  Tensor out;                             ///< shape and strides only
  std::vector<int> qo_indptr, kv_indptr;  ///< [batch + 1]
  std::vector<long long> kv_indices;      ///< [prefix keys] pool slots

  /// The tensor that prefix values are read from.
  const Tensor& values() const { return problem.is_mla() ? k_cache : v_cache; }
};

/// Throws UsageError when the case does not fit the problem.
Inputs make_inputs(const Problem& problem, const Case& shape);

}  // namespace headtune
