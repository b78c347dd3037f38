// The rows and keys of one workgroup of the LDS path: query heads of a head block times new tokens of a request, and the
// keys of one split. Row r is head r / EXTEND_LEN of the block, new token r % EXTEND_LEN.
#pragma once

#include <headtune/verify_shared_kv/params.h>
#include <headtune/verify_shared_kv/splits.h>

namespace headtune::lds_path {

inline constexpr float INFINITY_F = __builtin_huge_valf();

template <int BITS>
struct IndexOfBits {
  using Type = int;
};
template <>
struct IndexOfBits<64> {
  using Type = long long;
};
template <class V>
using KeyIndex = typename IndexOfBits<V::INDEX_BITS>::Type;

template <class V>
struct RowBlock {
  static constexpr int ROWS_USED = V::BLOCK_H * V::EXTEND_LEN;

  int request, split, kv_head;
  int head_begin, head_end;    ///< query heads; fewer than BLOCK_H at the edge
  int token_begin, token_end;  ///< new tokens of the request
  int prefix_start;            ///< in kv_indices
  int key_begin, key_end;      ///< positions within the prefix

  HEADTUNE_DEVICE explicit RowBlock(const VerifyParams& p) : request(blockIdx.z), split(blockIdx.y), kv_head(0) {
    const int block = static_cast<int>(blockIdx.x);
    if constexpr (V::HAS_KV_HEADS) {
      constexpr int BLOCKS = ceil_div(V::KV_GROUP_NUM, V::BLOCK_H);
      kv_head = block / BLOCKS;
      head_begin = kv_head * V::KV_GROUP_NUM + block % BLOCKS * V::BLOCK_H;
      head_end = smaller(head_begin + V::BLOCK_H, (kv_head + 1) * V::KV_GROUP_NUM);
    } else {
      head_begin = block * V::BLOCK_H;
      head_end = smaller(head_begin + V::BLOCK_H, V::NUM_Q_HEADS);
    }
    token_begin = p.qo_indptr[request];
    token_end = smaller(p.qo_indptr[request + 1], token_begin + V::EXTEND_LEN);
    prefix_start = p.kv_indptr[request];
    const int prefix_len = p.kv_indptr[request + 1] - prefix_start;
    const SplitCut cut = cut_prefix(prefix_len, p.num_splits, p.min_keys_per_split, V::BLOCK_N);
    key_begin = split * cut.keys_per_split;
    key_end = split < cut.used ? smaller(key_begin + cut.keys_per_split, prefix_len) : key_begin;
    if (token_begin >= token_end) key_end = key_begin;
  }

  HEADTUNE_DEVICE int tiles() const { return ceil_div(key_end - key_begin, V::BLOCK_N); }

  HEADTUNE_DEVICE bool valid(int row) const {
    return row < ROWS_USED && head_begin + row / V::EXTEND_LEN < head_end &&
           token_begin + row % V::EXTEND_LEN < token_end;
  }

  /// Address of a query row, or null for a row that does not exist.
  HEADTUNE_DEVICE const void* query(const VerifyParams& p, int row) const {
    if (!valid(row)) return nullptr;
    const long long element = (token_begin + row % V::EXTEND_LEN) * p.q_stride_token +
                              (head_begin + row / V::EXTEND_LEN) * p.q_stride_head;
    return static_cast<const char*>(p.q) + 2 * element;
  }

  /// Index of a row in partial_lse and, times V_HEAD_DIM, in partial_out.
  HEADTUNE_DEVICE long long partial_row(const VerifyParams& p, int row) const {
    const long long head = (1LL * request * p.num_splits + split) * V::NUM_Q_HEADS + head_begin + row / V::EXTEND_LEN;
    return head * V::EXTEND_LEN + row % V::EXTEND_LEN;
  }

 private:
  static HEADTUNE_DEVICE int smaller(int a, int b) { return a < b ? a : b; }
};

}  // namespace headtune::lds_path
