// The running softmax of the LDS path.
//
// Numerators are taken against a per-row reference that is raised only when a score exceeds it by more than
// RAISE_ABOVE, so the usual tile needs no maximum, no rescaling and no shuffle. The barrier that publishes the
// numerators also carries the vote on whether a reference is too low; when one is, the tile's numerators are formed
// again.
#pragma once

#include <headtune/tile/lds_tile.h>
#include <headtune/verify_shared_kv/lds_memory.h>

namespace headtune::lds_path {

/// Log2 units. 2^8 times the number of keys stays far inside float and the numerators inside fp16.
inline constexpr float RAISE_ABOVE = 8;

/// Running softmax of the rows whose scores this thread holds.
template <class V, class Tile>
struct Softmax {
  static constexpr int ROWS = Tile::SCORE_ROWS, KEYS = Tile::SCORE_KEYS;

  const Lds<V, Tile>& lds;
  float scale;            ///< of raw scores, to log2 units
  float reference[ROWS];  ///< copies of lds.reference
  float sum[ROWS];        ///< over this thread's keys only

  HEADTUNE_DEVICE Softmax(const Lds<V, Tile>& lds, float scale) : lds(lds), scale(scale), reference{}, sum{} {}

  /// Scores for which visible(row, key of the tile) does not hold weigh nothing.
  template <class Visible>
  static HEADTUNE_DEVICE void mask(Tile& tile, const Visible& visible) {
#pragma unroll
    for (int e = 0; e < KEYS; ++e)
#pragma unroll
      for (int slot = 0; slot < ROWS; ++slot)
        if (!visible(Tile::score_row(slot), Tile::score_key(e))) tile.set_score(slot, e, tile::negative_infinity);
  }

  /// Scores to log2 units over the reference; returns whether a reference is too low.
  HEADTUNE_DEVICE bool subtract_reference(Tile& tile) const {
    float highest = tile::negative_infinity;
#pragma unroll
    for (int slot = 0; slot < ROWS; ++slot)
#pragma unroll
      for (int e = 0; e < KEYS; ++e) {
        const float s = tile.score(slot, e) * scale - reference[slot];
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
        const float numerator = Tile::cut(tile::exp2(tile.score(slot, e)));
        tile.set_score(slot, e, numerator);
        added[slot] += numerator;
      }
    }
    tile.store_numerators();
    tile.publish_lds();
  }

  /// Leaves the tile's numerators in LDS, readable by every wave. `turn` counts tiles.
  HEADTUNE_DEVICE void step(Tile& tile, int turn) {
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

/// Attends to the `tiles` tiles of a feed, `keys` keys in all.
template <class V, class Tile, class Feed>
HEADTUNE_DEVICE void walk_tiles(Feed& feed, Tile& tile, Softmax<V, Tile>& softmax, int tiles, int keys) {
  for (int t = 0; t < tiles; ++t) {
    const char* stage = feed.land(t);
    tile.multiply_keys(stage, [&] { feed.meanwhile(t); });
    const int left = keys - t * V::BLOCK_N;
    if (left < V::BLOCK_N) softmax.mask(tile, [left](int, int key) { return key < left; });
    softmax.step(tile, t);
    tile.multiply_values(stage + feed.VALUES_OFFSET);
  }
}

}  // namespace headtune::lds_path
