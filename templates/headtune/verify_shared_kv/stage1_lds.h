// Stage 1 of verify_shared_kv, LDS path: one workgroup holds the outputs of all its rows (BLOCK_H query heads x
// EXTEND_LEN new tokens) in registers and walks its split in tiles of BLOCK_N keys. A tile is staged once in LDS and
// read in both layouts: as K for the scores and, for MLA, its first V_HEAD_DIM columns again as V.
//
// Softmax numerators are taken against a per-row reference that is raised only when a score exceeds it by more than
// 2^RAISE_ABOVE, so the usual tile needs no maximum, no rescaling and no shuffle. The barrier that publishes the
// numerators also carries the vote.
#pragma once

#include <headtune/tile/lds_stager.h>
#include <headtune/tile/lds_tile.h>
#include <headtune/verify_shared_kv/fuse_combine.h>
#include <headtune/verify_shared_kv/key_rows.h>
#include <headtune/verify_shared_kv/stage1_lds_layout.h>

namespace headtune {
namespace lds_path {

/// Log2 units. 2^8 times the number of keys stays far inside float and the numerators inside fp16.
inline constexpr float RAISE_ABOVE = 8;

template <class V>
inline constexpr Layout layout{V::BLOCK_H * V::EXTEND_LEN,
                               V::HEAD_DIM,
                               V::V_HEAD_DIM,
                               V::BLOCK_N,
                               V::NUM_WARPS,
                               V::NUM_STAGES,
                               V::WAVES_PER_EU,
                               tile::wave_size,
                               device_family == Family::cdna4};

/// Carves the workgroup's LDS.
template <class V, class Tile>
struct Lds {
  static constexpr int ROWS = layout<V>.score_rows();
  // Named constants, so that the sizes are computed by the compiler.
  static constexpr int STAGES = layout<V>.query_bytes(), NUMERATORS = STAGES + layout<V>.stages_bytes();
  static constexpr int EXCHANGE = NUMERATORS + layout<V>.numerators_bytes();
  static constexpr int STATE = EXCHANGE + layout<V>.exchange_bytes();

  char *query, *stages, *numerators, *exchange;
  float *reference, *factor;  ///< [ROWS] each
  float* partial;             ///< [NUM_WARPS][ROWS]
  unsigned* votes;            ///< [2], by turn

  HEADTUNE_DEVICE explicit Lds(char* base)
      : query(base),
        stages(base + STAGES),
        numerators(base + NUMERATORS),
        exchange(base + EXCHANGE),
        reference(reinterpret_cast<float*>(base + STATE)),
        factor(reference + ROWS),
        partial(factor + ROWS),
        votes(reinterpret_cast<unsigned*>(partial + V::NUM_WARPS * ROWS)) {}

  HEADTUNE_DEVICE void clear() const {
    const int thread = tile::thread_index();
    for (int r = thread; r < ROWS; r += Tile::THREADS) reference[r] = 0;
    if (thread < 2) votes[thread] = 0;
  }
};

/// Brings the split's tiles into LDS one after the other.
template <class V, class Tile>
struct Feed {
  static constexpr bool SEPARATE_VALUES = !shares_cache_row(V::HEAD_DIM, V::V_HEAD_DIM);
  static constexpr int KEY_BYTES = V::BLOCK_N * V::HEAD_DIM * 2;
  static constexpr int TILE_BYTES = layout<V>.tile_bytes();
  static constexpr int VALUES_OFFSET = SEPARATE_VALUES ? KEY_BYTES : 0;
  static constexpr int RING = layout<V>.ring();
  using Keys = tile::Stager<Tile::THREADS, V::BLOCK_N, V::HEAD_DIM>;
  using Values = tile::Stager<Tile::THREADS, V::BLOCK_N, V::V_HEAD_DIM>;
  static constexpr int PASSES = Keys::Shape::PASSES;
  static constexpr int COPIES = Keys::Shape::COPIES + (SEPARATE_VALUES ? Values::Shape::COPIES : 0);

