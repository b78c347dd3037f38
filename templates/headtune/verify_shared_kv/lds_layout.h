// LDS sizes of the register path and of the combine, for the host (launch) and the device (layout) alike.
#pragma once

#include <headtune/config.h>
#include <headtune/tile/shape.h>
#include <headtune/verify_shared_kv/splits.h>

namespace headtune {

/// 16-row blocks of a workgroup, rounded up so that `row_warps` waves get as many each.
constexpr HEADTUNE_HOST_DEVICE int row_blocks(int rows, int row_warps) {
  return ceil_div(ceil_div(rows, 16), row_warps) * row_warps;
}

namespace register_path {

/// The merge of waves passes one chunk of output columns at a time through LDS: floats per wave and 16-row block.
constexpr HEADTUNE_HOST_DEVICE int merge_chunk_floats(int chunk_columns) { return 16 * (chunk_columns + 4); }

/// Chunks of all waves, then running maximum and sum per wave and row.
constexpr HEADTUNE_HOST_DEVICE int lds_floats(int num_warps, int row_warps, int rows, int chunk_columns) {
  const int key_warps = num_warps / row_warps;
  return num_warps * merge_chunk_floats(chunk_columns) + 2 * key_warps * row_blocks(rows, row_warps) * 16;
}

constexpr int lds_bytes(const Problem& problem, const Config& config, int wave_size) {
  const tile::ColumnShape columns = tile::column_shape(problem.v_head_dim, wave_size);
  return 4 * lds_floats(config.num_warps, config.row_warps, config.block_h * problem.extend_len, columns.chunk);
}

}  // namespace register_path

/// The combine keeps one weight per row and split (and new token), and one partial sum of 4 columns per thread.
constexpr HEADTUNE_HOST_DEVICE int combine_lds_floats(int max_splits, int extend_len, int rows, int threads) {
  return ceil_div(rows * (max_splits + extend_len + 1), 4) * 4 + 4 * threads;
}

constexpr int combine_lds_bytes(const Problem& problem, const Config& config, int rows, int threads) {
  return 4 * combine_lds_floats(config.max_splits, problem.extend_len, rows, threads);
}

}  // namespace headtune
