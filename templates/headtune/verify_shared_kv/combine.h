// Merges the splits of a request by log-sum-exp and adds the attention among the new tokens.
#pragma once

#include <headtune/verify_shared_kv/key_rows.h>
#include <headtune/verify_shared_kv/lds_layout.h>

namespace headtune {

/// `rows_` output rows by `threads` threads. Every thread of the workgroup must arrive.
template <class Variant, int rows_, int threads>
struct Combine {
  using Element = typename tile::ElementOf<Variant::DTYPE>::type;
  static constexpr int group = Variant::HEAD_DIM % 64 == 0 ? 8 : 4;  // lanes that share a dot product or a row
  static constexpr int groups = threads / group;
  static constexpr int row_weights = Variant::MAX_SPLITS + Variant::EXTEND_LEN + 1;
  static constexpr int quads = Variant::V_HEAD_DIM / 4;  // columns are handled four at a time
  static constexpr int items = rows_ * quads;
  static constexpr int parts = threads / items > 0 ? threads / items : 1;  // threads that share an item's splits
  static constexpr float log2e = 1.44269504f;

  const VerifyParams& p;
  const Request& request;
  const Rows<Variant>& rows;
  int used;        ///< splits that stage 1 wrote
  float* weights;  ///< [rows][row_weights]: splits, then new tokens
  tile::F32x4* sums;  ///< [parts][items]

  HEADTUNE_DEVICE Combine(const VerifyParams& params, const Request& request_of, const Rows<Variant>& rows_of,
                          int used_splits, float* lds)
      : p(params),
        request(request_of),
        rows(rows_of),
        used(used_splits),
        weights(lds),
        sums(reinterpret_cast<tile::F32x4*>(lds + ceil_div(rows_ * row_weights, 4) * 4)) {}

  HEADTUNE_DEVICE void run() const {
    load_log_sums();
    score_new_tokens();
    __syncthreads();
    normalise();
    __syncthreads();
    if constexpr (parts > 1)
      sum_in_parts();
    else
      for (int item = tile::thread_index(); item < items; item += threads) store(item, sum(item, 0));
  }

 private:
  HEADTUNE_DEVICE bool visible(int row, int token) const {
    return token < request.qo_len && (!Variant::IS_CAUSAL || token <= rows.token(row));
  }

  HEADTUNE_DEVICE void load_log_sums() const {
    for (int i = tile::thread_index(); i < rows_ * used; i += threads) {
      const int row = i / used, split = i % used;
      if (!rows.valid(row, request)) continue;
      const long long from = partial_row<Variant>(p, request.index, split, rows.head(row), rows.token(row));
      weights[row * row_weights + split] = tile::load_global<float>(p.partial_lse + from) * log2e;
    }
  }

  /// Dot product of 8 dims per lane and 16 bytes.
  static HEADTUNE_DEVICE float dot(const tile::U32x4& a, const tile::U32x4& b) {
    float sum = 0;
#pragma unroll
    for (int i = 0; i < 4; ++i)
      sum += tile::low<Element>(a[i]) * tile::low<Element>(b[i]) + tile::high<Element>(a[i]) * tile::high<Element>(b[i]);
    return sum;
  }

  HEADTUNE_DEVICE float score(int row, int token, int lane) const {
    const int head = rows.kv_head;
    const char* q = tensor_row<2>(p.q, request.qo_begin + rows.token(row), p.q_stride_token, rows.head(row),
                                  p.q_stride_head);
    const char* k =
        tensor_row<2>(p.k_extend, request.qo_begin + token, p.k_extend_stride_token, head, p.k_extend_stride_head);
    float sum = 0;
#pragma unroll
    for (int dim = 0; dim < Variant::HEAD_DIM; dim += 8 * group)
      sum += dot(tile::load_global<tile::U32x4>(q + (dim + lane * 8) * 2),
                 tile::load_global<tile::U32x4>(k + (dim + lane * 8) * 2));
    return sum;
  }