  Keys keys;
  Values values;
  KeyRows<PagedSlots<V>> rows;
  tile::Copier<COPIES, RING> copier;
  char* ring;
  unsigned next[PASSES];  ///< pool slots of the next tile's keys: loaded a tile ahead of the rows that they name
  int position;           ///< of the next tile's first key
  int left;               ///< tiles not yet started

  HEADTUNE_DEVICE Feed(const KeyRows<PagedSlots<V>>& rows_of, int begin, int tiles, char* stages)
      : keys(tile::thread_index()),
        values(tile::thread_index()),
        rows(rows_of),
        ring(stages),
        position(begin),
        left(tiles) {
    fetch_slots();
#pragma unroll
    for (int t = 0; t < copier.AHEAD; ++t) start(t);
  }

  HEADTUNE_DEVICE void fetch_slots() {
#pragma unroll
    for (int pass = 0; pass < PASSES; ++pass) {
      unsigned slot[1];
      rows.slots.template load<false>(slot, position, keys.key + pass * Keys::Shape::KEYS_PER_PASS);
      next[pass] = slot[0];
    }
    position += V::BLOCK_N;
  }

  HEADTUNE_DEVICE char* stage(int tile) const { return ring + tile % RING * TILE_BYTES; }

  /// Calls copy(step, LDS address, global address) for all of this thread's chunks of a tile.
  template <class Copy>
  HEADTUNE_DEVICE void each_chunk(char* stage, Copy copy) const {
    keys.each([&](int pass) { return rows.keys.row(next[pass]); },
              [&](int step, int lds, const char* source) { copy(step, stage + lds, source); });
    if constexpr (SEPARATE_VALUES)
      values.each([&](int pass) { return rows.values.row(next[pass]); },
                  [&](int step, int lds, const char* source) {
                    copy(Keys::Shape::COPIES + step, stage + KEY_BYTES + lds, source);
                  });
  }

  HEADTUNE_DEVICE void start(int tile) {
    if (left > 0) {
      each_chunk(stage(tile), [&](int step, char* lds, const char* source) { copier.copy(step, lds, source); });
      fetch_slots();
    }
    --left;
    copier.close();
  }

  /// Waits for tile `tile`; the place of its predecessor is then free.
  HEADTUNE_DEVICE const char* land(int tile) {
    copier.land(
        [&](auto write) { each_chunk(stage(tile), [&](int step, char* lds, const char*) { write(step, lds); }); });
    return stage(tile);
  }
};

/// Running softmax of the rows whose scores this thread holds.
template <class V, class Tile>
struct Softmax {
  static constexpr int ROWS = Tile::SCORE_ROWS, KEYS = Tile::SCORE_KEYS;

  const Lds<V, Tile>& lds;
  /// Numerators are rounded to 16 bit with this bias where the hardware cuts them (see pack_bias).
  static constexpr float BIAS = tile::pack_bias<typename Tile::Element>;

  float scale;            ///< of raw scores, to log2 units
  float reference[ROWS];  ///< copies of lds.reference
  float sum[ROWS];        ///< over this thread's keys only

  HEADTUNE_DEVICE Softmax(const Lds<V, Tile>& lds, float scale) : lds(lds), scale(scale), reference{}, sum{} {}

  /// Scores of keys past the tile's `keys` weigh nothing.
  static HEADTUNE_DEVICE void mask(Tile& tile, int keys) {
#pragma unroll
    for (int e = 0; e < KEYS; ++e)
#pragma unroll
      for (int slot = 0; slot < ROWS; ++slot)
        if (Tile::score_key(e) >= keys) tile.set_score(slot, e, tile::negative_infinity);
  }

