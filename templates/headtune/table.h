// What a generated table is made of. Apart from config.h, so that kernels do not include it and a change here leaves
// their template hash, and with it every tuned row, valid. Host code, C++17.
#pragma once

#include <headtune/config.h>

namespace headtune {

/// The part of a device that tables are keyed on. The marketing name is never a key.
struct DeviceKey {
  const char* arch = "";  ///< "gfx950", "gfx942:sramecc+:xnack-", "sm_90"; feature flags are ignored by look-ups
  int cu_count = 0;       ///< compute units (SMs)
  int wave_size = 64;     ///< lanes of a wave (warp)
};

/// One row of a generated table: the configuration that won one cell.
struct TableRow {
  int cu_count = 0;
  int wave_size = 0;
  int head_dim = 0;
  int v_head_dim = 0;
  int kv_group_num = 0;  ///< query heads per KV head
  int num_kv_heads = 0;
  int extend_len = 0;         ///< new tokens per request
  bool has_kv_heads = false;  ///< num_kv_heads > 1: the kernel computes head offsets
  bool is_causal = false;
  DType dtype = DType::bf16;
  DType kv_dtype = DType::bf16;
  int context_min = 0;  ///< shortest and longest prefix, in keys, that the row was tuned on
  int context_max = 0;
  bool estimated = false;  ///< ranked by simulated cycles, not by time on a device
  Config config;
  int extend_below = 0;  ///< prefixes shorter than this, in keys, are faster through extend_attention; 0: none
};

/// What a look-up returns: always a usable configuration, and why it was chosen.
struct Match {
  Config config;
  MatchLevel level = MatchLevel::default_config;
  int cu_count = 0;     ///< of the device that the row was tuned on; 0 for the default
  int extend_len = 0;   ///< of the row; 0 for the default
  int context_min = 0;  ///< tuned range of the row; 0 for the default
  int context_max = 0;
  bool estimated = false;
  int extend_below = 0;  ///< as TableRow::extend_below
};

constexpr const char* match_level_text(MatchLevel level) {
  switch (level) {
    case MatchLevel::exact: return "exact device";
    case MatchLevel::nearest_cu_count: return "same architecture, nearest CU count";
    case MatchLevel::default_config: return "default, no table row applies";
  }
  return "";
}

}  // namespace headtune
