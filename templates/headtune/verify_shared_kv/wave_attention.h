// One wave's attention over its own keys, from global memory straight into registers: no LDS, no barrier.
//
// Each lane loads 16 bytes of a key row and up to 16 bytes of a value row in the layout of the matrix operands:
// the dims of a dot may come in any order as long as Q uses the same one, and the columns of the output come out
// permuted (see ColumnShape) and are put right when waves merge. The next tile's loads are issued before this tile's
// softmax, K as soon as its registers are free, then V.
#pragma once

#include <headtune/tile/fp8.h>
#include <headtune/verify_shared_kv/key_rows.h>
#include <headtune/verify_shared_kv/queries.h>
#include <headtune/verify_shared_kv/wave_shape.h>

namespace headtune {

/// Rows whose maximum grows by less than this (a factor of 2^8) keep their old one: most tiles need no rescale.
inline constexpr float rescale_threshold = 8.0f;
/// Stands for the maximum of nothing: finite, so that differences are never NaN.
inline constexpr float lowest_score = -1e30f;

/// Running softmax of one wave. Exponents are base 2: a probability is exp2(score * scale - offset).
template <class Shape>
struct WaveState {
  tile::F32x4 output[Shape::blocks][Shape::groups][Shape::vector];
  tile::F32x4 sum[Shape::blocks];  ///< of the probabilities as the matrix unit saw them
  float offset[Shape::blocks][tile::rows_per_lane];
  float limit[Shape::blocks][tile::rows_per_lane];  ///< an exponent above this asks for a rescale
  /// -offset / scale: the scores' accumulators start here, so that no instruction is spent on subtracting.
  tile::F32x4 start[Shape::blocks];

  HEADTUNE_DEVICE void clear() {
#pragma unroll
    for (int m = 0; m < Shape::blocks; ++m) {
#pragma unroll
      for (int g = 0; g < Shape::groups; ++g)
#pragma unroll
        for (int c = 0; c < Shape::vector; ++c) output[m][g][c] = tile::F32x4{0, 0, 0, 0};
      sum[m] = tile::F32x4{0, 0, 0, 0};
#pragma unroll
      for (int i = 0; i < tile::rows_per_lane; ++i) set_offset(m, i, lowest_score, 0);
    }
  }

  /// What exponents are relative to: nothing yet before the first score.
  HEADTUNE_DEVICE float base(int m, int i) const { return offset[m][i] == lowest_score ? 0.0f : offset[m][i]; }

  HEADTUNE_DEVICE void set_offset(int m, int i, float value, float inverse_scale) {
    offset[m][i] = value;
    limit[m][i] = value == lowest_score ? tile::negative_infinity : rescale_threshold;
    const float from = -base(m, i) * inverse_scale;
#pragma unroll
    for (int e = 0; e < tile::elements_per_row; ++e) start[m][i * tile::elements_per_row + e] = from;
  }

  /// Goes on with scores of another scale.
  HEADTUNE_DEVICE void restart(float scale) {
#pragma unroll
    for (int m = 0; m < Shape::blocks; ++m)
#pragma unroll
      for (int i = 0; i < tile::rows_per_lane; ++i) set_offset(m, i, offset[m][i], 1.0f / scale);
  }

  HEADTUNE_DEVICE void scale_output(float factor) {
#pragma unroll
    for (int m = 0; m < Shape::blocks; ++m)
#pragma unroll
      for (int g = 0; g < Shape::groups; ++g)
#pragma unroll
        for (int c = 0; c < Shape::vector; ++c) output[m][g][c] = tile::scaled(output[m][g][c], factor);
  }

  /// Multiplies what has been accumulated for row i of block m.
  HEADTUNE_DEVICE void rescale(int m, int i, float factor) {
#pragma unroll
    for (int e = i * tile::elements_per_row; e < (i + 1) * tile::elements_per_row; ++e) {
      sum[m][e] *= factor;
#pragma unroll
      for (int g = 0; g < Shape::groups; ++g)
#pragma unroll
        for (int c = 0; c < Shape::vector; ++c) output[m][g][c][e] *= factor;
    }
  }
};

/// Pool slots of the rows that this lane loads for one tile. Keys and values are fetched apart, each right behind the
/// rows of the tile before: loads return in order, and nothing then waits for a younger one.
template <class Shape, class Slot>
struct TileSlots {
  Slot key[Shape::steps][tile::score_tiles];
  Slot value[Shape::steps][tile::keys_per_lane];