  /// Scores to log2 units over the reference; returns whether a reference is too low.
  HEADTUNE_DEVICE bool subtract_reference(Tile& tile) const {
    float highest = tile::negative_infinity;
#pragma unroll
    for (int slot = 0; slot < ROWS; ++slot)
#pragma unroll
      for (int e = 0; e < KEYS; ++e) {
        const float s = tile.score(slot, e) * scale - (reference[slot] - BIAS);
        tile.set_score(slot, e, s);
        highest = tile::maximum(highest, s);
      }
    return highest > RAISE_ABOVE;
  }

  /// Scores to numerators, in LDS; `added` gets their sums.
  HEADTUNE_DEVICE void store_numerators(Tile& tile, float (&added)[ROWS]) const {
#pragma unroll
    for (int slot = 0; slot < ROWS; ++slot) {
      added[slot] = 0;
#pragma unroll
      for (int e = 0; e < KEYS; ++e) {
        const float numerator = tile::exp2(tile.score(slot, e));
        tile.set_score(slot, e, numerator);
        added[slot] += numerator;
      }
    }
    tile.store_numerators();
    tile.publish_numerators();
  }

  /// Leaves the tile's numerators in LDS, readable by every wave.
  HEADTUNE_DEVICE void step(Tile& tile, int turn, int keys) {
    if (keys < V::BLOCK_N) mask(tile, keys);
    const bool too_low = subtract_reference(tile);
    const typename Tile::Scores shifted = tile.scores;
    float added[ROWS];
    store_numerators(tile, added);
    if (tile::barrier_any(too_low || turn == 0, lds.votes, turn)) {
      tile.scores = shifted;
      raise(tile, turn == 0);
      store_numerators(tile, added);
      __syncthreads();
    }
#pragma unroll
    for (int slot = 0; slot < ROWS; ++slot) sum[slot] += added[slot];
  }

  /// Raises every row's reference to its maximum so far and rescales what was summed against the old one. Rare: the
  /// first tile, and when scores climb.
  HEADTUNE_DEVICE void raise(Tile& tile, bool first) {
    reduce(
        tile::negative_infinity, [](float a, float b) { return tile::maximum(a, b); },
        [&](int slot) {
          float highest = tile.score(slot, 0);
#pragma unroll
          for (int e = 1; e < KEYS; ++e) highest = tile::maximum(highest, tile.score(slot, e));
          return highest;
        },
        [&](int row, float highest) {
          const float raise = first ? (highest == tile::negative_infinity ? 0 : highest) : tile::maximum(highest, 0);
          lds.reference[row] += raise;
          lds.factor[row] = first ? 0 : tile::exp2(-raise);
        });
#pragma unroll
    for (int slot = 0; slot < ROWS; ++slot) {
      const float raised = lds.reference[Tile::score_row(slot)];
#pragma unroll
      for (int e = 0; e < KEYS; ++e) tile.set_score(slot, e, tile.score(slot, e) - (raised - reference[slot]));
      sum[slot] *= lds.factor[Tile::score_row(slot)];
      reference[slot] = raised;
    }
    tile.scale_output(lds.factor);
  }

