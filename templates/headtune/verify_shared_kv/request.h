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
    // One argument of each 64 bytes of p, and the pointers that come next.
    const int i =
        tile::after_loading(index, p.q, p.qo_indptr, p.kv_indptr, p.partial_out, p.k_cache_stride_slot, p.num_splits);
    const int qo_begin = p.qo_indptr[i], kv_begin = p.kv_indptr[i];
    return {i, qo_begin, p.qo_indptr[i + 1] - qo_begin, kv_begin, p.kv_indptr[i + 1] - kv_begin};
  }

  /// Whether there is a new token from `first` on. Both lengths are asked at once: behind a branch on qo_len alone the
  /// compiler would load the other one a latency later.
  HEADTUNE_DEVICE bool has_token(int first) const { return (first < qo_len) & (prefix_len >= 0); }
};

/// A run of (head, new token) rows, head-major: row r is head first_head + (first_row + r) / EXTEND_LEN.
template <class Variant>
struct Rows {
  int first_head;
  int first_row;
  int kv_head;  ///< 0 without HAS_KV_HEADS
  int count;    ///< rows from here on are padding

  /// The rows of head block `block` (grid x of stage 1); never straddles KV heads.
  static HEADTUNE_DEVICE Rows of_head_block(int block) {
    constexpr int rows = Variant::BLOCK_H * Variant::EXTEND_LEN;
    if constexpr (Variant::HAS_KV_HEADS) {
      constexpr int blocks_per_group = (Variant::KV_GROUP_NUM + Variant::BLOCK_H - 1) / Variant::BLOCK_H;
      const int kv_head = block / blocks_per_group;
      const int first = block % blocks_per_group * Variant::BLOCK_H;
      return {kv_head * Variant::KV_GROUP_NUM + first, 0, kv_head,
              smaller(rows, (Variant::KV_GROUP_NUM - first) * Variant::EXTEND_LEN)};
    } else {
      const int first = block * Variant::BLOCK_H;
      return {first, 0, 0, smaller(rows, (Variant::NUM_Q_HEADS - first) * Variant::EXTEND_LEN)};
    }
  }

  /// `count` new tokens of one head.
  static HEADTUNE_DEVICE Rows of_head(int head, int first_token, int count) {
    const int kv_head = Variant::HAS_KV_HEADS ? head / Variant::KV_GROUP_NUM : 0;
    return {head, first_token, kv_head, count};
  }

  HEADTUNE_DEVICE int head(int row) const { return first_head + (first_row + row) / Variant::EXTEND_LEN; }
  HEADTUNE_DEVICE int token(int row) const { return (first_row + row) % Variant::EXTEND_LEN; }
  HEADTUNE_DEVICE bool valid(int row, const Request& request) const {
    return row < count && token(row) < request.qo_len;
  }

 private:
  static HEADTUNE_DEVICE int smaller(int a, int b) { return a < b ? a : b; }
};

/// Address of element 0 of row `token`, head `head` of a [tokens][heads][dim] tensor of `bytes`-byte elements.
template <int bytes>
HEADTUNE_DEVICE const char* tensor_row(const void* tensor, long long token, long long token_stride, long long head,
                                       long long head_stride) {
  return static_cast<const char*>(tensor) + (token * token_stride + head * head_stride) * bytes;
}

/// Index in partial_lse, and times V_HEAD_DIM in partial_out, of the first of `rows`; the others follow it.
template <class Variant>
HEADTUNE_DEVICE long long partial_row(const VerifyParams& p, int request, int split, const Rows<Variant>& rows) {
  return ((static_cast<long long>(request) * p.num_splits + split) * Variant::NUM_Q_HEADS + rows.first_head) *
             Variant::EXTEND_LEN +
         rows.first_row;
}

}  // namespace headtune
