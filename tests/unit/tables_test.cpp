// Look-ups in tuned tables, over rows made here so that re-tuning cannot break the test.
#include "tables/tables.h"

#include <catch2/catch_test_macros.hpp>

namespace headtune::tables {
namespace {

constexpr Config config(int block_h, int block_n) {
  Config config{};
  config.block_h = block_h;
  config.block_n = block_n;
  return config;
}

constexpr TableRow row(int cu_count, int group, int extend_len, int min, int max, Config config) {
  TableRow row{};
  row.cu_count = cu_count, row.wave_size = 64, row.head_dim = row.v_head_dim = 64;
  row.kv_group_num = group, row.num_kv_heads = 4, row.extend_len = extend_len, row.has_kv_heads = true;
  row.context_min = min, row.context_max = max, row.config = config;
  return row;
}

constexpr TableRow table[] = {
    row(304, 4, 8, 8192, 8192, config(4, 128)),
    row(304, 4, 8, 16384, 32768, config(2, 64)),
    row(80, 4, 8, 8192, 32768, config(1, 32)),
    row(304, 8, 8, 8192, 32768, config(8, 256)),
};
constexpr Rows rows_942 = rows("gfx942", table);

constexpr Problem draft(int q_heads, int kv_heads, int extend_len = 8) {
  return Problem{64, 64, q_heads, kv_heads, extend_len, false};
}
constexpr DeviceKey mi300x{"gfx942:sramecc+:xnack-", 304, 64};

// The look-up is usable at compile time.
static_assert(lookup(rows_942, draft(16, 4), mi300x, 8192).config.block_n == 128);

TEST_CASE("the device's own row matches exactly, by context") {
  const Match near = lookup(rows_942, draft(16, 4), mi300x, 8192);
  CHECK(near.level == MatchLevel::exact);
  CHECK(near.config.block_n == 128);
  CHECK(lookup(rows_942, draft(16, 4), mi300x, 32768).config.block_n == 64);
  CHECK(lookup(rows_942, draft(16, 4), mi300x, 11000).config.block_n == 128);
  CHECK(lookup(rows_942, draft(16, 4), mi300x, 12000).config.block_n == 64);
}

TEST_CASE("an unknown CU count takes the nearest device of the architecture and says so") {
  const Match few = lookup(rows_942, draft(16, 4), {"gfx942", 96, 64}, 8192);
  CHECK(few.level == MatchLevel::nearest_cu_count);
  CHECK(few.cu_count == 80);
  CHECK(lookup(rows_942, draft(16, 4), {"gfx942", 256, 64}, 8192).cu_count == 304);
}

TEST_CASE("a context more than two octaves outside the tuned range takes the default") {
  CHECK(lookup(rows_942, draft(16, 4), mi300x, 2048).level == MatchLevel::exact);
  CHECK(lookup(rows_942, draft(16, 4), mi300x, 2047).level == MatchLevel::default_config);
  CHECK(lookup(rows_942, draft(16, 4), mi300x, 131072).level == MatchLevel::exact);
  CHECK(lookup(rows_942, draft(16, 4), mi300x, 131073).level == MatchLevel::default_config);
  CHECK(lookup(rows_942, draft(16, 4), mi300x, 0).level == MatchLevel::default_config);
}

TEST_CASE("a row whose query-head block would straddle KV heads is not used") {
  const Match match = lookup(rows_942, draft(9, 3), {"gfx942", 304, 64}, 8192);
  CHECK(match.cu_count == 80);
  CHECK(match.config.block_h == 1);
}

TEST_CASE("the nearest group size and extend length win among rows of one device") {
  CHECK(lookup(rows_942, draft(16, 2), mi300x, 8192).config.block_h == 8);
  CHECK(lookup(rows_942, draft(16, 4, 4), mi300x, 8192).config.block_n == 128);
}

TEST_CASE("another kernel, wave size or architecture takes the default configuration") {
  Problem causal = draft(16, 4);
  causal.is_causal = true;
  CHECK(lookup(rows_942, causal, mi300x, 8192).level == MatchLevel::default_config);
  CHECK(lookup(rows_942, draft(16, 4), {"gfx942", 304, 32}, 8192).level == MatchLevel::default_config);
  CHECK(lookup(draft(16, 4), {"gfx1100", 96, 32}, 8192).level == MatchLevel::default_config);
  CHECK(lookup(draft(16, 4), {"", 0, 0}, 8192).level == MatchLevel::default_config);
}

TEST_CASE("the default is legal whatever the group size") {
  CHECK(default_config(draft(16, 4)).block_h == 4);
  CHECK(default_config(draft(9, 3)).block_h == 3);
  CHECK(default_config(draft(14, 2)).block_h == 1);
  const Problem mla{576, 512, 12, 1, 8, true};
  CHECK(default_config(mla).block_h == 4);
  CHECK(default_config(mla).block_n == 64);
  CHECK(default_config(mla).num_warps == 8);
}

}  // namespace
}  // namespace headtune::tables
