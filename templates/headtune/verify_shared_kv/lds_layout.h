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

/// LDS that the merge of waves may take where nothing larger is there anyway: three workgroups of the usual 4 waves fit
/// 64 KiB.
inline constexpr int merge_budget = 20 * 1024;

/// Waves merge through LDS in units of 16 rows and `chunk` columns (ColumnShape).
constexpr HEADTUNE_HOST_DEVICE int unit_floats(int chunk) { return 16 * chunk; }

/// Units of each wave that pass through LDS at a time: as many as fit, a divisor of all of them.
constexpr HEADTUNE_HOST_DEVICE int units_per_pass(int units, int num_warps, int chunk, int budget) {
  int most = units;
  while (most > 1 && (units % most != 0 || num_warps * most * unit_floats(chunk) * 4 > budget)) --most;
  return most;
}

/// What the merge keeps in LDS: the units of one pass, then running maximum and sum per key wave and row.
struct MergeShape {
  int units;     ///< of one wave
  int per_pass;  ///< of them
  int floats;    ///< in all
};

constexpr HEADTUNE_HOST_DEVICE MergeShape merge_shape(int num_warps, int row_warps, int rows, int v_head_dim,
                                                      int wave_size, int budget) {
  const int chunk = tile::column_shape(v_head_dim, wave_size).chunk;
  const int blocks = row_blocks(rows, row_warps);
  const int units = blocks / row_warps * (v_head_dim / chunk);
  const int per_pass = units_per_pass(units, num_warps, chunk, budget);
  return {units, per_pass, num_warps * per_pass * unit_floats(chunk) + 2 * (num_warps / row_warps) * blocks * 16};
}

/// Whether Q waits in LDS, in operand layout, instead of occupying registers: AMD, where those of K and V in flight,
/// Q and output would together exceed 256.
constexpr HEADTUNE_HOST_DEVICE bool queries_in_lds(int head_dim, int wave_size) {
  return wave_size == 64 && head_dim >= 256;
}

constexpr HEADTUNE_HOST_DEVICE int query_bytes(int rows, int row_warps, int head_dim, int wave_size) {
  return queries_in_lds(head_dim, wave_size) ? row_blocks(rows, row_warps) * 16 * head_dim * 2 : 0;
}

/// `rows` of the workgroup; `budget`: LDS that the walk over the keys used anyway, if any.
constexpr int lds_bytes(const Problem& problem, const Config& config, int rows, int wave_size, int budget) {
  const int merge = 4 * merge_shape(config.num_warps, config.row_warps, rows, problem.v_head_dim, wave_size,
                                    budget > merge_budget ? budget : merge_budget)
                            .floats;
  const int query = query_bytes(rows, config.row_warps, problem.head_dim, wave_size);
  return query > merge ? query : merge;
}

}  // namespace register_path

/// Waves of a workgroup of stage 2 where latency is not what counts.
constexpr HEADTUNE_HOST_DEVICE int stage2_narrow_warps(int stage2_warps) { return stage2_warps < 4 ? stage2_warps : 4; }

/// The combine keeps one weight per row and split (and new token), and one partial sum of 4 columns per thread.
constexpr HEADTUNE_HOST_DEVICE int combine_lds_floats(int max_splits, int extend_len, int rows, int threads) {
  return ceil_div(rows * (max_splits + extend_len + 1), 4) * 4 + 4 * threads;
}

constexpr int combine_lds_bytes(const Problem& problem, const Config& config, int rows, int threads) {
  return 4 * combine_lds_floats(config.max_splits, problem.extend_len, rows, threads);
}

}  // namespace headtune