  HEADTUNE_DEVICE void score_new_tokens() const {
    constexpr int pairs = rows_ * Variant::EXTEND_LEN;
    const int lane = tile::thread_index() % group;
#pragma unroll 2
    for (int first = 0; first < pairs; first += groups) {
      const int pair = first + tile::thread_index() / group;
      const int row = pair / Variant::EXTEND_LEN, token = pair % Variant::EXTEND_LEN;
      const bool scored = pair < pairs && rows.valid(row, request) && visible(row, token);
      const float sum = tile::group_sum<group>(scored ? score(row, token, lane) : 0.0f);
      if (lane == 0 && pair < pairs)
        weights[row * row_weights + used + token] = scored ? sum * p.sm_scale * log2e : tile::negative_infinity;
    }
  }

  /// Turns log-sum-exps and scores into weights of sum 1; all zero when nothing is visible.
  HEADTUNE_DEVICE void normalise() const {
    const int count = used + Variant::EXTEND_LEN;
    const int lane = tile::thread_index() % group;
    for (int first = 0; first < rows_; first += groups) {
      const int row = first + tile::thread_index() / group;
      const bool valid = row < rows_ && rows.valid(row, request);
      float* weight = weights + (valid ? row : 0) * row_weights;
      float top = tile::negative_infinity, sum = 0;
      for (int i = lane; valid && i < count; i += group) top = tile::maximum(top, weight[i]);
      top = tile::group_max<group>(top);
      const bool empty = top == tile::negative_infinity;
      for (int i = lane; valid && i < count; i += group) {
        const float w = empty ? 0.0f : tile::exp2(weight[i] - top);
        sum += w;
        weight[i] = w;
      }
      sum = tile::group_sum<group>(sum);
      for (int i = lane; valid && i < count; i += group) weight[i] *= empty ? 0.0f : 1.0f / sum;
    }
  }

  static HEADTUNE_DEVICE void add(tile::F32x4& sum, float weight, const tile::F32x4& values) {
#pragma unroll
    for (int x = 0; x < 4; ++x) sum[x] += weight * values[x];
  }

  HEADTUNE_DEVICE tile::F32x4 new_values(int token, int column) const {
    const char* from = tensor_row<2>(p.v_extend, request.qo_begin + token, p.v_extend_stride_token, rows.kv_head,
                                     p.v_extend_stride_head);
    const tile::U32x2 pairs = tile::load_global<tile::U32x2>(from + column * 2);
    return {tile::low<Element>(pairs[0]), tile::high<Element>(pairs[0]), tile::low<Element>(pairs[1]),
            tile::high<Element>(pairs[1])};
  }

  /// Four columns of one row: every parts-th split and new token, from `part` on.
  HEADTUNE_DEVICE tile::F32x4 sum(int item, int part) const {
    const int row = item / quads, column = item % quads * 4;
    tile::F32x4 total{0, 0, 0, 0};
    if (!rows.valid(row, request)) return total;
    const float* weight = weights + row * row_weights;
    const long long stride = static_cast<long long>(Variant::NUM_Q_HEADS) * Variant::EXTEND_LEN * Variant::V_HEAD_DIM;
    const float* from =
        p.partial_out +
        partial_row<Variant>(p, request.index, 0, rows.head(row), rows.token(row)) * Variant::V_HEAD_DIM + column;
#pragma unroll 8
    for (int split = part; split < used; split += parts)
      add(total, weight[split], tile::load_global<tile::F32x4>(from + split * stride));
    for (int token = part; token < request.qo_len; token += parts)
      add(total, weight[used + token], new_values(token, column));
    return total;
  }

  HEADTUNE_DEVICE void sum_in_parts() const {
    const int thread = tile::thread_index();
    const int part = thread / items, item = thread % items;
    if (part < parts) sums[thread] = sum(item, part);
    __syncthreads();
    if (thread >= items) return;
    tile::F32x4 total = sums[thread];
#pragma unroll
    for (int i = 1; i < parts; ++i) add(total, 1.0f, sums[i * items + thread]);
    store(thread, total);
  }

  HEADTUNE_DEVICE void store(int item, const tile::F32x4& value) const {
    const int row = item / quads, column = item % quads * 4;
    if (!rows.valid(row, request)) return;
    char* to = static_cast<char*>(p.out) + ((request.qo_begin + rows.token(row)) * p.out_stride_token +
                                            rows.head(row) * p.out_stride_head + column) * 2;
    tile::store_global(to, tile::U32x2{tile::pack_output<Element>(value[0], value[1]),
                                       tile::pack_output<Element>(value[2], value[3])});
  }
};

}  // namespace headtune
