// Waves that walked different keys of the same rows merge once, at the end, through LDS.
#pragma once

#include <headtune/verify_shared_kv/wave_attention.h>

namespace headtune {

template <class Shape>
struct MergeLds {
  static constexpr int row_floats = Shape::columns.chunk;
  static constexpr int quads = row_floats / 4;  // of a row; a wave's lanes write quads and read them 16 bytes at a time
  static constexpr int unit_floats = register_path::unit_floats(Shape::columns.chunk);
  static constexpr int wave_floats = Shape::merge.per_pass * unit_floats;

  static_assert(quads % 8 == 0, "place() permutes eight quads");

  float* units;    ///< [key_warps][row_warps][per_pass][16][quads, permuted by place()]
  float* offsets;  ///< [key_warps][padded_rows]
  float* sums;     ///< likewise

  HEADTUNE_DEVICE explicit MergeLds(float* lds)
      : units(lds),
        offsets(lds + Shape::num_warps * wave_floats),
        sums(offsets + Shape::key_warps * Shape::padded_rows) {}

  /// Where quad `quad` of quarter `q` lies in a row, or what lies there: its own inverse. Lanes that write together
  /// differ in q and the row's lowest bit (NVIDIA) or in the row (AMD); each then has banks of its own.
  static constexpr HEADTUNE_DEVICE int place(int index, int row) {
    const int key = row % 2 * 4 + row / 2 % 2 * 2 + row / 4 % 2;
    return index ^ (quads % 16 == 0 ? key + row / 8 % 2 * 8 : key);
  }
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
      const float factor = tile::exp2(state.offset[m][i] - total.offset) * out_scale * tile::reciprocal(total.sum);
      state.rescale(m, i, empty ? 0.0f : factor);
      if (key_warp == 0 && tile::quarter(lane) == 0)
        writer.lse(row_of(m, i),
                   empty ? tile::negative_infinity
                         : (total.offset + tile::pack_bias<typename Shape::Element> + tile::log2(total.sum)) * ln2);
    }
}

/// Writes one unit: 16 rows of quads.
template <class Shape>
HEADTUNE_DEVICE void put_unit(float* to, const WaveState<Shape>& state, const MergeUnit<Shape>& unit) {
  constexpr int quads = MergeLds<Shape>::quads / 4;  // of a quarter
  const int lane = tile::lane_index(), quarter = tile::quarter(lane);
#pragma unroll
  for (int i = 0; i < tile::rows_per_lane; ++i) {
    const int row = tile::free_lanes * i + tile::free_index(lane);
    const auto value = [&](int x) {
      return state.output[unit.block][unit.group][x % Shape::vector]
                         [i * tile::elements_per_row + unit.first_element + x / Shape::vector];
    };
#pragma unroll
    for (int x = 0; x < quads; ++x)
      *reinterpret_cast<tile::F32x4*>(to + row * MergeLds<Shape>::row_floats +
                                      MergeLds<Shape>::place(x * 4 + quarter, row) * 4) =
          tile::F32x4{value(4 * x), value(4 * x + 1), value(4 * x + 2), value(4 * x + 3)};
  }
}

/// Sums the waves' units [first, first + per_pass) and hands four neighbouring columns at a time to
/// writer.columns(row, column, values).
template <class Shape, class Writer>
HEADTUNE_DEVICE void sum_units(const MergeLds<Shape>& lds, int first, const Writer& writer) {
  using Lds = MergeLds<Shape>;
  constexpr int unit_items = 16 * Lds::quads, threads = Shape::num_warps * tile::wave_size;
  constexpr int units = Shape::row_warps * Shape::merge.per_pass;
  constexpr int threads_of_unit = threads < unit_items ? threads : unit_items;
  constexpr int units_at_once = threads / threads_of_unit, rounds_of_unit = unit_items / threads_of_unit;
#pragma unroll
  for (int round = 0; round < ceil_div(units, units_at_once) * rounds_of_unit; ++round) {
    const int at = round / rounds_of_unit * units_at_once + tile::thread_index() / threads_of_unit;
    const int item = round % rounds_of_unit * threads_of_unit + tile::thread_index() % threads_of_unit;
    if (units % units_at_once != 0 && at >= units) break;
    const int row = item / Lds::quads, place = item % Lds::quads;
    const float* from = lds.units + at * Lds::unit_floats + row * Lds::row_floats + place * 4;
    tile::F32x4 total{0, 0, 0, 0};
#pragma unroll
    for (int w = 0; w < Shape::key_warps; ++w) {
      const tile::F32x4 part = *reinterpret_cast<const tile::F32x4*>(from + w * Shape::row_warps * Lds::wave_floats);
#pragma unroll
      for (int x = 0; x < 4; ++x) total[x] += part[x];
    }
    const int index = Lds::place(place, row);
    const MergeUnit<Shape> unit(first + at % Shape::merge.per_pass);
    const int column = unit.group * Shape::columns.group + index / 4 * 4 +
                       (index % 4 * tile::elements_per_row + unit.first_element) * Shape::vector;
    writer.columns((at / Shape::merge.per_pass * Shape::blocks + unit.block) * 16 + row, column, total);
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
