#include "tuner/search_guess.h"

#include <algorithm>
#include <cmath>

#include "headtune/verify_shared_kv/launch.h"

namespace headtune {
namespace {

// The constants were chosen so that the guess ranks recorded full sweeps of an H200 and of simulated MI250X, MI300X and
// MI355X (benchmarks/recorded); none is finer than that asks for.

/// From asking memory for a line to using it, under load; with the bytes in flight it bounds a CU's rate (Little's
/// law).
constexpr double latency_us = 0.75;
/// A tile's chain of wait, product, softmax, product: no workgroup iterates faster.
constexpr double chain_us = 1.0;
/// Launch, prologue and drain of a round of workgroups, and of the combine kernel.
constexpr double round_us = 4, combine_us = 4;
/// Share of the matrix peak that such short products reach, and the waves on a CU at which half of it is reached.
constexpr double matrix_share = 0.66, half_waves = 18;
/// How much faster than HBM keys come that several head blocks read: L2 serves the later ones, in part.
constexpr double most_reuse = 2;
/// One wave of the one workgroup that combines a head block when the combine is fused, bytes per us.
constexpr double fused_bytes_per_us = 3600;

/// What of a launch bounds its time.
struct Geometry {
  int splits = 0, tiles = 0;  ///< splits with keys; tiles of one split
  int rounds = 0;             ///< of workgroups on the device
  int resident = 0;           ///< workgroups on a CU
};

Geometry geometry(const Problem& p, const Config& config, const Arch& arch, const TimedShape& shape) {
  const DeviceLimits limits = limits_of(arch);
  const int splits = num_splits(p, config, limits, shape.batch, shape.context);
  const SplitCut cut = cut_prefix(shape.context, splits, config.min_keys_per_split, config.block_n);
  const int workgroups = shape.batch * head_blocks(p, config) * cut.used;
  const int resident = resident_workgroups(p, config, limits);
  return {cut.used, ceil_div(cut.keys_per_split, config.block_n), ceil_div(workgroups, arch.cu_count * resident),
          std::min(resident, ceil_div(workgroups, arch.cu_count))};
}

/// Bytes that a CU gets in a microsecond.
double memory_rate(const Problem& p, const Config& config, const Arch& arch, int resident, double tile_bytes) {
  const double readers = ceil_div(p.kv_group_num(), config.block_h);  // of the same keys
  // NVIDIA's rings keep one tile less in flight than they hold; elsewhere the next tile waits in registers.
  const int ahead = config.load_path == 0 ? 1 : std::max(1, config.num_stages - 1);
  return std::min(arch.hbm_tb_per_s * 1e6 / arch.cu_count * std::min(readers, most_reuse),
                  tile_bytes * resident * ahead / latency_us);
}

/// One tile of every workgroup on a CU.
double tile_us(const Problem& p, const Config& config, const Arch& arch, int resident) {
  const double bytes = config.block_n * (p.head_dim + (p.is_mla() ? 0 : p.v_head_dim)) * element_bytes(p.kv_dtype);
  const int rows = ceil_div(config.block_h * p.extend_len, 16) * 16;  // as the matrix cores see them
  const double flops = 2.0 * rows * config.block_n * (p.head_dim + p.v_head_dim);
  const double waves = resident * config.num_warps;
  const double flop_rate = arch.bf16_tflop_per_s * 1e6 / arch.cu_count * matrix_share * waves / (waves + half_waves);
  return std::max(
      {resident * bytes / memory_rate(p, config, arch, resident, bytes), resident * flops / flop_rate, chain_us});
}

double combining_us(const Problem& p, const Config& config, const Arch& arch, const TimedShape& shape, int splits) {
  const double row_bytes = 4.0 * p.v_head_dim * splits;
  if (config.fuse_combine) return row_bytes * config.block_h * p.extend_len / (fused_bytes_per_us * config.num_warps);
  const double rows = 1.0 * shape.batch * p.num_q_heads * p.extend_len;
  return combine_us + 2 * rows * row_bytes / (arch.hbm_tb_per_s * 1e6);  // written and read
}

double guess_us(const Problem& problem, const Config& config, const Arch& arch, const TimedShape& shape) {
  const Geometry g = geometry(problem, config, arch, shape);
  return g.rounds * (round_us + g.tiles * tile_us(problem, config, arch, g.resident)) +
         combining_us(problem, config, arch, shape, g.splits);
}

}  // namespace

double guess(const Problem& problem, const Config& config, const Arch& arch, std::span<const TimedShape> shapes) {
  double sum = 0;
  for (const TimedShape& shape : shapes) sum += std::log(guess_us(problem, config, arch, shape));
  return shapes.empty() ? 0 : sum / static_cast<double>(shapes.size());
}

}  // namespace headtune
