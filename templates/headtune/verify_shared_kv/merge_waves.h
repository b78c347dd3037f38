// Waves that walked different keys of the same rows merge once, at the end, through LDS.
#pragma once

#include <headtune/verify_shared_kv/wave_attention.h>

namespace headtune {

template <class Shape>
struct MergeLds {
  static constexpr int row_floats = Shape::columns.chunk + 4;  // padded against bank conflicts
  static constexpr int unit_floats = register_path::unit_floats(Shape::columns.chunk);
  static constexpr int wave_floats = Shape::merge.per_pass * unit_floats;

  float* units;    ///< [key_warps][row_warps][per_pass][16][row_floats]
  float* offsets;  ///< [key_warps][padded_rows]
  float* sums;     ///< likewise

  HEADTUNE_DEVICE explicit MergeLds(float* lds)
      : units(lds),
        offsets(lds + Shape::num_warps * wave_floats),
        sums(offsets + Shape::key_warps * Shape::padded_rows) {}
};

/// Unit u of a wave: 16-row block, group of columns, first accumulator element of a row.
template <class Shape>
struct MergeUnit {
  static constexpr int elements = Shape::columns.chunk / (4 * Shape::vector);  // of a row, in one unit
  static constexpr int subsets = tile::elements_per_row / elements;
  int block, group, first_element;

