// Merges the splits of a request by log-sum-exp and adds the attention among the new tokens.
#pragma once

#include <headtune/verify_shared_kv/key_rows.h>
#include <headtune/verify_shared_kv/lds_layout.h>

namespace headtune {

/// `rows_` output rows by `threads` threads, one pass: everything that can be loaded is asked for before the first
/// wait, since this is all latency. Every thread of the workgroup must arrive.
template <class Variant, int rows_, int threads>
struct Combine {
  using Element = typename tile::ElementOf<Variant::DTYPE>::type;
  static constexpr int row_weights = Variant::MAX_SPLITS + Variant::EXTEND_LEN + 1;
  static constexpr float log2e = 1.44269504f;

  static constexpr int dot_lanes = Variant::HEAD_DIM % 64 == 0 ? 8 : 4;  // lanes that share a dot product
  static constexpr int dots = threads / dot_lanes;                       // at a time

  static constexpr int quads = Variant::V_HEAD_DIM / 4;  // columns are handled four at a time
  static constexpr int items = rows_ * quads;
  static constexpr int parts = threads / items > 0 ? threads / items : 1;  // threads that share an item's splits
  static constexpr int own = (items + threads - 1) / threads;              // items of one thread
  static constexpr int ahead = own > 1 ? 2 : 4;                            // splits per item loaded early
  static constexpr int row_lanes = (quads & -quads) < tile::wave_size ? (quads & -quads) : tile::wave_size;

  const VerifyParams& p;
  const Request& request;
  const Rows<Variant>& rows;
  int used;           ///< splits that stage 1 wrote
  float* weights;     ///< [rows][row_weights], log2: splits, then new tokens
  tile::F32x4* sums;  ///< [parts][items]

  HEADTUNE_DEVICE Combine(const VerifyParams& params, const Request& request_of, const Rows<Variant>& rows_of,
                          int used_splits, float* lds)
      : p(params),
        request(request_of),
        rows(rows_of),
        used(used_splits),
        weights(lds),
        sums(reinterpret_cast<tile::F32x4*>(lds + ceil_div(rows_ * row_weights, 4) * 4)) {}

  /// Calls `partials_ready` before it reads what stage 1 wrote.
  template <class Ready>
  HEADTUNE_DEVICE void run(const Ready& partials_ready) const {
    const int thread = tile::thread_index();
    const int part = thread / items;
    tile::F32x4 early[own][ahead], total[own];
    tile::U32x2 early_token[own];
    if constexpr (tile::kernels_overlap) score_new_tokens();  // while stage 1 is still running
    partials_ready();
    load_log_sums();
#pragma unroll
    for (int i = 0; i < own; ++i) load_early(early[i], early_token[i], item(i), part);
    if constexpr (!tile::kernels_overlap) score_new_tokens();
    __syncthreads();
#pragma unroll
    for (int i = 0; i < own; ++i) total[i] = sum(early[i], early_token[i], item(i), part);
    if constexpr (parts > 1) {
      sums[thread] = total[0];
      __syncthreads();
      if (thread >= items) return;
#pragma unroll
      for (int i = 1; i < parts; ++i) add(total[0], 1.0f, sums[i * items + thread]);
    }
#pragma unroll
    for (int i = 0; i < own; ++i)
      if (thread + i * threads < items) store(thread + i * threads, total[i]);
  }

 private:
  /// This thread's i-th item; threads without one repeat another's.
  static HEADTUNE_DEVICE int item(int i) { return (tile::thread_index() + i * threads) % items; }

  HEADTUNE_DEVICE bool visible(int row, int token) const {
    return token < request.qo_len && (!Variant::IS_CAUSAL || token <= rows.token(row));
  }

  HEADTUNE_DEVICE void load_log_sums() const {
#pragma unroll 4
    for (int i = tile::thread_index(); i < rows_ * used; i += threads) {
      const int row = i / used, split = i % used;
      if (!rows.valid(row, request)) continue;
      const long long from = partial_row<Variant>(p, request.index, split, rows.head(row), rows.token(row));
      weights[row * row_weights + split] = tile::load_global<float>(p.partial_lse + from) * log2e;
    }
  }

  /// Dot product of 8 dims per lane.
  static HEADTUNE_DEVICE float dot(const tile::U32x4& a, const tile::U32x4& b) {
    float sum = 0;
#pragma unroll
    for (int i = 0; i < 4; ++i)
      sum +=
          tile::low<Element>(a[i]) * tile::low<Element>(b[i]) + tile::high<Element>(a[i]) * tile::high<Element>(b[i]);
    return sum;
  }

  HEADTUNE_DEVICE float score(int row, int token, int lane) const {
    const char* q =
        tensor_row<2>(p.q, request.qo_begin + rows.token(row), p.q_stride_token, rows.head(row), p.q_stride_head);
    const char* k = tensor_row<2>(p.k_extend, request.qo_begin + token, p.k_extend_stride_token, rows.kv_head,
                                  p.k_extend_stride_head);
    float sum = 0;
#pragma unroll
    for (int dim = 0; dim < Variant::HEAD_DIM; dim += 8 * dot_lanes)
      sum += dot(tile::load_global<tile::U32x4>(q + (dim + lane * 8) * 2),
                 tile::load_global<tile::U32x4>(k + (dim + lane * 8) * 2));
    return sum;
  }

