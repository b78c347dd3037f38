// The run-time arguments of verify_shared_kv, one struct for both stages, passed by value as the only kernel argument.
#pragma once

namespace headtune {

/// Strides count elements of the tensor's own type. Rows (the last dimension) are contiguous and 16-byte aligned.
struct VerifyParams {
  const void* q;        ///< [total_tokens][num_q_heads][head_dim], dtype
  const void* k_extend; ///< [total_tokens][num_kv_heads][head_dim], dtype: the new tokens, unscaled
  const void* v_extend; ///< [total_tokens][num_kv_heads][v_head_dim], dtype
  const void* k_cache;  ///< [pool_slots][num_kv_heads][head_dim], kv_dtype
  const void* v_cache;  ///< [pool_slots][num_kv_heads][v_head_dim], kv_dtype; MLA: the same pointer as k_cache
  void* out;            ///< [total_tokens][num_q_heads][v_head_dim], dtype

  const int* qo_indptr;    ///< [batch + 1] first new token of each request; a padded graph row has length 0
  const int* kv_indptr;    ///< [batch + 1] first entry of each request in kv_indices
  const void* kv_indices;  ///< pool slot of each prefix key; int32 or int64 by Variant::INDEX_BITS

  /// Workspace. Partials are normalised within their split; an empty split is neither written nor read.
  float* partial_out;     ///< [batch][num_splits][num_q_heads][EXTEND_LEN][v_head_dim]
  float* partial_lse;     ///< [batch][num_splits][num_q_heads][EXTEND_LEN], natural log
  unsigned* split_done;   ///< [batch][head blocks] zero before the first launch, zero again after each (fused combine)

  long long q_stride_token, q_stride_head;
  long long k_extend_stride_token, k_extend_stride_head;
  long long v_extend_stride_token, v_extend_stride_head;
  long long k_cache_stride_slot, k_cache_stride_head;
  long long v_cache_stride_slot, v_cache_stride_head;
  long long out_stride_token, out_stride_head;

  int batch;
  int num_splits;          ///< grid size in the split dimension, from static shapes only
  int min_keys_per_split;  ///< requests shorter than num_splits * this use fewer splits; multiple of BLOCK_N
  float sm_scale;          ///< applied to every score
  float k_scale;           ///< prefix scores only
  float v_scale;           ///< prefix values only
};

}  // namespace headtune
