// Launch geometry of verify_shared_kv, from static shapes alone: no device read, so a launch can be captured in a
// graph. Host code, constexpr, C++17. The tuner and shipped launchers call the same functions.
#pragma once

#include <headtune/arch.h>
#include <headtune/config.h>
#include <headtune/verify_shared_kv/lds_layout.h>
#include <headtune/verify_shared_kv/ring_layout.h>
#include <headtune/verify_shared_kv/splits.h>
#include <headtune/verify_shared_kv/stage1_lds_layout.h>

namespace headtune {

/// What the geometry needs to know of a device.
struct DeviceLimits {
  Family family = Family::unknown;
  int cu_count = 0;
  int lds_bytes = 0;
  int wave_size = 0;
};

constexpr DeviceLimits limits_of(const Arch& arch) {
  return {arch.family, arch.cu_count, arch.lds_bytes, arch.wave_size};
}

/// One kernel launch.
struct Launch {
  int grid_x = 0, grid_y = 0, grid_z = 0;
  int block_x = 0;
  int dynamic_lds_bytes = 0;
  /// May start before the kernel before it has ended: it waits for that itself (tile/kernel_overlap.h). Where the
  /// device cannot do that, an ordinary launch is right.
  bool dependent = false;
};

/// Device memory that the caller provides; sizes for VerifyParams::{partial_out, partial_lse, split_done}.
struct Workspace {
  long long partial_out_bytes = 0;
  long long partial_lse_bytes = 0;
  long long split_done_bytes = 0;  ///< must be zero before the first launch
};

/// Keys that one wave multiplies at a time: the K depth of the family's matrix instruction in the second product.
constexpr int key_step(Family family) { return family == Family::cdna4 ? 32 : 16; }

/// Workgroups along the query heads.
constexpr int head_blocks(const Problem& problem, const Config& config) {
  return problem.has_kv_heads() ? problem.num_kv_heads * ceil_div(problem.kv_group_num(), config.block_h)
                                : ceil_div(problem.num_q_heads, config.block_h);
}

/// Dynamic LDS of a workgroup whose waves own keys: the ring of LOAD_PATH 2, then the merge of waves in its place.
constexpr int walk_lds_bytes(const Problem& problem, const Config& config, int rows, const DeviceLimits& device) {
  const int ring = config.load_path == 2 ? ring_path::lds_bytes(problem, config) : 0;
  const int merge = register_path::lds_bytes(problem, config, rows, device.wave_size, ring);
  return ring > merge ? ring : merge;
}

/// Dynamic LDS of stage 1.
constexpr int stage1_lds_bytes(const Problem& problem, const Config& config, const DeviceLimits& device) {
  const int rows = config.block_h * problem.extend_len;
  const int path = config.load_path == 1
                       ? lds_path::lds_bytes(problem, config, device.wave_size, key_step(device.family))
                       : walk_lds_bytes(problem, config, rows, device);
  const int combine =
      config.fuse_combine ? combine_lds_bytes(problem, config, rows, config.num_warps * device.wave_size) : 0;
  return path > combine ? path : combine;
}

/// Workgroups of stage 1 that a CU holds at once, at most WORKGROUPS_PER_CU: bounded by LDS and, on AMD, by the waves
/// that the register budget leaves room for. NVIDIA keeps 1 KiB of LDS per workgroup to itself.
constexpr int resident_workgroups(const Problem& problem, const Config& config, const DeviceLimits& device) {
  const int own = device.family == Family::nvidia ? 1024 : 0;
  const int used = stage1_lds_bytes(problem, config, device) + own;
  int resident = config.workgroups_per_cu;
  if (used > 0 && (device.lds_bytes + own) / used < resident) resident = (device.lds_bytes + own) / used;
  const int by_waves = 4 * config.waves_per_eu / config.num_warps;
  if (device.family != Family::nvidia && by_waves < resident) resident = by_waves;
  return resident < 1 ? 1 : resident;
}

/// Splits of the longest request: all workgroups of a launch resident at once (a second round starts late), no split
/// shorter than the minimum. `max_context` is an upper bound of the prefix lengths (of the graph's bucket when
/// captured).
constexpr int num_splits(const Problem& problem, const Config& config, const DeviceLimits& device, int batch,
                         int max_context) {
  const int groups = batch * head_blocks(problem, config);
  const int wanted = device.cu_count * resident_workgroups(problem, config, device) / (groups > 0 ? groups : 1);
  const int useful = ceil_div(max_context, config.min_keys_per_split);
  int splits = wanted < config.max_splits ? wanted : config.max_splits;
  splits = splits < useful ? splits : useful;
  return splits < 1 ? 1 : splits;
}

constexpr Launch stage1_launch(const Problem& problem, const Config& config, const DeviceLimits& device, int batch,
                               int splits) {
  return {head_blocks(problem, config), splits, batch, config.num_warps * device.wave_size,
          stage1_lds_bytes(problem, config, device)};
}

/// What a workgroup of stage 2 takes on and with how many waves. Where there are so many that starting them takes
/// longer than their work (measured on an H200: more than ten to a CU), STAGE2_ROWS new tokens each; else one, and
/// STAGE2_WARPS waves share its splits once there are many.
struct Stage2Shape {
  int rows, warps;
};

constexpr Stage2Shape stage2_shape(const Problem& problem, const Config& config, const DeviceLimits& device, int batch,
                                   int splits) {
  const int narrow = stage2_narrow_warps(config.stage2_warps);
  if (batch * problem.num_q_heads * problem.extend_len > 10 * device.cu_count) return {config.stage2_rows, narrow};
  return {1, splits >= many_splits ? config.stage2_warps : narrow};
}

/// LDS of the larger of stage 2's shapes.
constexpr int stage2_lds_bytes(const Problem& problem, const Config& config, const DeviceLimits& device) {
  const int narrow = stage2_narrow_warps(config.stage2_warps);
  const int many_rows = combine_lds_bytes(problem, config, config.stage2_rows, narrow * device.wave_size);
  const int many_waves = combine_lds_bytes(problem, config, 1, config.stage2_warps * device.wave_size);
  return many_rows > many_waves ? many_rows : many_waves;
}

/// One workgroup per head and block of new tokens (Stage2Shape). Not launched when the combine is fused.
constexpr Launch stage2_launch(const Problem& problem, const Config& config, const DeviceLimits& device, int batch,
                               int splits) {
  const Stage2Shape shape = stage2_shape(problem, config, device, batch, splits);
  const int threads = shape.warps * device.wave_size;
  return {problem.num_q_heads,
          ceil_div(problem.extend_len, shape.rows),
          batch,
          threads,
          combine_lds_bytes(problem, config, shape.rows, threads),
          true};
}

constexpr Workspace workspace(const Problem& problem, const Config& config, int batch, int splits) {
  const long long rows = 1LL * batch * splits * problem.num_q_heads * problem.extend_len;
  return {rows * problem.v_head_dim * 4, rows * 4, 4LL * batch * head_blocks(problem, config)};
}

}  // namespace headtune
