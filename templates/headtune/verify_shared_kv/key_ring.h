// A ring of K and V tiles in LDS that a team of waves fills for itself with asynchronous copies, several tiles ahead:
// no barrier of the workgroup, and as many bytes in flight as LDS holds.
//
// A tile is rows of 16-byte units; unit u of row r lies at u ^ swizzle(r), so that the fragment loads of 8 lanes (4
// units of 2 neighbouring rows for K; 2 units of 4 rows that lie 4 apart for V) hit 8 different banks groups. An fp8
// prefix stays as it is until fragments are read; two of its rows of 64 dims share a line of 8 units.
#pragma once

#if !defined(__CUDACC__)
#error "NVIDIA device code (LOAD_PATH 2), for NVRTC or nvcc; headtune/verify_shared_kv/stage1.h chooses the path"
#endif

#include <headtune/tile/async_copy.h>
#include <headtune/verify_shared_kv/wave_attention.h>

namespace headtune {

template <class Variant, class Shape>
struct RingShape {
  static constexpr int stages = Variant::NUM_STAGES;
  static constexpr int row_bytes = Variant::HEAD_DIM * Shape::Prefix::bytes;
  static constexpr int units = row_bytes / 16;
  static constexpr int key_bytes = Shape::tile_keys * row_bytes;
  static constexpr int stage_bytes = 2 * key_bytes;
  static constexpr int team_threads = Shape::row_warps * tile::wave_size;
  static constexpr int row_step = team_threads / units;       // rows that the team copies at a time
  static constexpr int copies = Shape::tile_keys / row_step;  // by each thread, for K and again for V

  static_assert(tile::has_async_copy, "LOAD_PATH 2 needs asynchronous copies");
  static_assert(Variant::HEAD_DIM == Variant::V_HEAD_DIM, "the ring path wants K and V rows of one size");
  static_assert(team_threads % units == 0 && (units == 4 || units % 8 == 0), "HEAD_DIM must be 64, 128 or 256");
  static_assert(Shape::tile_keys % row_step == 0, "BLOCK_N is too small for the team's copies");
  static_assert(stages >= 2, "a ring has at least two stages");
};

constexpr HEADTUNE_DEVICE int swizzle(int row) { return (row % 2 * 4) ^ (row / 4 % 4 * 2); }

/// Where the line of 8 units (or the row, if longer) begins that holds a row.
template <int row_bytes>
constexpr HEADTUNE_DEVICE int line(int row) {
  return row_bytes < 128 ? row / 2 * 128 : row * row_bytes;
}

/// One team's ring. Thread `thread` of the team copies unit thread % units of rows thread / units + i * row_step.
template <class Variant, class Shape>
struct KeyRing {
  using Ring = RingShape<Variant, Shape>;
  using Slots = PagedSlots<Variant>;
  using Slot = typename Slots::Slot;
  using Keys = KeyTile<Shape, typename Shape::Prefix>;
  using Values = ValueTile<Shape, typename Shape::Prefix>;

  const PrefixRows<Variant>& rows;
  int team, first_row;
  const char* base;         ///< of the ring, in LDS
  unsigned unit_bytes;      ///< of this thread's unit in a row
  Slot slot[Ring::copies];  ///< of the next tile to copy, this thread's rows

  HEADTUNE_DEVICE KeyRing(const PrefixRows<Variant>& source, float* lds, int team_index, int thread)
      : rows(source),
        team(team_index),
        first_row(thread / Ring::units),
        base(reinterpret_cast<const char*>(lds) + team_index * Ring::stages * Ring::stage_bytes),
        unit_bytes(thread % Ring::units * 16) {}

  HEADTUNE_DEVICE void load_slots(Slot (&to)[Ring::copies], int first) const {
#pragma unroll
    for (int i = 0; i < Ring::copies; ++i) {
      Slot one[1];
      rows.slots.template load<false>(one, first, first_row + i * Ring::row_step);
      to[i] = one[0];
    }
  }

  /// Starts the copies of a tile into `stage`.
  HEADTUNE_DEVICE void copy(const Slot (&from)[Ring::copies], int stage) const {
    const unsigned to = tile::lds_address(base) + stage * Ring::stage_bytes;
#pragma unroll
    for (int i = 0; i < Ring::copies; ++i) {
      const int row = first_row + i * Ring::row_step;
      const unsigned at = to + line<Ring::row_bytes>(row) + (unit_bytes ^ swizzle(row) * 16);
      tile::copy_async(at, rows.keys.row(from[i]) + unit_bytes);
      tile::copy_async(at + Ring::key_bytes, rows.values.row(from[i]) + unit_bytes);
    }
  }

  template <class T>
  static HEADTUNE_DEVICE T load(const char* from) {
    return *reinterpret_cast<const T*>(from);
  }