  template <bool whole, class Slots>
  HEADTUNE_DEVICE void load_keys(const Slots& slots, int first) {
    const int free = tile::free_index(tile::lane_index());
#pragma unroll
    for (int n = 0; n < Shape::steps; ++n)
#pragma unroll
      for (int u = 0; u < tile::score_tiles; ++u) {
        Slot slot[1];
        slots.template load<whole>(slot, first + n * tile::keys_per_step + tile::elements_per_row * u,
                                   tile::score_key(free, 0));
        key[n][u] = slot[0];
      }
  }

  template <bool whole, class Slots>
  HEADTUNE_DEVICE void load_values(const Slots& slots, int first) {
#pragma unroll
    for (int n = 0; n < Shape::steps; ++n)
      slots.template load<whole>(value[n], first + n * tile::keys_per_step,
                                 tile::keys_per_lane * tile::quarter(tile::lane_index()));
  }
};

/// Rows of K as they lie in memory, 16 bytes a time of `Element`s.
template <class Shape, class Element>
struct KeyTile {
  static constexpr int chunk_loads = 2 / Element::bytes;  // chunks in 16 bytes
  static constexpr int loads = Shape::chunks / chunk_loads;
  tile::U32x4 word[Shape::steps][tile::score_tiles][loads];

  template <class Slot>
  HEADTUNE_DEVICE void load(const RowAddresses& rows, const TileSlots<Shape, Slot>& slots) {
    const int offset = tile::quarter(tile::lane_index()) * Shape::lane_dims * Element::bytes;
#pragma unroll
    for (int n = 0; n < Shape::steps; ++n)
#pragma unroll
      for (int u = 0; u < tile::score_tiles; ++u) {
        const char* row = rows.row(slots.key[n][u]) + offset;
#pragma unroll
        for (int i = 0; i < loads; ++i)
          word[n][u][i] = tile::load_stream<tile::U32x4>(row + Shape::first_dim(i * chunk_loads) * Element::bytes);
      }
  }

  /// A chunk as operand of the first product.
  HEADTUNE_DEVICE tile::U32x4 operand(int n, int u, int chunk) const {
    if constexpr (Element::bytes == 2) {
      return word[n][u][chunk];
    } else {
      const tile::U32x4& codes = word[n][u][chunk / 2];
      return tile::widen<typename Shape::Element, Element>(codes[chunk % 2 * 2], codes[chunk % 2 * 2 + 1]);
    }
  }
};

/// Rows of V as they lie in memory, `vector` columns a time.
template <class Shape, class Element>
struct ValueTile {
  using Load = typename tile::LoadOf<Shape::vector * Element::bytes>::type;
  Load word[Shape::steps][tile::keys_per_lane][Shape::groups];

  template <class Slot>
  HEADTUNE_DEVICE void load(const RowAddresses& rows, const TileSlots<Shape, Slot>& slots) {
    const int offset = tile::free_index(tile::lane_index()) * Shape::vector * Element::bytes;
#pragma unroll
    for (int n = 0; n < Shape::steps; ++n)
#pragma unroll
      for (int j = 0; j < tile::keys_per_lane; ++j) {
        const char* row = rows.row(slots.value[n][j]) + offset;
#pragma unroll
        for (int g = 0; g < Shape::groups; ++g)
          word[n][j][g] = tile::load_stream<Load>(row + g * Shape::columns.group * Element::bytes);
      }
  }

  /// Column c of each group's lanes: pairs of keys side by side, as operand of the second product.
  template <int c>
  HEADTUNE_DEVICE void gather_column(unsigned (&pairs)[tile::keys_per_lane / 2], int n, int g) const {
    constexpr int at = c * Element::bytes / 4;
#pragma unroll
    for (int i = 0; i < tile::keys_per_lane / 2; ++i)
      pairs[i] = tile::pair_rows<typename Shape::Element, Element, c>(tile::word(word[n][2 * i][g], at),
                                                                      tile::word(word[n][2 * i + 1][g], at));
  }
};

/// Scores of one tile; once scaled, the exponents relative to the rows' offsets.
template <class Shape>
struct Scores {
  tile::F32x4 tile[Shape::blocks][Shape::steps][tile::score_tiles];

  template <class Keys>
  HEADTUNE_DEVICE void multiply(const Keys& keys, const Queries<Shape>& queries,
                                const tile::F32x4 (&start)[Shape::blocks]) {
#pragma unroll
    for (int m = 0; m < Shape::blocks; ++m)
#pragma unroll
      for (int n = 0; n < Shape::steps; ++n)
#pragma unroll
        for (int u = 0; u < tile::score_tiles; ++u) tile[m][n][u] = start[m];
#pragma unroll
    for (int chunk = 0; chunk < Shape::chunks; ++chunk) {
      tile::U32x4 query[Shape::blocks][tile::rows_per_lane];
#pragma unroll
      for (int m = 0; m < Shape::blocks; ++m) queries.fetch(query[m], m, chunk);
#pragma unroll
      for (int n = 0; n < Shape::steps; ++n)
#pragma unroll
        for (int u = 0; u < tile::score_tiles; ++u) {
          const tile::U32x4 operand = keys.operand(n, u, chunk);
#pragma unroll
          for (int m = 0; m < Shape::blocks; ++m)
            tile::mma_scores<typename Shape::Element>(tile[m][n][u], operand, query[m]);
        }
    }
  }

