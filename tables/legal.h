// Whether a configuration computes a problem at all on an architecture: the part of space.json's constraints that is
// about correctness, as constexpr code for look-ups (tests/unit/tables_test.cpp holds the two against each other).
// A row tuned for one extend_len or head count may be illegal for another.
#pragma once

#include <headtune/arch.h>
#include <headtune/config.h>
#include <headtune/verify_shared_kv/launch.h>

namespace headtune::tables {

constexpr bool is_nvidia(const Arch& arch) { return arch.family == Family::nvidia; }

/// Each wave of the register and ring paths owns whole steps of keys and at least one block of 16 rows.
constexpr bool waves_fit(const Problem& problem, const Config& config, const Arch& arch) {
  if (config.row_warps < 1 || config.num_warps % config.row_warps != 0) return false;
  const int row_blocks = ceil_div(config.block_h * problem.extend_len, 16);
  const int key_warps = config.num_warps / config.row_warps;
  return config.block_n % (key_step(arch.family) * key_warps) == 0 && row_blocks >= config.row_warps;
}

constexpr bool ring_fits(const Problem& problem, const Config& config, const Arch& arch) {
  const bool dims = problem.head_dim == problem.v_head_dim &&
                    (problem.head_dim == 64 || problem.head_dim == 128 || problem.head_dim == 256);
  if (!is_nvidia(arch) || !dims || config.num_stages < 2 || !waves_fit(problem, config, arch)) return false;
  const int team_rows = config.row_warps * arch.wave_size * 16 / (problem.head_dim * element_bytes(problem.kv_dtype));
  const int key_warps = config.num_warps / config.row_warps;
  return team_rows > 0 && config.block_n / key_warps % team_rows == 0;
}

/// Whether tiles of the LDS path come by asynchronous copies, which need a second tile to fill; an fp8 prefix is
/// widened on its way and cannot.
constexpr bool copies_tiles(const Problem& problem, const Arch& arch) {
  return is_nvidia(arch) && element_bytes(problem.kv_dtype) == 2;
}

/// The LDS path stages panels of 64 columns and splits the output columns over the waves.
constexpr bool staging_fits(const Problem& problem, const Config& config, const Arch& arch) {
  const int columns = (is_nvidia(arch) ? 16 : 32) * config.num_warps;
  const bool dims = problem.head_dim % 64 == 0 && problem.v_head_dim % 64 == 0 && problem.v_head_dim % columns == 0;
  const bool direct = arch.family == Family::cdna4 && element_bytes(problem.kv_dtype) == 2 && config.num_stages == 2;
  const bool stages = copies_tiles(problem, arch) ? config.num_stages >= 2 : config.num_stages == 1 || direct;
  if (!dims || !stages || config.row_warps != 1) return false;
  const int score_waves = config.num_warps * 16 > config.block_n ? config.num_warps * 16 / config.block_n : 1;
  const int row_blocks = ceil_div(config.block_h * problem.extend_len, 16);
  return !is_nvidia(arch) || row_blocks * 2 % score_waves == 0;
}

constexpr bool is_legal(const Problem& problem, const Config& config, const Arch& arch) {
  if (config.block_h < 1 || config.block_h > problem.kv_group_num()) return false;
  if (problem.has_kv_heads() && problem.kv_group_num() % config.block_h != 0) return false;
  const int columns = element_bytes(problem.kv_dtype) == 1 ? 64 : 32;  // that are read at a time
  if (problem.head_dim % columns != 0 || problem.v_head_dim % columns != 0) return false;
  const bool path = config.load_path == 0   ? waves_fit(problem, config, arch) && config.num_stages == 1
                    : config.load_path == 1 ? staging_fits(problem, config, arch)
                                            : ring_fits(problem, config, arch);
  return path && stage1_lds_bytes(problem, config, limits_of(arch)) <= arch.lds_bytes;
}

}  // namespace headtune::tables