  HEADTUNE_DEVICE void read_keys(Keys& keys, int stage) const {
    const int lane = tile::lane_index(), free = tile::free_index(lane), quarter = tile::quarter(lane);
    const char* from = base + stage * Ring::stage_bytes + line<Ring::row_bytes>(tile::score_key(free, 0));
    const char* even = from + (quarter ^ swizzle(tile::score_key(free, 0))) * 16;
    const char* odd = from + ((quarter + 4) ^ swizzle(tile::score_key(free, 0))) * 16;
#pragma unroll
    for (int n = 0; n < Shape::steps; ++n)
#pragma unroll
      for (int u = 0; u < tile::score_tiles; ++u)
#pragma unroll
        for (int i = 0; i < Keys::loads; ++i)
          keys.word[n][u][i] =
              load<tile::U32x4>((i % 2 ? odd : even) +
                                (n * tile::keys_per_step + u * tile::elements_per_row) * Ring::row_bytes + i / 2 * 128);
  }

  HEADTUNE_DEVICE void read_values(Values& values, int stage) const {
    const int lane = tile::lane_index(), free = tile::free_index(lane);
    const int row = tile::keys_per_lane * tile::quarter(lane);
    const char* from = base + stage * Ring::stage_bytes + Ring::key_bytes + row * Ring::row_bytes;
    constexpr int vector_bytes = Shape::vector * Shape::Prefix::bytes;
    constexpr int group_bytes = Shape::columns.group * Shape::Prefix::bytes;
    const int even = (free * vector_bytes) ^ (swizzle(row) * 16), odd = (free * vector_bytes) ^ (swizzle(row + 1) * 16);
#pragma unroll
    for (int n = 0; n < Shape::steps; ++n)
#pragma unroll
      for (int j = 0; j < tile::keys_per_lane; ++j)
#pragma unroll
        for (int g = 0; g < Shape::groups; ++g)
          values.word[n][j][g] = load<typename Values::Load>(from + ((j % 2 ? odd : even) ^ (g * group_bytes % 128)) +
                                                             line<Ring::row_bytes>(n * tile::keys_per_step + j) +
                                                             g * group_bytes / 128 * 128);
  }
};

/// Asks for a ring's first tiles; everything else that a wave loads can wait until then.
template <class Variant, class Shape>
HEADTUNE_DEVICE void start_ring(KeyRing<Variant, Shape>& ring, const KeyRange& range) {
  constexpr int stages = Variant::NUM_STAGES;
  typename KeyRing<Variant, Shape>::Slot
      slots[stages - 1][RingShape<Variant, Shape>::copies];  // of all first tiles at once: one latency
  if (range.first >= range.end) return;
#pragma unroll
  for (int i = 0; i < stages - 1; ++i) ring.load_slots(slots[i], range.first + i * range.stride);
  ring.load_slots(ring.slot, range.first + (stages - 1) * range.stride);
#pragma unroll
  for (int i = 0; i < stages - 1; ++i) {
    if (range.first + i * range.stride < range.end) ring.copy(slots[i], i);
    tile::commit_copies();
  }
}

/// As walk_keys of wave_attention.h, through a ring that has been started.
template <class Variant, class Shape, class Visible>
HEADTUNE_DEVICE void walk_ring(WaveState<Shape>& state, const Queries<Shape>& queries, KeyRing<Variant, Shape>& ring,
                               const KeyRange& range, float scale, const Visible& visible) {
  constexpr int stages = Variant::NUM_STAGES;
  const float inverse_scale = 1.0f / scale;
  int ahead = range.first + (stages - 1) * range.stride;  // the tile whose slots are loaded
  int stage = 0, free_stage = stages - 1;
#pragma unroll 1
  for (int t = range.first; t < range.end; t += range.stride) {
    tile::wait_copies<stages - 2>();
    tile::team_barrier<Shape::row_warps>(ring.team);
    if (ahead < range.end) ring.copy(ring.slot, free_stage);
    tile::commit_copies();
    ahead += range.stride;
    ring.load_slots(ring.slot, ahead);
    Scores<Shape> scores;
    {
      typename KeyRing<Variant, Shape>::Keys keys;
      ring.read_keys(keys, stage);
      scores.multiply(keys, queries, state.start);
    }
    if (t + Shape::tile_keys > range.unmasked) scores.mask(t, visible);
    scores.scale(scale);
    update_offsets(state, scores, inverse_scale);
    typename KeyRing<Variant, Shape>::Values values;
    ring.read_values(values, stage);
    accumulate(state, scores, values);
    free_stage = stage;
    stage = stage + 1 == stages ? 0 : stage + 1;
  }
  tile::wait_copies<0>();
}

}  // namespace headtune
