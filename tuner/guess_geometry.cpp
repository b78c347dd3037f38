#include "tuner/guess_geometry.h"

#include <algorithm>

#include "headtune/verify_shared_kv/launch.h"

namespace headtune {
namespace {

/// Share of the nominal HBM bandwidth that scattered rows reach: 0.916 on an H200 (README), 0.75 to 0.8 in the
/// simulator.
constexpr double hbm_efficiency = 0.9;
/// What L2 or the memory-side cache gives one CU.
constexpr double l2_bytes_per_cycle = 27;

double bytes_per_cycle(const Arch& arch, int busy_cus, int readers) {
  const double hbm = hbm_efficiency * arch.hbm_tb_per_s * 1e6 / cycles_per_us(arch) / busy_cus;
  return std::min(hbm * readers, l2_bytes_per_cycle);
}

}  // namespace

GuessGeometry guess_geometry(const Problem& p, const Config& config, const Arch& arch, const TimedShape& shape) {
  const DeviceLimits limits = limits_of(arch);
  const int splits = num_splits(p, config, limits, shape.batch, shape.context);
  const SplitCut cut = cut_prefix(shape.context, splits, config.min_keys_per_split, config.block_n);
  GuessGeometry g;
  g.splits = cut.used;
  g.tiles = ceil_div(cut.keys_per_split, config.block_n);
  g.head_blocks = shape.batch * head_blocks(p, config);
  const int workgroups = g.head_blocks * cut.used, on_a_cu = ceil_div(workgroups, arch.cu_count);
  const int resident = resident_workgroups(p, config, limits);
  g.rounds = ceil_div(on_a_cu, resident);
  g.together = std::min(on_a_cu, resident);
  g.busy_cus = std::min(workgroups, arch.cu_count);
  g.readers = ceil_div(p.kv_group_num(), config.block_h);
  g.row_blocks = ceil_div(config.block_h * p.extend_len, 16);
  g.tile_bytes = 1.0 * config.block_n * (p.head_dim + (p.is_mla() ? 0 : p.v_head_dim)) * element_bytes(p.kv_dtype);
  g.bytes_per_cycle = bytes_per_cycle(arch, g.busy_cus, g.readers);
  return g;
}

}  // namespace headtune
