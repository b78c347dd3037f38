// LDS of the ring path: for the host (launch) and the device.
#pragma once

#include <headtune/arch.h>
#include <headtune/tile/macros.h>

namespace headtune::ring_path {

/// One ring of `stages` tiles for each team of waves that share keys; all teams' tiles together hold BLOCK_N keys, as
/// they lie in the prefix.
constexpr HEADTUNE_HOST_DEVICE int ring_bytes(int block_n, int head_dim, int v_head_dim, int stages,
                                              int element_bytes) {
  return block_n * (head_dim + v_head_dim) * element_bytes * stages;
}

constexpr int lds_bytes(const Problem& problem, const Config& config) {
  return ring_bytes(config.block_n, problem.head_dim, problem.v_head_dim, config.num_stages,
                    element_bytes(problem.kv_dtype));
}

}  // namespace headtune::ring_path
