// Which rows of which request a workgroup computes.
#pragma once

#include <headtune/tile/tile.h>
#include <headtune/verify_shared_kv/params.h>
#include <headtune/verify_shared_kv/splits.h>

namespace headtune {

/// One request of the batch.
struct Request {
  int index;       ///< in the batch
  int qo_begin;    ///< first new token
  int qo_len;      ///< new tokens; 0 for a padded graph row
  int kv_begin;    ///< first entry in kv_indices
  int prefix_len;  ///< keys of the prefix

  static HEADTUNE_DEVICE Request read(const VerifyParams& p, int index) {
    const int qo_begin = p.qo_indptr[index], kv_begin = p.kv_indptr[index];
    return {index, qo_begin, p.qo_indptr[index + 1] - qo_begin, kv_begin, p.kv_indptr[index + 1] - kv_begin};
  }
};

/// A run of (head, new token) rows, head-major: row r is head first_head + (first_row + r) / EXTEND_LEN.
template <class Variant>
struct Rows {
  int first_head;
  int end_head;  ///< rows of heads from here on are padding
  int first_row;
  int kv_head;  ///< 0 without HAS_KV_HEADS
  int count;    ///< rows from here on are padding

  /// The rows of head block `block` (grid x of stage 1); never straddles KV heads.
  static HEADTUNE_DEVICE Rows of_head_block(int block) {
    constexpr int rows = Variant::BLOCK_H * Variant::EXTEND_LEN;
    if constexpr (Variant::HAS_KV_HEADS) {
      constexpr int blocks_per_group = (Variant::KV_GROUP_NUM + Variant::BLOCK_H - 1) / Variant::BLOCK_H;
      const int kv_head = block / blocks_per_group;
      const int first = kv_head * Variant::KV_GROUP_NUM + block % blocks_per_group * Variant::BLOCK_H;
      return {first, (kv_head + 1) * Variant::KV_GROUP_NUM, 0, kv_head, rows};
    } else {
      return {block * Variant::BLOCK_H, Variant::NUM_Q_HEADS, 0, 0, rows};
    }
  }

  /// `count` new tokens of one head.
  static HEADTUNE_DEVICE Rows of_head(int head, int first_token, int count) {
    const int kv_head = Variant::HAS_KV_HEADS ? head / Variant::KV_GROUP_NUM : 0;
    return {head, head + 1, first_token, kv_head, count};
  }

  HEADTUNE_DEVICE int head(int row) const { return first_head + (first_row + row) / Variant::EXTEND_LEN; }
  HEADTUNE_DEVICE int token(int row) const { return (first_row + row) % Variant::EXTEND_LEN; }
  HEADTUNE_DEVICE bool valid(int row, const Request& request) const {
    return row < count && head(row) < end_head && token(row) < request.qo_len;
  }
};

/// Address of element 0 of row `token`, head `head` of a [tokens][heads][dim] tensor of `bytes`-byte elements.
template <int bytes>
HEADTUNE_DEVICE const char* tensor_row(const void* tensor, long long token, long long token_stride, long long head,
                                       long long head_stride) {
  return static_cast<const char*>(tensor) + (token * token_stride + head * head_stride) * bytes;
}

/// Index of a row in partial_out (times V_HEAD_DIM) and partial_lse.
template <class Variant>
HEADTUNE_DEVICE long long partial_row(const VerifyParams& p, int request, int split, int head, int token) {
  return ((static_cast<long long>(request) * p.num_splits + split) * Variant::NUM_Q_HEADS + head) *
             Variant::EXTEND_LEN +
         token;
}

}  // namespace headtune
