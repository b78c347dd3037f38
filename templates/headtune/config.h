// The plain structs that the tuner, the generated tables and users of the kernels share.
// Host and device code; no dependency, so that every compiler that builds a kernel can read it.
#pragma once

namespace headtune {

/// Element type of a tensor. The two fp8 encodings differ in bias and NaN; they are never interchangeable,
/// so there is no plain "fp8".
enum class DType : int { bf16 = 0, fp16 = 1, fp8_e4m3fn = 2, fp8_e4m3fnuz = 3 };

/// What is computed, as far as it changes the generated code. Batch and context are run-time values.
struct Problem {
  int head_dim = 0;       ///< elements of one Q or K row
  int v_head_dim = 0;     ///< elements of one V and output row; < head_dim for MLA (V = first part of the K row)
  int num_q_heads = 0;    ///< query heads of this rank
  int num_kv_heads = 0;   ///< KV heads of this rank; divides num_q_heads
  int extend_len = 0;     ///< L, new tokens per request (upper bound when the batch is ragged)
  bool is_causal = true;  ///< masks only the L x L part: new token i sees new token j when j <= i
  DType dtype = DType::bf16;     ///< Q, new K/V and output
  DType kv_dtype = DType::bf16;  ///< the paged prefix

  constexpr int kv_group_num() const { return num_q_heads / num_kv_heads; }
  constexpr bool has_kv_heads() const { return num_kv_heads > 1; }
  constexpr bool is_mla() const { return v_head_dim < head_dim; }
};

/// One choice of every tuning knob. Law: a Config changes speed, never results (beyond rounding).
struct Config {
  int block_h = 4;    ///< query heads of one workgroup; block_h * extend_len rows share each K/V tile
  int block_n = 128;  ///< keys that one workgroup handles per iteration
  int num_warps = 4;  ///< waves (AMD, 64 lanes) or warps (NVIDIA, 32 lanes) per workgroup
  int row_warps = 1;  ///< register path: waves that split the rows; the others (num_warps / row_warps) split the keys
  int load_path = 0;  ///< 0: each wave loads K and V straight into registers; 1: the workgroup stages tiles in LDS;
                      ///< 2 (NVIDIA): each row of waves fills a ring of its own in LDS, without workgroup barriers
  int num_stages = 1;  ///< tiles in the ring (LDS paths); the register path keeps one in flight
  int waves_per_eu = 2;         ///< waves per SIMD that the register budget must allow; bounds spills on one side,
                                ///< occupancy on the other
  int workgroups_per_cu = 4;    ///< split policy: stop splitting once every CU has this many workgroups, or as many as
                                ///< fit at once
  int min_keys_per_split = 128;  ///< split policy: a split is never shorter
  int max_splits = 128;         ///< split policy: bounds workspace and combine time
  int stage2_warps = 4;  ///< waves of a workgroup of stage 2 when there are many splits to merge, else at most 4
  int stage2_rows = 1;   ///< new tokens of one head that such a workgroup combines when there are many workgroups
  int fuse_combine = 0;  ///< 1: the last workgroup of a head block combines (no second launch), 0: stage 2 kernel

  // C++20; the kernels' compilers read this file as C++17.
#if defined(__cpp_impl_three_way_comparison) && __cpp_impl_three_way_comparison >= 201907L
  friend constexpr bool operator==(const Config&, const Config&) = default;
#endif
};

/// A knob's name in space.json, in rendered instances, in the store and in emitted tables, and its place in Config.
struct Knob {
  const char* name;
  int Config::* member;
};

/// The one list of knobs; everything that reads, prints or stores a Config walks it.
inline constexpr Knob knobs[] = {
    {"BLOCK_H", &Config::block_h},
    {"BLOCK_N", &Config::block_n},
    {"NUM_WARPS", &Config::num_warps},
    {"ROW_WARPS", &Config::row_warps},
    {"LOAD_PATH", &Config::load_path},
    {"NUM_STAGES", &Config::num_stages},
    {"WAVES_PER_EU", &Config::waves_per_eu},
    {"WORKGROUPS_PER_CU", &Config::workgroups_per_cu},
    {"MIN_KEYS_PER_SPLIT", &Config::min_keys_per_split},
    {"MAX_SPLITS", &Config::max_splits},
    {"STAGE2_WARPS", &Config::stage2_warps},
    {"STAGE2_ROWS", &Config::stage2_rows},
    {"FUSE_COMBINE", &Config::fuse_combine},
};

/// How a table lookup found its row, best first.
enum class MatchLevel : int { exact = 0, nearest_cu_count = 1, default_config = 2 };

}  // namespace headtune