  /// Calls store(row, value) once per row with the reduction of `mine(slot)` over all threads that hold the row's
  /// scores.
  template <class Reduce, class Mine, class Store>
  HEADTUNE_DEVICE void reduce(float neutral, Reduce both, Mine mine, Store store) const {
#pragma unroll
    for (int slot = 0; slot < ROWS; ++slot) {
      const float value = Tile::across_keys(mine(slot), both);
      if (Tile::leads()) lds.partial[Tile::sharer() * lds.ROWS + Tile::score_row(slot)] = value;
    }
    __syncthreads();
    for (int row = tile::thread_index(); row < lds.ROWS; row += Tile::THREADS) {
      float value = neutral;
      for (int sharer = 0; sharer < Tile::SHARERS; ++sharer) value = both(value, lds.partial[sharer * lds.ROWS + row]);
      store(row, value);
    }
    __syncthreads();
  }
};

/// Normalised outputs and log-sum-exp of the split.
template <class V, class Tile>
HEADTUNE_DEVICE void write_partials(const VerifyParams& p, const Request& request, const Rows<V>& rows, int split,
                                    const Lds<V, Tile>& lds, Tile& tile, const Softmax<V, Tile>& softmax) {
  constexpr float LN2 = 0.69314718f;
  const auto index = [&](int row) { return partial_row<V>(p, request.index, split, rows.head(row), rows.token(row)); };
  softmax.reduce(
      0, [](float a, float b) { return a + b; }, [&](int slot) { return softmax.sum[slot]; },
      [&](int row, float sum) {
        lds.factor[row] = sum > 0 ? p.v_scale / sum : 0;
        if (rows.valid(row, request))
          tile::store_global(
              p.partial_lse + index(row),
              sum > 0 ? (lds.reference[row] - softmax.BIAS + tile::log2(sum)) * LN2 : tile::negative_infinity);
      });
  tile.scale_output(lds.factor);
  tile.each_output([&](int row, auto visit) {
    if (!rows.valid(row, request)) return;
    float* out = p.partial_out + index(row) * V::V_HEAD_DIM;
    visit([&](int column, const auto& values) { tile::store_floats(out + column, values); });
  });
}

/// All rows of the workgroup over keys [begin, end) of the prefix.
template <class V>
HEADTUNE_DEVICE void attend_split(const VerifyParams& p, const Request& request, const Rows<V>& rows, int split,
                                  int begin, int end) {
  using Tile = tile::LdsTile<V, layout<V>.output_rows(), layout<V>.query_in_lds()>;
  static_assert(Tile::LEGAL, "rows, keys or columns do not split evenly over the waves");
  constexpr float LOG2E = 1.44269504f;
  extern __shared__ __attribute__((aligned(1024))) char headtune_tiles[];  // Hopper's swizzle counts from 1024 bytes

  const int tiles = ceil_div(end - begin, V::BLOCK_N);
  const Lds<V, Tile> lds(headtune_tiles);
  lds.clear();
  Feed<V, Tile> feed(prefix_rows<V>(p, request, rows.kv_head, end), begin, tiles, lds.stages);
  Tile tile(lds.query, lds.numerators, lds.exchange);
  tile.load_query([&](int row) {
    return rows.valid(row, request) ? tensor_row<2>(p.q, request.qo_begin + rows.token(row), p.q_stride_token,
                                                    rows.head(row), p.q_stride_head)
                                    : nullptr;
  });
  Softmax<V, Tile> softmax(lds, p.sm_scale * p.k_scale * LOG2E);

  for (int t = 0; t < tiles; ++t) {
    const char* stage = feed.land(t);
    tile.multiply_keys(stage, [&] { feed.start(t + feed.copier.AHEAD); });
    softmax.step(tile, t, end - begin - t * V::BLOCK_N);
    tile.multiply_values(stage + feed.VALUES_OFFSET);
  }
  write_partials(p, request, rows, split, lds, tile, softmax);
}

}  // namespace lds_path

/// Grid: (head blocks, splits, batch).
template <class Variant>
HEADTUNE_DEVICE void stage1_lds(const VerifyParams& p) {
  const int split = blockIdx.y;
  const Request request = Request::read(p, blockIdx.z);
  if (request.qo_len <= 0) return;
  const SplitCut cut = cut_prefix(request.prefix_len, p.num_splits, p.min_keys_per_split, Variant::BLOCK_N);
  const Rows<Variant> rows = Rows<Variant>::of_head_block(blockIdx.x);
  if (split < cut.used) {
    const int begin = split * cut.keys_per_split;
    const int end = begin + cut.keys_per_split < request.prefix_len ? begin + cut.keys_per_split : request.prefix_len;
    lds_path::attend_split<Variant>(p, request, rows, split, begin, end);
  } else if (!(Variant::FUSE_COMBINE && split == 0)) {
    return;
  }
  if constexpr (Variant::FUSE_COMBINE) combine_when_last<Variant>(p, request, rows, cut.used, tile::dynamic_lds());
}

}  // namespace headtune