  HEADTUNE_DEVICE void scale(float factor) {
#pragma unroll
    for (int m = 0; m < Shape::blocks; ++m)
#pragma unroll
      for (int n = 0; n < Shape::steps; ++n)
#pragma unroll
        for (int u = 0; u < tile::score_tiles; ++u) tile[m][n][u] = tile::scaled(tile[m][n][u], factor);
  }

  HEADTUNE_DEVICE void shift(int m, int i, float by) {
#pragma unroll
    for (int n = 0; n < Shape::steps; ++n)
#pragma unroll
      for (int u = 0; u < tile::score_tiles; ++u)
#pragma unroll
        for (int e = 0; e < tile::elements_per_row; ++e) tile[m][n][u][i * tile::elements_per_row + e] += by;
  }

  /// Keeps the scores for which visible(block, row element, position) holds; `first` is the tile's first position.
  template <class Visible>
  HEADTUNE_DEVICE void mask(int first, const Visible& visible) {
    const int quarter = tile::quarter(tile::lane_index());
#pragma unroll
    for (int m = 0; m < Shape::blocks; ++m)
#pragma unroll
      for (int n = 0; n < Shape::steps; ++n)
#pragma unroll
        for (int u = 0; u < tile::score_tiles; ++u)
#pragma unroll
          for (int x = 0; x < 4; ++x) {
            const int j = tile::elements_per_row * u + x % tile::elements_per_row;
            const int position = first + n * tile::keys_per_step + tile::keys_per_lane * quarter + j;
            if (!visible(m, x / tile::elements_per_row, position)) tile[m][n][u][x] = tile::negative_infinity;
          }
  }

