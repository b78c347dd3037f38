// Q of one wave's rows, in the layout of the matrix operand: in registers, or in LDS where registers are short.
#pragma once

#include <headtune/verify_shared_kv/request.h>
#include <headtune/verify_shared_kv/wave_shape.h>

namespace headtune {

/// This lane's part of one row, 16 bytes at a time. A padding row repeats row 0: nobody reads what becomes of it, and
/// its loads need no branch.
template <class Variant, class Shape>
struct QueryRow {
  const char* from;

  HEADTUNE_DEVICE QueryRow(const VerifyParams& p, const Request& request, const Rows<Variant>& rows, int block, int i) {
    const int lane = tile::lane_index();
    const int padded_row = block * 16 + tile::free_lanes * i + tile::free_index(lane);
    const int row = rows.valid(padded_row, request) ? padded_row : 0;
    from = tensor_row<2>(p.q, request.qo_begin + rows.token(row), p.q_stride_token, rows.head(row), p.q_stride_head) +
           tile::quarter(lane) * Shape::lane_dims * 2;
  }

  HEADTUNE_DEVICE tile::U32x4 load(int chunk) const {
    return tile::load_global<tile::U32x4>(from + Shape::first_dim(chunk) * 2);
  }
};

template <class Shape, bool in_lds = Shape::queries_in_lds>
struct Queries {
  tile::U32x4 word[Shape::blocks][Shape::chunks][tile::rows_per_lane];

  /// Every thread of the workgroup must arrive: key_warp, row_warp is its wave's place.
  template <class Variant>
  HEADTUNE_DEVICE void load(const VerifyParams& p, const Request& request, const Rows<Variant>& rows, int /*key_warp*/,
                            int row_warp) {
#pragma unroll
    for (int m = 0; m < Shape::blocks; ++m)
#pragma unroll
      for (int i = 0; i < tile::rows_per_lane; ++i) {
        const QueryRow<Variant, Shape> row(p, request, rows, row_warp * Shape::blocks + m, i);
#pragma unroll
        for (int chunk = 0; chunk < Shape::chunks; ++chunk) word[m][chunk][i] = row.load(chunk);
      }
  }

  /// Keeps the compiler from carrying fetched words from one tile to the next, if they are to stay out of registers.
  static HEADTUNE_DEVICE void refetch() {}

  HEADTUNE_DEVICE void fetch(tile::U32x4 (&to)[tile::rows_per_lane], int m, int chunk) const {
#pragma unroll
    for (int i = 0; i < tile::rows_per_lane; ++i) to[i] = word[m][chunk][i];
  }
};

/// LDS: [row blocks][chunks][rows_per_lane][lanes] of 16 bytes, free of bank conflicts. Waves that share rows share it.
template <class Shape>
struct Queries<Shape, true> {
  const tile::U32x4* words;  ///< of this wave's blocks and this lane

  template <class Variant>
  HEADTUNE_DEVICE void load(const VerifyParams& p, const Request& request, const Rows<Variant>& rows, int key_warp,
                            int row_warp) {
    tile::U32x4* to = reinterpret_cast<tile::U32x4*>(tile::dynamic_lds()) + index(row_warp * Shape::blocks, 0, 0) +
                      tile::lane_index();
    if (key_warp == 0)
#pragma unroll
      for (int m = 0; m < Shape::blocks; ++m)
#pragma unroll
        for (int i = 0; i < tile::rows_per_lane; ++i) {
          const QueryRow<Variant, Shape> row(p, request, rows, row_warp * Shape::blocks + m, i);
#pragma unroll
          for (int chunk = 0; chunk < Shape::chunks; ++chunk) to[index(m, chunk, i)] = row.load(chunk);
        }
    words = to;
    __syncthreads();
  }

  static HEADTUNE_DEVICE void refetch() { asm volatile("" ::: "memory"); }

  HEADTUNE_DEVICE void fetch(tile::U32x4 (&to)[tile::rows_per_lane], int m, int chunk) const {
#pragma unroll
    for (int i = 0; i < tile::rows_per_lane; ++i) to[i] = words[index(m, chunk, i)];
  }

 private:
  static constexpr HEADTUNE_DEVICE int index(int block, int chunk, int i) {
    return ((block * Shape::chunks + chunk) * tile::rows_per_lane + i) * tile::wave_size;
  }
};

}  // namespace headtune
