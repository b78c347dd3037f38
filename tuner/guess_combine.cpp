#include "tuner/guess_combine.h"

#include <algorithm>

#include "headtune/verify_shared_kv/launch.h"

namespace headtune {
namespace {

// Chosen by least squares on recorded full sweeps (docs/measuring.md).

/// Stage 2. Its workgroups are many and small, so that a CU issues their instructions one after another.
struct StageCosts {
  double start_us;        ///< launch and the chain of loads; on NVIDIA both run beside stage 1's end ...
  double alone_us;        ///< ... but where a workgroup of stage 1 has the CU, its registers above all, to itself
  double wave, per_step;  ///< cycles of a SIMD: for a wave, and for one split of one item of each of its threads
};
constexpr StageCosts amd{7.2, 0, 1100, 370}, nvidia{1.7, 1.5, 330, 110};

/// Fused: the chain of loads; cycles of a CU for scores of new tokens, 64 of head_dim of one score per 8 lanes at a
/// time.
constexpr double fused_start_us = 5.5, fused_scores = 1900;

/// Splits that a thread adds up one after another when `threads` share `rows` rows, over all its items (of 4 columns).
int steps(const Problem& p, int rows, int threads, int splits) {
  const int items = rows * p.v_head_dim / 4;
  return ceil_div(items, threads) * ceil_div(splits, std::max(1, threads / items));
}

double stage2_us(const Problem& p, const Config& config, const Arch& arch, const TimedShape& shape,
                 const GuessGeometry& g) {
  const StageCosts& costs = arch.family == Family::nvidia ? nvidia : amd;
  const int launched = num_splits(p, config, limits_of(arch), shape.batch, shape.context);
  const Stage2Shape stage2 = stage2_shape(p, config, limits_of(arch), shape.batch, launched);
  const int workgroups = shape.batch * p.num_q_heads * ceil_div(p.extend_len, stage2.rows);
  const double waves_on_simd = 1.0 * ceil_div(workgroups, arch.cu_count) * stage2.warps / arch.simds_per_cu;
  const double wave = costs.wave + costs.per_step * steps(p, stage2.rows, stage2.warps * arch.wave_size, g.splits);
  const double bytes = 4.0 * shape.batch * p.num_q_heads * p.extend_len * g.splits * p.v_head_dim;
  const double start = costs.start_us + (resident_workgroups(p, config, limits_of(arch)) == 1 ? costs.alone_us : 0);
  return start + waves_on_simd * wave / cycles_per_us(arch) + bytes / (arch.hbm_tb_per_s * 1e6);
}

/// The partials of a head block come to one CU, with no more of the bandwidth than any other.
double fused_us(const Problem& p, const Config& config, const Arch& arch, const GuessGeometry& g) {
  const int rows = config.block_h * p.extend_len, threads = config.num_warps * arch.wave_size;
  const double bytes = 4.0 * rows * g.splits * p.v_head_dim;
  const double scores = fused_scores * ceil_div(rows * p.extend_len * 8, threads) * ceil_div(p.head_dim, 64);
  return fused_start_us +
         ceil_div(g.head_blocks, arch.cu_count) * (bytes / g.bytes_per_cycle + scores) / cycles_per_us(arch);
}

}  // namespace

double combine_us(const Problem& p, const Config& config, const Arch& arch, const TimedShape& shape,
                  const GuessGeometry& g) {
  return config.fuse_combine ? fused_us(p, config, arch, g) : stage2_us(p, config, arch, shape, g);
}

}  // namespace headtune
