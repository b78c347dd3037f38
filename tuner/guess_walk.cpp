#include "tuner/guess_walk.h"

#include <algorithm>
#include <cmath>

#include "headtune/verify_shared_kv/splits.h"

namespace headtune {
namespace {

// Cycles of a CU. Chosen by least squares on recorded full sweeps (docs/measuring.md).

/// What differs between a wave of 64 lanes that loads into registers and a warp whose copies run by themselves.
struct WaveCosts {
  double softmax;  ///< per 16 x 16 scores: vector instructions
  double operand;  ///< per 16 keys x 16 columns of K and V: loads, putting pairs of keys side by side
  double latency;  ///< from asking for a line to using it, under load
  double exposed;  ///< share of a tile's transfer that the work of the same workgroup does not hide
};
constexpr WaveCosts amd{220, 22, 720, 0.69}, nvidia{17, 9.5, 1000, 0.11};

/// Launch, addresses, Q and the first slots of a workgroup; then its first tile, which nothing hides either.
constexpr double start = 4300, first_tile = 0.58;
/// Time of LDS traffic against what its width would take: accumulators that merge are written, waited for and read; of
/// tiles, half is hidden.
constexpr double merge_passes = 2.2, staging_passes = 0.48;
/// LDS path: softmax of 16 rows and 32 keys that 8 waves share.
constexpr double row_block = 210;
/// Vector cache of a CU; waves along the rows load the same tile each, and find it there the less the larger it is.
constexpr double cache_bytes = 16 * 1024, missed_per_doubling = 0.1;
/// How sharply the slowest of several bounds decides.
constexpr double sharpness = 3;

double slowest(double a, double b, double c) {
  return std::pow(std::pow(a, sharpness) + std::pow(b, sharpness) + std::pow(c, sharpness), 1 / sharpness);
}

const WaveCosts& wave_costs(const Arch& arch) { return arch.family == Family::nvidia ? nvidia : amd; }

double lds_bytes_per_cycle(const Arch& arch) { return 4.0 * arch.lds_banks; }

/// Of a SIMD's matrix unit for 16 rows, 16 keys and a depth of 16.
double product_cycles(const Arch& arch) {
  const double flop_per_cycle = arch.bf16_tflop_per_s * 1e6 / cycles_per_us(arch) / (arch.cu_count * arch.simds_per_cu);
  return 2 * 16 * 16 * 16 / flop_per_cycle;
}

/// Tiles that are on their way while one is worked on.
int ahead(const Config& config) { return config.load_path == 0 ? 1 : std::max(1, config.num_stages - 1); }

/// Register path and rings: each wave walks keys of its own.
double own_keys_tile(const Problem& p, const Config& config, const Arch& arch, const GuessGeometry& g) {
  const WaveCosts& costs = wave_costs(arch);
  const int key_waves = config.num_warps / config.row_warps;
  const double blocks = ceil_div(g.row_blocks, config.row_warps), steps = config.block_n / 16.0 / key_waves;
  const double depths = (p.head_dim + p.v_head_dim) / 16.0;
  const double wave = steps * (blocks * (depths * product_cycles(arch) + costs.softmax) + depths * costs.operand);
  const double missed = missed_per_doubling * std::log2(std::max(1.0, g.together * g.tile_bytes / cache_bytes));
  const double again = config.load_path == 0 ? 1 + missed * (config.row_warps - 1) : 1;
  const double memory = g.tile_bytes * again / g.bytes_per_cycle;
  return slowest(g.together * memory, g.together * config.num_warps * wave / arch.simds_per_cu,
                 std::max(wave + costs.latency, costs.exposed * memory / ahead(config)));
}

/// LDS path: the workgroup's waves share a tile. Waves lie along keys, then rows; those without rows of their own
/// multiply padding.
double shared_tile(const Problem& p, const Config& config, const Arch& arch, const GuessGeometry& g) {
  const WaveCosts& costs = wave_costs(arch);
  const double waves_on_simd = std::max(1.0, 1.0 * config.num_warps / arch.simds_per_cu);
  const int row_waves = std::max(1, config.num_warps * 16 / config.block_n), key_waves = config.num_warps / row_waves;
  const double scores =
      ceil_div(g.row_blocks, row_waves) * ceil_div(config.block_n, 16 * key_waves) * p.head_dim / 16.0 * waves_on_simd;
  const double values =
      g.row_blocks * p.v_head_dim / 16.0 * config.block_n / 16.0 / std::min(arch.simds_per_cu, config.num_warps);
  const double softmax = row_block * g.row_blocks * config.block_n / 32 * 8 / config.num_warps;
  const double compute = (scores + values) * product_cycles(arch) + softmax;
  const double staging = staging_passes * g.tile_bytes * (1 + row_waves) / lds_bytes_per_cycle(arch);
  const double memory = g.tile_bytes / g.bytes_per_cycle;
  return slowest(g.together * memory, g.together * (compute + staging),
                 staging + std::max(compute, (costs.latency + costs.exposed * memory) / ahead(config)));
}

/// Waves that walked different keys add up in LDS.
double merge(const Problem& p, const Config& config, const Arch& arch, const GuessGeometry& g) {
  if (config.load_path == 1) return 0;
  const double bytes = 4.0 * config.num_warps / config.row_warps * g.row_blocks * 16 * p.v_head_dim;
  return merge_passes * bytes / lds_bytes_per_cycle(arch) * g.together;
}

}  // namespace

double walk_cycles(const Problem& p, const Config& config, const Arch& arch, const GuessGeometry& g) {
  const double tile = config.load_path == 1 ? shared_tile(p, config, arch, g) : own_keys_tile(p, config, arch, g);
  return g.rounds * (start + (g.tiles + first_tile) * tile + merge(p, config, arch, g));
}

}  // namespace headtune