  HEADTUNE_DEVICE void score_new_tokens() const {
    constexpr int pairs = rows_ * Variant::EXTEND_LEN;
    const int lane = tile::thread_index() % dot_lanes;
#pragma unroll 4
    for (int first = 0; first < pairs; first += dots) {
      const int pair = first + tile::thread_index() / dot_lanes;
      const int row = pair / Variant::EXTEND_LEN, token = pair % Variant::EXTEND_LEN;
      const bool scored = pair < pairs && rows.valid(row, request) && visible(row, token);
      const float sum = tile::group_sum<dot_lanes>(scored ? score(row, token, lane) : 0.0f);
      if (lane == 0 && pair < pairs)
        weights[row * row_weights + used + token] = scored ? sum * p.sm_scale * log2e : tile::negative_infinity;
    }
  }

  static HEADTUNE_DEVICE void add(tile::F32x4& sum, float weight, const tile::F32x4& values) {
#pragma unroll
    for (int x = 0; x < 4; ++x) sum[x] += weight * values[x];
  }

  HEADTUNE_DEVICE const float* partials(int row, int column) const {
    return p.partial_out +
           partial_row<Variant>(p, request.index, 0, rows.head(row), rows.token(row)) * Variant::V_HEAD_DIM + column;
  }
  /// Floats between the partials of neighbouring splits.
  static constexpr long long split_stride =
      static_cast<long long>(Variant::NUM_Q_HEADS) * Variant::EXTEND_LEN * Variant::V_HEAD_DIM;

  HEADTUNE_DEVICE tile::U32x2 token_values(int token, int column) const {
    return tile::load_global<tile::U32x2>(tensor_row<2>(p.v_extend, request.qo_begin + token, p.v_extend_stride_token,
                                                        rows.kv_head, p.v_extend_stride_head) +
                                          column * 2);
  }
  static HEADTUNE_DEVICE tile::F32x4 widen(const tile::U32x2& pairs) {
    return {tile::low<Element>(pairs[0]), tile::high<Element>(pairs[0]), tile::low<Element>(pairs[1]),
            tile::high<Element>(pairs[1])};
  }

  /// Asks for the first splits and the first new token of an item's part.
  HEADTUNE_DEVICE void load_early(tile::F32x4 (&early)[ahead], tile::U32x2& token, int item, int part) const {
    const int row = item / quads, column = item % quads * 4;
    const bool valid = rows.valid(row, request) && part < parts;
    const float* from = partials(valid ? row : 0, column);
#pragma unroll
    for (int i = 0; i < ahead; ++i)
      early[i] = valid && part + i * parts < used
                     ? tile::load_global<tile::F32x4>(from + (part + i * parts) * split_stride)
                     : tile::F32x4{0, 0, 0, 0};
    token = valid && part < request.qo_len ? token_values(part, column) : tile::U32x2{0, 0};
  }

  /// Four columns of one row: every parts-th split and new token, from `part` on. The lanes that share the row find its
  /// maximum and sum together.
  HEADTUNE_DEVICE tile::F32x4 sum(const tile::F32x4 (&early)[ahead], const tile::U32x2& early_token, int item,
                                  int part) const {
    const int row = item / quads, column = item % quads * 4;
    const bool valid = rows.valid(row, request);
    const float* weight = weights + (valid ? row : 0) * row_weights;
    const int count = used + Variant::EXTEND_LEN, lane = tile::thread_index() % row_lanes;
    float top = tile::negative_infinity, mass = 0;
    for (int i = lane; valid && i < count; i += row_lanes) top = tile::maximum(top, weight[i]);
    top = tile::group_max<row_lanes>(top);
    const bool empty = top == tile::negative_infinity;
    for (int i = lane; valid && !empty && i < count; i += row_lanes) mass += tile::exp2(weight[i] - top);
    mass = tile::group_sum<row_lanes>(mass);

    tile::F32x4 total{0, 0, 0, 0};
    if (!valid || empty || part >= parts) return total;
#pragma unroll
    for (int i = 0; i < ahead; ++i)
      if (part + i * parts < used) add(total, tile::exp2(weight[part + i * parts] - top), early[i]);
    const float* from = partials(row, column);
#pragma unroll 4
    for (int split = part + ahead * parts; split < used; split += parts)
      add(total, tile::exp2(weight[split] - top), tile::load_global<tile::F32x4>(from + split * split_stride));
    if (part < request.qo_len) add(total, tile::exp2(weight[used + part] - top), widen(early_token));
    for (int token = part + parts; token < request.qo_len; token += parts)
      add(total, tile::exp2(weight[used + token] - top), widen(token_values(token, column)));
    const float inverse = 1.0f / mass;
#pragma unroll
    for (int x = 0; x < 4; ++x) total[x] *= inverse;
    return total;
  }

  HEADTUNE_DEVICE void store(int item, const tile::F32x4& value) const {
    const int row = item / quads, column = item % quads * 4;
    if (!rows.valid(row, request)) return;
    char* to =
        static_cast<char*>(p.out) +
        ((request.qo_begin + rows.token(row)) * p.out_stride_token + rows.head(row) * p.out_stride_head + column) * 2;
    tile::store_global(to, tile::U32x2{tile::pack_output<Element>(value[0], value[1]),
                                       tile::pack_output<Element>(value[2], value[3])});
  }
};

}  // namespace headtune
