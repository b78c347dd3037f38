// The kernels' template argument from a Problem and a Config, for instances written by hand (the tuner writes the same
// constants as text). Host and device code; no kernel includes this file.
#pragma once

#include <headtune/config.h>

namespace headtune {

/// `Choice` has two static constexpr members: `problem` and `config`. `index_bits`: width of kv_indices.
template <class Choice, int index_bits = 32>
struct VariantOf {
  static constexpr int HEAD_DIM = Choice::problem.head_dim;
  static constexpr int V_HEAD_DIM = Choice::problem.v_head_dim;
  static constexpr int NUM_Q_HEADS = Choice::problem.num_q_heads;
  static constexpr int KV_GROUP_NUM = Choice::problem.kv_group_num();
  static constexpr int HAS_KV_HEADS = Choice::problem.has_kv_heads();
  static constexpr int IS_CAUSAL = Choice::problem.is_causal;
  static constexpr int EXTEND_LEN = Choice::problem.extend_len;
  static constexpr int DTYPE = static_cast<int>(Choice::problem.dtype);
  static constexpr int KV_DTYPE = static_cast<int>(Choice::problem.kv_dtype);
  static constexpr int INDEX_BITS = index_bits;

  static constexpr int BLOCK_H = Choice::config.block_h;
  static constexpr int BLOCK_N = Choice::config.block_n;
  static constexpr int NUM_WARPS = Choice::config.num_warps;
  static constexpr int ROW_WARPS = Choice::config.row_warps;
  static constexpr int LOAD_PATH = Choice::config.load_path;
  static constexpr int NUM_STAGES = Choice::config.num_stages;
  static constexpr int WAVES_PER_EU = Choice::config.waves_per_eu;
  static constexpr int WORKGROUPS_PER_CU = Choice::config.workgroups_per_cu;
  static constexpr int MIN_KEYS_PER_SPLIT = Choice::config.min_keys_per_split;
  static constexpr int MAX_SPLITS = Choice::config.max_splits;
  static constexpr int STAGE2_WARPS = Choice::config.stage2_warps;
  static constexpr int STAGE2_ROWS = Choice::config.stage2_rows;
  static constexpr int FUSE_COMBINE = Choice::config.fuse_combine;
};

}  // namespace headtune