  explicit constexpr HEADTUNE_DEVICE MergeUnit(int u)
      : block(u / subsets / Shape::groups), group(u / subsets % Shape::groups), first_element(u % subsets * elements) {}
};

/// Softmax statistics of one row over all waves.
struct RowTotal {
  float offset, sum;
};

template <class Shape>
HEADTUNE_DEVICE RowTotal row_total(const MergeLds<Shape>& lds, int row) {
  RowTotal total{lowest_score, 0};
#pragma unroll
  for (int w = 0; w < Shape::key_warps; ++w)
    total.offset = tile::maximum(total.offset, lds.offsets[w * Shape::padded_rows + row]);
#pragma unroll
  for (int w = 0; w < Shape::key_warps; ++w)
    total.sum +=
        lds.sums[w * Shape::padded_rows + row] * tile::exp2(lds.offsets[w * Shape::padded_rows + row] - total.offset);
  return total;
}

/// Scales every wave's output to the common maximum and to sum 1 (times out_scale), and hands log-sum-exps (natural)
/// to writer.lse(row, value).
template <class Shape, class Writer>
HEADTUNE_DEVICE void normalise(WaveState<Shape>& state, const MergeLds<Shape>& lds, int key_warp, int row_warp,
                               float out_scale, const Writer& writer) {
  constexpr float ln2 = 0.69314718056f;
  const int lane = tile::lane_index();
  const auto row_of = [&](int m, int i) {
    return (row_warp * Shape::blocks + m) * 16 + tile::free_lanes * i + tile::free_index(lane);
  };
#pragma unroll
  for (int m = 0; m < Shape::blocks; ++m)
#pragma unroll
    for (int i = 0; i < tile::rows_per_lane; ++i)
      if (tile::quarter(lane) == 0) {
        lds.offsets[key_warp * Shape::padded_rows + row_of(m, i)] = state.offset[m][i];
        lds.sums[key_warp * Shape::padded_rows + row_of(m, i)] = state.sum[m][i * tile::elements_per_row];
      }
  __syncthreads();
#pragma unroll
  for (int m = 0; m < Shape::blocks; ++m)
#pragma unroll
    for (int i = 0; i < tile::rows_per_lane; ++i) {
      const RowTotal total = row_total(lds, row_of(m, i));
      const bool empty = !(total.sum > 0);
      state.rescale(m, i, empty ? 0.0f : tile::exp2(state.offset[m][i] - total.offset) * (out_scale / total.sum));
      if (key_warp == 0 && tile::quarter(lane) == 0)
        writer.lse(row_of(m, i),
                   empty ? tile::negative_infinity
                         : (total.offset + tile::pack_bias<typename Shape::Element> + tile::log2(total.sum)) * ln2);
    }
}

/// Writes one unit: rows of [16][row_floats].
template <class Shape>
HEADTUNE_DEVICE void put_unit(float* to, const WaveState<Shape>& state, const MergeUnit<Shape>& unit) {
  constexpr int elements = MergeUnit<Shape>::elements;
  const int lane = tile::lane_index();
#pragma unroll
  for (int i = 0; i < tile::rows_per_lane; ++i) {
    float* row = to + (tile::free_lanes * i + tile::free_index(lane)) * MergeLds<Shape>::row_floats +
                 tile::quarter(lane) * elements * Shape::vector;
#pragma unroll
    for (int e = 0; e < elements; ++e) {
      const int x = i * tile::elements_per_row + unit.first_element + e;
      const auto& from = state.output[unit.block][unit.group];
      if constexpr (Shape::vector % 4 == 0) {
#pragma unroll
        for (int c = 0; c < Shape::vector; c += 4)
          *reinterpret_cast<tile::F32x4*>(row + e * Shape::vector + c) =
              tile::F32x4{from[c][x], from[c + 1][x], from[c + 2][x], from[c + 3][x]};
      } else {
#pragma unroll
        for (int c = 0; c < Shape::vector; ++c) row[e * Shape::vector + c] = from[c][x];
      }
    }
  }
}

/// Sums the waves' units [first, first + per_pass) and hands four neighbouring columns at a time to
/// writer.columns(row, column, values).
template <class Shape, class Writer>
HEADTUNE_DEVICE void sum_units(const MergeLds<Shape>& lds, int first, const Writer& writer) {
  constexpr int quads = Shape::columns.chunk / 4, unit_items = 16 * quads;
  constexpr int per_quarter = Shape::columns.chunk / 4;  // columns of one quarter of the lanes
  constexpr int items = Shape::row_warps * Shape::merge.per_pass * unit_items;
#pragma unroll 2
  for (int item = tile::thread_index(); item < items; item += Shape::num_warps * tile::wave_size) {
    const int at = item / unit_items;  // [row_warps][per_pass]
    const int row = item / quads % 16, column = item % quads * 4;
    const float* from = lds.units + at * MergeLds<Shape>::unit_floats + row * MergeLds<Shape>::row_floats + column;
    tile::F32x4 total{0, 0, 0, 0};
#pragma unroll
    for (int w = 0; w < Shape::key_warps; ++w) {
      const tile::F32x4 part =
          *reinterpret_cast<const tile::F32x4*>(from + w * Shape::row_warps * MergeLds<Shape>::wave_floats);
#pragma unroll
      for (int x = 0; x < 4; ++x) total[x] += part[x];
    }
    const MergeUnit<Shape> unit(first + at % Shape::merge.per_pass);
    const int out_column = unit.group * Shape::columns.group + column % per_quarter +
                           (column / per_quarter * tile::elements_per_row + unit.first_element) * Shape::vector;
    writer.columns((at / Shape::merge.per_pass * Shape::blocks + unit.block) * 16 + row, out_column, total);
  }
}

/// Merges all waves of the workgroup. Every thread must arrive.
template <class Shape, class Writer>
HEADTUNE_DEVICE void merge_waves(WaveState<Shape>& state, float* lds_base, float out_scale, const Writer& writer) {
  const MergeLds<Shape> lds(lds_base);
  const int wave = tile::wave_index();
  normalise(state, lds, wave / Shape::row_warps, wave % Shape::row_warps, out_scale, writer);
#pragma unroll
  for (int first = 0; first < Shape::merge.units; first += Shape::merge.per_pass) {
    if (first > 0) __syncthreads();
#pragma unroll
    for (int u = 0; u < Shape::merge.per_pass; ++u)
      put_unit(lds.units + wave * MergeLds<Shape>::wave_floats + u * MergeLds<Shape>::unit_floats, state,
               MergeUnit<Shape>(first + u));
    __syncthreads();
    sum_units(lds, first, writer);
  }
}

}  // namespace headtune
