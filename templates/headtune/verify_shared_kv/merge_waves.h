// Waves that walked different keys of the same rows merge once, at the end, through LDS.
#pragma once

#include <headtune/verify_shared_kv/wave_attention.h>

namespace headtune {

template <class Shape>
struct MergeLds {
  static constexpr int row_floats = Shape::columns.chunk + 4;  // padded against bank conflicts
  static constexpr int chunk_floats = register_path::merge_chunk_floats(Shape::columns.chunk);

  float* chunks;   ///< [key_warps][row_warps][16][row_floats]
  float* offsets;  ///< [key_warps][padded_rows]
  float* sums;     ///< likewise

  HEADTUNE_DEVICE explicit MergeLds(float* lds)
      : chunks(lds),
        offsets(lds + Shape::num_warps * chunk_floats),
        sums(offsets + Shape::key_warps * Shape::padded_rows) {}
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
    total.sum += lds.sums[w * Shape::padded_rows + row] *
                 tile::exp2(lds.offsets[w * Shape::padded_rows + row] - total.offset);
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
        writer.lse(row_of(m, i), empty ? tile::negative_infinity
                                       : (total.offset + tile::pack_bias<typename Shape::Element> +
                                          tile::log2(total.sum)) * ln2);
    }
}

/// Writes one chunk of this wave's block m: rows of [16][row_floats].
template <class Shape>
HEADTUNE_DEVICE void put_chunk(float* to, const WaveState<Shape>& state, int m, int g, int first_element) {
  constexpr int elements = Shape::columns.chunk / (4 * Shape::vector);
  const int lane = tile::lane_index();
#pragma unroll
  for (int i = 0; i < tile::rows_per_lane; ++i) {
    float* row = to + (tile::free_lanes * i + tile::free_index(lane)) * MergeLds<Shape>::row_floats +
                 tile::quarter(lane) * elements * Shape::vector;
#pragma unroll
    for (int e = 0; e < elements; ++e)
#pragma unroll
      for (int c = 0; c < Shape::vector; ++c)
        row[e * Shape::vector + c] = state.output[m][g][c][i * tile::elements_per_row + first_element + e];
  }
}

/// Sums the waves' chunks and hands four neighbouring columns at a time to writer.columns(row, column, values).
template <class Shape, class Writer>
HEADTUNE_DEVICE void sum_chunks(const MergeLds<Shape>& lds, int m, int g, int first_element, const Writer& writer) {
  constexpr int quads = Shape::columns.chunk / 4;
  constexpr int per_quarter = Shape::columns.chunk / 4;  // columns of one quarter
  for (int item = tile::thread_index(); item < Shape::row_warps * 16 * quads;
       item += Shape::num_warps * tile::wave_size) {
    const int row_warp = item / (16 * quads), row = item / quads % 16, column = item % quads * 4;
    const float* from = lds.chunks + row_warp * MergeLds<Shape>::chunk_floats + row * MergeLds<Shape>::row_floats + column;
    tile::F32x4 total{0, 0, 0, 0};
#pragma unroll
    for (int w = 0; w < Shape::key_warps; ++w) {
      const tile::F32x4 part =
          *reinterpret_cast<const tile::F32x4*>(from + w * Shape::row_warps * MergeLds<Shape>::chunk_floats);
#pragma unroll
      for (int x = 0; x < 4; ++x) total[x] += part[x];
    }
    const int quarter = column / per_quarter;
    const int out_column = g * Shape::columns.group + column % per_quarter +
                           (quarter * tile::elements_per_row + first_element) * Shape::vector;
    writer.columns((row_warp * Shape::blocks + m) * 16 + row, out_column, total);
  }
}

/// Merges all waves of the workgroup. Every thread must arrive.
template <class Shape, class Writer>
HEADTUNE_DEVICE void merge_waves(WaveState<Shape>& state, float* lds_base, float out_scale, const Writer& writer) {
  constexpr int elements = Shape::columns.chunk / (4 * Shape::vector);
  const MergeLds<Shape> lds(lds_base);
  const int wave = tile::wave_index();
  normalise(state, lds, wave / Shape::row_warps, wave % Shape::row_warps, out_scale, writer);
#pragma unroll
  for (int m = 0; m < Shape::blocks; ++m)
#pragma unroll
    for (int g = 0; g < Shape::groups; ++g)
#pragma unroll
      for (int e = 0; e < tile::elements_per_row; e += elements) {
        put_chunk(lds.chunks + wave * MergeLds<Shape>::chunk_floats, state, m, g, e);
        __syncthreads();
        sum_chunks(lds, m, g, e, writer);
        __syncthreads();
      }
}

}  // namespace headtune
