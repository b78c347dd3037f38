// Look-ups in tuned tables, over rows made here so that re-tuning cannot break the test.
#include "tables/tables.h"

#include <catch2/catch_test_macros.hpp>
#include <filesystem>
#include <string>
#include <vector>

#include "tuner/space.h"

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
    row(80, 4, 8, 8192, 32768, config(1, 256)),
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

std::vector<Problem> problems() {
  std::vector<Problem> all;
  const int heads[][2] = {{8, 2}, {16, 4}, {9, 3}, {14, 2}, {8, 1}, {12, 1}, {16, 1}, {3, 1}, {128, 1}};
  for (const auto& [q, kv] : heads)
    for (const int dim : {64, 96, 128, 256, 576})
      for (const int extend_len : {1, 4, 7, 8})
        for (const DType kv_dtype : {DType::bf16, DType::fp8_e4m3fn})
          if (dim % 64 == 0 || kv_dtype == DType::bf16)
            all.push_back({dim, dim == 576 ? 512 : dim, q, kv, extend_len, false, DType::bf16, kv_dtype});
  return all;
}

/// Reasons of space.json that are about speed: the configuration still computes the right answer.
bool about_speed(const std::string& reason) {
  for (const char* part :
       {"registers", "idle", "fit the 4 SIMDs", "hides less latency", "every measured case", "pay only"})
    if (reason.find(part) != std::string::npos) return true;
  return false;
}

const std::filesystem::path space_file =
    std::filesystem::path(HEADTUNE_TEST_TEMPLATES) / "headtune/verify_shared_kv/space.json";

TEST_CASE("every shipped row answers for the problem and device that it was tuned on") {
  for (const Rows& shipped : verify_shared_kv_tables)
    for (int i = 0; i < shipped.count; ++i) {
      const TableRow& row = shipped.first[i];
      const Problem problem{row.head_dim,     row.v_head_dim, row.kv_group_num * row.num_kv_heads,
                            row.num_kv_heads, row.extend_len, row.is_causal,
                            row.dtype,        row.kv_dtype};
      INFO(shipped.arch << " row " << i);
      const DeviceKey device{shipped.arch, row.cu_count, row.wave_size};
      for (const int context : {row.context_min, row.context_max}) {
        const Match match = lookup(problem, device, context);
        CHECK(match.level == MatchLevel::exact);
        CHECK(match.config == row.config);
      }
    }
}

TEST_CASE("legality here and the constraints of space.json agree") {
  const Space space = read_space(space_file);
  int legal = 0, pruned = 0;
  const Problem some[] = {{64, 64, 16, 4, 7, false},
                          {64, 64, 9, 3, 1, false},
                          {128, 128, 16, 4, 8, false},
                          {256, 256, 8, 1, 4, true},
                          {576, 512, 12, 1, 8, true},
                          {64, 64, 8, 2, 7, false, DType::bf16, DType::fp8_e4m3fn},
                          {128, 128, 16, 4, 8, false, DType::bf16, DType::fp8_e4m3fnuz},
                          {256, 256, 8, 1, 4, true, DType::bf16, DType::fp8_e4m3fn},
                          {96, 96, 8, 2, 4, true, DType::bf16, DType::fp8_e4m3fn},
                          {576, 512, 12, 1, 8, true, DType::bf16, DType::fp8_e4m3fn}};
  for (const Problem& problem : some)
    for (const char* name : {"gfx942", "gfx950", "sm_90"}) {
      const Arch& arch = *find_arch(name);
      const Candidates candidates = enumerate(space, problem, arch);
      for (const Config& config : candidates.legal) {
        INFO(name << " " << to_string(config) << " head_dim " << problem.head_dim << " L " << problem.extend_len
                  << " prefix " << element_bytes(problem.kv_dtype) << " B");
        CHECK(is_legal(problem, config, arch));
        ++legal;
      }
      for (const Pruned& p : candidates.pruned)
        if (is_legal(problem, p.config, arch) && ++pruned && !about_speed(p.reason))
          FAIL_CHECK(name << " " << to_string(p.config) << " head_dim " << problem.head_dim << ": " << p.reason);
    }
  CHECK(legal > 50);
  CHECK(pruned > 0);
}

TEST_CASE("the default is legal on every architecture, whatever heads and extend length") {
  const Space space = read_space(space_file);
  for (const Problem& problem : problems())
    for (const Arch& arch : archs) {
      const Config config = default_config(problem, arch);
      INFO(arch.name << " head_dim " << problem.head_dim << " heads " << problem.num_q_heads << "/"
                     << problem.num_kv_heads << " L " << problem.extend_len << ": " << to_string(config));
      CHECK(is_legal(problem, config, arch));
      const std::string reason = prune_reason(space, problem, config, arch);
      INFO(reason);
      CHECK((reason.empty() || about_speed(reason)));
    }
}

TEST_CASE("the default is the published seed where the kernels can run it") {
  const Config draft_default = default_config(draft(16, 4), *find_arch("gfx950"));
  CHECK(draft_default.block_h == 4);
  CHECK(draft_default.block_n == 256);
  CHECK(draft_default.num_warps == 4);
  const Config mla = default_config({576, 512, 12, 1, 8, true}, *find_arch("gfx950"));
  CHECK(mla.block_h == 4);
  CHECK(mla.block_n == 64);
  CHECK(mla.num_warps == 8);
  CHECK(default_config(draft(9, 3), *find_arch("gfx942")).block_h == 3);
}

}  // namespace
}  // namespace headtune::tables
