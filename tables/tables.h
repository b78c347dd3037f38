// Looks up the tuned configuration of a problem on a device. Host code, constexpr, C++17, no dependency but the
// kernels' own headers. A look-up never fails: it falls back from the exact device to the nearest one of the same
// architecture and then to the default, and says which of them it took.
#pragma once

#include <headtune/arch.h>
#include <headtune/config.h>
#include <headtune/table.h>

#include "legal.h"

// The generated tables; a new architecture adds its include here and its line in `verify_shared_kv_tables`.
#if __has_include("gfx90a.h")
#include "gfx90a.h"
#endif
#if __has_include("gfx942.h")
#include "gfx942.h"
#endif
#if __has_include("gfx950.h")
#include "gfx950.h"
#endif
#if __has_include("sm_80.h")
#include "sm_80.h"
#endif
#if __has_include("sm_90.h")
#include "sm_90.h"
#endif
#if __has_include("sm_100.h")
#include "sm_100.h"
#endif

namespace headtune::tables {

/// A context further than this factor (two octaves) outside a row's tuned range takes the default: a far-away row has
/// been seen to cost more than it gains (vllm#52192).
inline constexpr long long context_factor_cap = 4;

/// The rows of one architecture.
struct Rows {
  const char* arch = "";
  const TableRow* first = nullptr;
  int count = 0;
};

template <int count>
constexpr Rows rows(const char* arch, const TableRow (&table)[count]) {
  return Rows{arch, table, count};
}

inline constexpr Rows verify_shared_kv_tables[] = {
#if __has_include("gfx90a.h")
    rows("gfx90a", gfx90a::verify_shared_kv),
#endif
#if __has_include("gfx942.h")
    rows("gfx942", gfx942::verify_shared_kv),
#endif
#if __has_include("gfx950.h")
    rows("gfx950", gfx950::verify_shared_kv),
#endif
#if __has_include("sm_80.h")
    rows("sm_80", sm_80::verify_shared_kv),
#endif
#if __has_include("sm_90.h")
    rows("sm_90", sm_90::verify_shared_kv),
#endif
#if __has_include("sm_100.h")
    rows("sm_100", sm_100::verify_shared_kv),
#endif
    Rows{},
};

/// Facts of a device's architecture; those of an unknown one come from its wave size.
constexpr const Arch& arch_of(const DeviceKey& device) {
  if (const Arch* arch = find_arch(device.arch)) return *arch;
  return *find_arch(device.wave_size == 32 ? "sm_80" : "gfx90a");
}

/// Largest divisor of `group` that is at most `wanted`: a block of query heads must not straddle KV heads.
constexpr int block_h_for(int group, int wanted) {
  int block_h = wanted;
  while (block_h > 1 && group % block_h != 0) --block_h;
  return block_h;
}

/// The configuration without any table: the seed that SGLang's block_config started from (sglang#35499), (4, 256, 4)
/// for head_dim 64 and (4, 64, 8) otherwise, on the path that can run it; where none can, more keys per iteration.
constexpr Config default_config(const Problem& problem, const Arch& arch) {
  const int group = problem.kv_group_num();
  Config seed;
  seed.block_h = problem.has_kv_heads() ? block_h_for(group, 4) : (group < 4 ? group : 4);
  seed.block_n = problem.head_dim == 64 ? 256 : 64;
  seed.num_warps = problem.head_dim == 64 ? 4 : 8;
  Config ring = seed;  // NVIDIA's fastest path (docs/kernels.md)
  ring.load_path = 2, ring.num_stages = 3, ring.row_warps = seed.block_h * problem.extend_len > 16 ? 2 : 1;
  for (; ring.block_n >= 64; ring.block_n /= 2)
    if (is_legal(problem, ring, arch)) return ring;
  if (is_legal(problem, seed, arch)) return seed;
  Config staged = seed;
  staged.load_path = 1, staged.num_stages = copies_tiles(problem, arch) ? 2 : 1;
  for (; staged.block_n >= 32; staged.block_n /= 2)
    if (is_legal(problem, staged, arch)) return staged;
  seed.block_n = key_step(arch.family) * seed.num_warps;
  return seed;
}

/// Whether a row computes this problem. Head counts and extend length may differ: see `Distance`.
constexpr bool applies(const TableRow& row, const Problem& problem, const DeviceKey& device) {
  const bool same_kernel = row.head_dim == problem.head_dim && row.v_head_dim == problem.v_head_dim &&
                           row.has_kv_heads == problem.has_kv_heads() && row.is_causal == problem.is_causal &&
                           row.dtype == problem.dtype && row.kv_dtype == problem.kv_dtype;
  return same_kernel && row.wave_size == device.wave_size && is_legal(problem, row.config, arch_of(device));
}

/// How far a row is from a request; compared field by field, in this order.
struct Distance {
  int cu_count = 0;
  int kv_group_num = 0;
  int extend_len = 0;
  int num_kv_heads = 0;
  long long context = 0;  ///< factor outside the tuned range, in 1/1024; 1024 inside

  constexpr bool operator<(const Distance& other) const {
    if (cu_count != other.cu_count) return cu_count < other.cu_count;
    if (kv_group_num != other.kv_group_num) return kv_group_num < other.kv_group_num;
    if (extend_len != other.extend_len) return extend_len < other.extend_len;
    if (num_kv_heads != other.num_kv_heads) return num_kv_heads < other.num_kv_heads;
    return context < other.context;
  }
};

constexpr int difference(int a, int b) { return a < b ? b - a : a - b; }

/// 1024 times the factor by which `context` lies outside [min, max].
constexpr long long context_factor(long long context, long long min, long long max) {
  if (context >= min && context <= max) return 1024;
  const long long larger = context < min ? min : context, smaller = context < min ? context : max;
  return smaller < 1 ? larger * 1024 : (larger * 1024 + smaller - 1) / smaller;
}

constexpr Distance distance(const TableRow& row, const Problem& problem, const DeviceKey& device, int context) {
  return Distance{difference(row.cu_count, device.cu_count), difference(row.kv_group_num, problem.kv_group_num()),
                  difference(row.extend_len, problem.extend_len), difference(row.num_kv_heads, problem.num_kv_heads),
                  context_factor(context, row.context_min, row.context_max)};
}

/// The best row of one table for a problem whose longest prefix is `context` keys, or the default.
constexpr Match lookup(const Rows& table, const Problem& problem, const DeviceKey& device, int context) {
  const TableRow* best = nullptr;
  Distance best_distance;
  for (int i = 0; i < table.count; ++i) {
    const TableRow& row = table.first[i];
    if (!applies(row, problem, device)) continue;
    const Distance d = distance(row, problem, device, context);
    if (d.context > context_factor_cap * 1024) continue;
    if (best == nullptr || d < best_distance) best = &row, best_distance = d;
  }
  if (best == nullptr)
    return Match{default_config(problem, arch_of(device)), MatchLevel::default_config, 0, 0, 0, 0, false};
  const MatchLevel level = best_distance.cu_count == 0 ? MatchLevel::exact : MatchLevel::nearest_cu_count;
  return Match{best->config,      level,           best->cu_count,    best->extend_len, best->context_min,
               best->context_max, best->estimated, best->extend_below};
}

/// The same over the tables that headtune ships.
constexpr Match lookup(const Problem& problem, const DeviceKey& device, int context) {
  for (const Rows& table : verify_shared_kv_tables)
    if (table.count > 0 && is_arch(device.arch, table.arch)) return lookup(table, problem, device, context);
  return lookup(Rows{}, problem, device, context);
}

}  // namespace headtune::tables
