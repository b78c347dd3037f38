// LDS of the ring path: for the host (launch) and the device.
#pragma once

#include <headtune/config.h>
#include <headtune/tile/macros.h>

namespace headtune::ring_path {

/// One ring of `stages` tiles for each team of waves that share keys; all teams' tiles together hold BLOCK_N keys.
constexpr HEADTUNE_HOST_DEVICE int ring_bytes(int block_n, int head_dim, int v_head_dim, int stages) {
  return block_n * (head_dim + v_head_dim) * 2 * stages;
}

constexpr int lds_bytes(const Problem& problem, const Config& config) {
  return ring_bytes(config.block_n, problem.head_dim, problem.v_head_dim, config.num_stages);
}

}  // namespace headtune::ring_path
