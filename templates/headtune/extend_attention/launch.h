// Launch geometry of extend_attention. Host code, constexpr, C++17.
#pragma once

#include <headtune/verify_shared_kv/launch.h>

namespace headtune {

/// New tokens of one head that a workgroup computes: whole 16-row blocks.
constexpr HEADTUNE_HOST_DEVICE int extend_query_block(int extend_len) { return extend_len <= 16 ? 16 : 32; }

/// One workgroup per (query head, query block, request). No workspace.
constexpr Launch extend_launch(const Problem& problem, const Config& config, const DeviceLimits& device, int batch) {
  const int threads = config.num_warps * device.wave_size;
  if (config.load_path == 1)
    return {problem.num_q_heads, 1, batch, threads,
            lds_path::lds_bytes(problem, config, device.wave_size, key_step(device.family))};
  const int block = extend_query_block(problem.extend_len);
  return {problem.num_q_heads, ceil_div(problem.extend_len, block), batch, threads,
          walk_lds_bytes(problem, config, block, device)};
}

}  // namespace headtune
