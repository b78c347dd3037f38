// Merges the splits of a request by log-sum-exp and adds the attention among the new tokens.
#pragma once

#include <headtune/verify_shared_kv/key_rows.h>
#include <headtune/verify_shared_kv/lds_layout.h>

namespace headtune {

/// The largest power of 2 up to `count`, at least 1.
constexpr HEADTUNE_HOST_DEVICE int power_of_2_within(int count) {
  int power = 1;
  while (power * 2 <= count) power *= 2;
  return power;
}

/// `rows_` output rows by `threads` threads, one pass: everything that can be loaded is asked for before the first
/// wait, since this is all latency. Every thread of the workgroup must arrive.
template <class Variant, int rows_, int threads, bool many = false>
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
  /// Splits per item loaded at once; with many those of 64, as far as registers allow (64 in all on NVIDIA).
  static constexpr int most_ahead = tile::wave_size == 64 && Variant::HEAD_DIM <= 256 ? 16 : 8;
  static constexpr int useful_ahead = many && parts < 16 ? 64 / parts : 4;
  static constexpr int ahead = own == 2 ? 2 : useful_ahead < most_ahead ? useful_ahead : most_ahead;
  static constexpr int tokens = ceil_div(Variant::EXTEND_LEN, parts);     // new tokens of a thread
  static constexpr int split_lanes = power_of_2_within(threads / rows_);  // threads that load one row's log-sum-exps
  static constexpr int split_rounds = ceil_div(Variant::MAX_SPLITS, split_lanes);
  static constexpr int log_sums_ahead = split_rounds < 4 ? split_rounds : 4;  // of each, loaded early
  static constexpr int row_lanes = (quads & -quads) < tile::wave_size ? (quads & -quads) : tile::wave_size;

  const VerifyParams& p;
  const Request& request;
  const Rows<Variant>& rows;
  int used;           ///< splits that stage 1 wrote
  long long partial;  ///< index of row 0 in split 0
  float* weights;     ///< [rows][row_weights], log2: splits, then new tokens
  tile::F32x4* sums;  ///< [parts][items]

  HEADTUNE_DEVICE Combine(const VerifyParams& params, const Request& request_of, const Rows<Variant>& rows_of,
                          int used_splits, float* lds)
      : p(params),
        request(request_of),
        rows(rows_of),
        used(used_splits),
        partial(partial_row(params, request_of.index, 0, rows_of)),
        weights(lds),
        sums(reinterpret_cast<tile::F32x4*>(lds + ceil_div(rows_ * row_weights, 4) * 4)) {}

  /// Calls `partials_ready` before it reads what stage 1 wrote.
  template <class Ready>
  HEADTUNE_DEVICE void run(const Ready& partials_ready) const {
    if constexpr (tile::kernels_overlap) score_new_tokens();  // while stage 1 is still running
    partials_ready();
    float log_sums[log_sums_ahead];
    load_log_sums(log_sums);
    const auto weigh = [&] {
      if constexpr (!tile::kernels_overlap) score_new_tokens();
      keep_log_sums(log_sums);
      __syncthreads();
    };
    if constexpr (own > 2)
      add_one_by_one(weigh);
    else
      add_at_once(weigh);
  }