  /// This lane's largest score of row i of block m.
  HEADTUNE_DEVICE float largest(int m, int i) const {
    float top = tile[m][0][0][i * tile::elements_per_row];
#pragma unroll
    for (int n = 0; n < Shape::steps; ++n)
#pragma unroll
      for (int u = 0; u < tile::score_tiles; ++u)
#pragma unroll
        for (int e = 0; e < tile::elements_per_row; ++e)
          top = tile::maximum(top, tile[m][n][u][i * tile::elements_per_row + e]);
    return top;
  }
};

/// Raises the running maxima where this tile's exponents ask for it.
template <class Shape>
HEADTUNE_DEVICE void update_offsets(WaveState<Shape>& state, Scores<Shape>& exponents, float inverse_scale) {
  float top[Shape::blocks][tile::rows_per_lane];
  bool above = false;
#pragma unroll
  for (int m = 0; m < Shape::blocks; ++m)
#pragma unroll
    for (int i = 0; i < tile::rows_per_lane; ++i) {
      top[m][i] = exponents.largest(m, i);
      above |= top[m][i] > state.limit[m][i];
    }
  if (!tile::any_lane(above)) return;
#pragma unroll
  for (int m = 0; m < Shape::blocks; ++m)
#pragma unroll
    for (int i = 0; i < tile::rows_per_lane; ++i) {
      const float base = state.base(m, i);
      const float wanted = tile::row_max(top[m][i]) + base - tile::pack_bias<typename Shape::Element>;
      const float offset = tile::maximum(state.offset[m][i], wanted);
      state.rescale(m, i, tile::exp2(state.offset[m][i] - offset));
      state.set_offset(m, i, offset, inverse_scale);
      exponents.shift(m, i, base - state.base(m, i));
    }
}

/// Probabilities of one key step of one 16-row block, packed as operand of the second product.
template <class Shape>
HEADTUNE_DEVICE void probabilities(unsigned (&packed)[2 * tile::score_tiles], const Scores<Shape>& exponents, int m,
                                   int n) {
#pragma unroll
  for (int u = 0; u < tile::score_tiles; ++u)
#pragma unroll
    for (int x = 0; x < 2; ++x)
      packed[2 * u + x] = tile::pack_probabilities<typename Shape::Element>(
          tile::exp2(exponents.tile[m][n][u][2 * x]), tile::exp2(exponents.tile[m][n][u][2 * x + 1]));
}

template <int c, class Shape, class Values>
HEADTUNE_DEVICE void accumulate_columns(WaveState<Shape>& state, const Values& values,
                                        const unsigned (&p)[Shape::blocks][2 * tile::score_tiles], int n, int g) {
  if constexpr (c < Shape::vector) {
    unsigned pairs[tile::keys_per_lane / 2];
    values.template gather_column<c>(pairs, n, g);
#pragma unroll
    for (int m = 0; m < Shape::blocks; ++m)
      tile::mma_values<typename Shape::Element>(state.output[m][g][c], pairs, p[m]);
    accumulate_columns<c + 1>(state, values, p, n, g);
  }
}

/// Adds P * V of one tile, and the sums of P as one more column of ones.
template <class Shape, class Values>
HEADTUNE_DEVICE void accumulate(WaveState<Shape>& state, const Scores<Shape>& exponents, const Values& values) {
  unsigned ones[tile::keys_per_lane / 2];
#pragma unroll
  for (unsigned& pair : ones) pair = tile::ones<typename Shape::Element>;
#pragma unroll
  for (int n = 0; n < Shape::steps; ++n) {
    unsigned p[Shape::blocks][2 * tile::score_tiles];
#pragma unroll
    for (int m = 0; m < Shape::blocks; ++m) {
      probabilities(p[m], exponents, m, n);
      tile::mma_values<typename Shape::Element>(state.sum[m], ones, p[m]);
    }
#pragma unroll
    for (int g = 0; g < Shape::groups; ++g) accumulate_columns<0>(state, values, p, n, g);
  }
}

/// The keys that a wave walks: tiles at first, first + stride, ... below end. Positions from `unmasked` on go through
/// the mask.
struct KeyRange {
  int first, stride, end, unmasked;
};

/// Walks a wave's tiles: in a loop all but the last, each with the loads of the next, then the last one, with none that
/// would have to be waited for.
///
/// No load depends on a branch: a compiler counts what is in flight, and behind a branch it must assume the fewest,
/// that is wait for younger loads too. So a tile that would end behind the last key begins earlier, at the last
/// tile_keys keys, and keys that are not its own are masked; no slot outside the request is read.
template <class Shape, class Rows, class Visible>
HEADTUNE_DEVICE void walk_keys(WaveState<Shape>& state, const Queries<Shape>& queries, const Rows& rows,
                               const KeyRange& range, float scale, const Visible& visible) {
  if (range.first >= range.end) return;
  const float inverse_scale = 1.0f / scale;
  TileSlots<Shape, typename Rows::Slots::Slot> slots;
  KeyTile<Shape, typename Rows::Element> keys;
  ValueTile<Shape, typename Rows::Element> values;
  const int last_begin = range.end - Shape::tile_keys;
  const auto begin_of = [&](int t) { return t < last_begin ? t : last_begin; };
  const auto attend = [&](int t, int begin, const auto& ask_for_next_keys) {
    Queries<Shape>::refetch();
    Scores<Shape> scores;
    scores.multiply(keys, queries, state.start);
    ask_for_next_keys();
    if (t + Shape::tile_keys > range.unmasked)
      scores.mask(begin, [&](int m, int i, int position) { return position >= t && visible(m, i, position); });
    scores.scale(scale);
    update_offsets(state, scores, inverse_scale);
    accumulate(state, scores, values);
  };
  int t = range.first;
  if (last_begin < 0) {  // fewer keys than a tile: its slots are clamped one by one
    slots.template load_keys<false>(rows.slots, t);
    slots.template load_values<false>(rows.slots, t);
    keys.load(rows.keys, slots);
    values.load(rows.values, slots);
    return attend(t, t, [] {});
  }
  slots.template load_keys<true>(rows.slots, begin_of(t));
  slots.template load_values<true>(rows.slots, begin_of(t));
  keys.load(rows.keys, slots);
  tile::issue_first();  // in the loop's order: what it may leave in flight is the lesser of here and there
  slots.template load_keys<true>(rows.slots, begin_of(t + range.stride));
  tile::issue_first();
  values.load(rows.values, slots);
  tile::issue_first();
  slots.template load_values<true>(rows.slots, begin_of(t + range.stride));
#pragma unroll 1
  for (; t + range.stride < range.end; t += range.stride) {
    attend(t, begin_of(t), [&] {
      keys.load(rows.keys, slots);
      slots.template load_keys<true>(rows.slots, begin_of(t + 2 * range.stride));
    });
    values.load(rows.values, slots);
    slots.template load_values<true>(rows.slots, begin_of(t + 2 * range.stride));
    // Else the compiler, which sees the same loads before the loop, asks for both at the beginning of the next round.
    asm volatile("" ::: "memory");
  }
  attend(t, begin_of(t), [] {});
}

}  // namespace headtune