 private:
  /// All of a thread's items: what they add up is on its way while weights are computed.
  template <class Weigh>
  HEADTUNE_DEVICE void add_at_once(const Weigh& weigh) const {
    const int thread = tile::thread_index(), part = thread / items;
    Early early[own];
    tile::F32x4 total[own];
#pragma unroll
    for (int i = 0; i < own; ++i) load(early[i], item(i), part);
    weigh();
#pragma unroll
    for (int i = 0; i < own; ++i) total[i] = sum(early[i], item(i), part);
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

  /// So many items (a fused combine of many rows) that registers would not hold them.
  template <class Weigh>
  HEADTUNE_DEVICE void add_one_by_one(const Weigh& weigh) const {
    weigh();
#pragma unroll 1
    for (int i = 0; i < own; ++i) {
      Early early;
      load(early, item(i), 0);
      const tile::F32x4 total = sum(early, item(i), 0);
      if (tile::thread_index() + i * threads < items) store(tile::thread_index() + i * threads, total);
    }
  }

  /// This thread's i-th item; threads without one repeat another's.
  static HEADTUNE_DEVICE int item(int i) { return (tile::thread_index() + i * threads) % items; }

  HEADTUNE_DEVICE bool visible(int row, int token) const {
    return token < request.qo_len && (!Variant::IS_CAUSAL || token <= rows.token(row));
  }

  HEADTUNE_DEVICE const float* log_sum(int row, int split) const {
    return p.partial_lse + partial + row + split * split_rows;
  }

  /// Asks for a row's first log-sum-exps, each lane for every split_lanes-th split.
  HEADTUNE_DEVICE void load_log_sums(float (&log_sums)[log_sums_ahead]) const {
    const int row = tile::thread_index() / split_lanes, lane = tile::thread_index() % split_lanes;
#pragma unroll
    for (int i = 0; i < log_sums_ahead; ++i)
      log_sums[i] = tile::load_global<float>(log_sum(existing_row(row), existing_split(lane + i * split_lanes)));
  }

  /// Writes them to LDS as weights, and those that were not asked for before.
  HEADTUNE_DEVICE void keep_log_sums(const float (&log_sums)[log_sums_ahead]) const {
    const int row = tile::thread_index() / split_lanes, lane = tile::thread_index() % split_lanes;
    if (row >= rows_) return;
    float* weight = weights + row * row_weights;
#pragma unroll
    for (int i = 0; i < log_sums_ahead; ++i)
      if (lane + i * split_lanes < used) weight[lane + i * split_lanes] = log_sums[i] * log2e;
    if constexpr (log_sums_ahead * split_lanes < Variant::MAX_SPLITS)
      for (int split = lane + log_sums_ahead * split_lanes; split < used; split += split_lanes)
        weight[split] = tile::load_global<float>(log_sum(existing_row(row), split)) * log2e;
  }

  /// This lane's part of the dot product of a row and a new token. What it reads is asked for at once, or in two halves
  /// where it would take too many registers (MLA).
  HEADTUNE_DEVICE float score(int row, int token, int lane) const {
    constexpr int words = Variant::HEAD_DIM / (8 * dot_lanes), at_once = words > 4 ? ceil_div(words, 2) : words;
    const char* q =
        tensor_row<2>(p.q, request.qo_begin + rows.token(row), p.q_stride_token, rows.head(row), p.q_stride_head);
    const char* k = tensor_row<2>(p.k_extend, request.qo_begin + token, p.k_extend_stride_token, rows.kv_head,
                                  p.k_extend_stride_head);
    float sum = 0;
#pragma unroll
    for (int first = 0; first < words; first += at_once) {
      tile::U32x4 a[at_once], b[at_once];
#pragma unroll
      for (int i = 0; i < at_once; ++i) {
        const int from = (first + i < words ? first + i : 0) * dot_lanes + lane;
        a[i] = tile::load_global<tile::U32x4>(q + from * 16);
        b[i] = tile::load_global<tile::U32x4>(k + from * 16);
      }
      tile::issue_first();
#pragma unroll
      for (int i = 0; i < at_once; ++i)
        if (first + i < words) sum += dot(a[i], b[i]);
    }
    return sum;
  }

  /// Dot product of 8 dims.
  static HEADTUNE_DEVICE float dot(const tile::U32x4& a, const tile::U32x4& b) {
    float sum = 0;
#pragma unroll
    for (int i = 0; i < 4; ++i)
      sum +=
          tile::low<Element>(a[i]) * tile::low<Element>(b[i]) + tile::high<Element>(a[i]) * tile::high<Element>(b[i]);
    return sum;
  }

  HEADTUNE_DEVICE void score_new_tokens() const {
    constexpr int pairs = rows_ * Variant::EXTEND_LEN;
    const int lane = tile::thread_index() % dot_lanes;
#pragma unroll 2
    for (int first = 0; first < pairs; first += dots) {
      const int index = first + tile::thread_index() / dot_lanes;
      const int row = index / Variant::EXTEND_LEN, token = index % Variant::EXTEND_LEN;
      const float sum =
          tile::group_sum<dot_lanes>(score(existing_row(row), existing_token(token), lane)) * p.sm_scale * log2e;
      if (lane == 0 && index < pairs)
        weights[row * row_weights + used + token] =
            rows.valid(row, request) && visible(row, token) ? sum : tile::negative_infinity;
    }
  }

  static HEADTUNE_DEVICE void add(tile::F32x4& sum, float weight, const tile::F32x4& values) {
#pragma unroll
    for (int x = 0; x < 4; ++x) sum[x] += weight * values[x];
  }

  HEADTUNE_DEVICE const float* partials(int row, int column) const {
    return p.partial_out + (partial + row) * Variant::V_HEAD_DIM + column;
  }
  /// Rows, and floats, between the partials of neighbouring splits.
  static constexpr long long split_rows = static_cast<long long>(Variant::NUM_Q_HEADS) * Variant::EXTEND_LEN;
  static constexpr long long split_stride = split_rows * Variant::V_HEAD_DIM;

  HEADTUNE_DEVICE tile::U32x2 token_values(int token, int column) const {
    return tile::load_global<tile::U32x2>(tensor_row<2>(p.v_extend, request.qo_begin + token, p.v_extend_stride_token,
                                                        rows.kv_head, p.v_extend_stride_head) +
                                          column * 2);
  }
  static HEADTUNE_DEVICE tile::F32x4 widen(const tile::U32x2& pairs) {
    return {tile::low<Element>(pairs[0]), tile::high<Element>(pairs[0]), tile::low<Element>(pairs[1]),
            tile::high<Element>(pairs[1])};
  }

  // What is loaded early is loaded without a branch, in whose shadow it would be waited for: where there is nothing to
  // load, something else that exists, and it is not used.
  HEADTUNE_DEVICE int existing_row(int row) const { return rows.valid(row, request) ? row : 0; }
  HEADTUNE_DEVICE int existing_split(int split) const { return split < used ? split : 0; }
  HEADTUNE_DEVICE int existing_token(int token) const { return token < request.qo_len ? token : 0; }

  /// What one thread adds up for an item, asked for at once: splits first, first + parts, ...
  struct Early {
    tile::F32x4 split[ahead];
    tile::U32x2 token[tokens];
  };

  HEADTUNE_DEVICE void load_splits(Early& early, int item, int first) const {
    const float* from = partials(existing_row(item / quads), item % quads * 4);
#pragma unroll
    for (int i = 0; i < ahead; ++i)
      early.split[i] = tile::load_global<tile::F32x4>(from + existing_split(first + i * parts) * split_stride);
  }
  HEADTUNE_DEVICE void load(Early& early, int item, int part) const {
    load_splits(early, item, part);
#pragma unroll
    for (int i = 0; i < tokens; ++i) early.token[i] = token_values(existing_token(part + i * parts), item % quads * 4);
  }

  /// What the lanes that share a row find of its weights together.
  struct RowWeights {
    float top;   ///< the largest, log2; -inf: nothing was visible
    float mass;  ///< sum of exp2(weight - top)
  };

  /// Four reads of LDS at a time, in a loop whose end is the same for all lanes.
  HEADTUNE_DEVICE RowWeights row_weights_of(const float* weight) const {
    const int lane = tile::thread_index() % row_lanes;
    RowWeights row{tile::negative_infinity, 0};
    const auto each = [&](const auto& visit) {
      for (int first = 0; first < used; first += 4 * row_lanes)
#pragma unroll
        for (int i = 0; i < 4; ++i) {
          const int split = first + i * row_lanes + lane;
          visit(weight[existing_split(split)], split < used);
        }
#pragma unroll
      for (int first = 0; first < Variant::EXTEND_LEN; first += row_lanes) {
        const bool exists = first + lane < Variant::EXTEND_LEN;
        visit(weight[used + (exists ? first + lane : 0)], exists);
      }
    };
    each([&](float x, bool) { row.top = tile::maximum(row.top, x); });
    row.top = tile::group_max<row_lanes>(row.top);
    each([&](float x, bool exists) {
      const float value = tile::exp2(x - row.top);
      row.mass += exists ? value : 0.0f;
    });
    row.mass = tile::group_sum<row_lanes>(row.mass);
    return row;
  }

  /// Four columns of one row: every parts-th split and new token, from `part` on.
  HEADTUNE_DEVICE tile::F32x4 sum(Early& early, int item, int part) const {
    const float* weight = weights + existing_row(item / quads) * row_weights;
    const RowWeights all = row_weights_of(weight);
    const auto factor = [&](int at, bool exists) {
      const float value = tile::exp2(weight[at] - all.top);
      return exists ? value : 0.0f;
    };
    tile::F32x4 total{0, 0, 0, 0};
    for (int first = 0; first < used; first += ahead * parts) {
      if (first > 0) load_splits(early, item, first + part);
#pragma unroll
      for (int i = 0; i < ahead; ++i) {
        const int split = first + part + i * parts;
        add(total, factor(existing_split(split), split < used), early.split[i]);
      }
    }
#pragma unroll
    for (int i = 0; i < tokens; ++i) {
      const int token = part + i * parts;
      add(total, factor(used + existing_token(token), token < request.qo_len), widen(early.token[i]));
    }
    const bool empty = all.top == tile::negative_infinity;
    const float inverse = tile::reciprocal(all.mass);
#pragma unroll
    for (int x = 0; x < 4; ++x) total[x] = empty ? 0.0f : total[x] * inverse;
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
