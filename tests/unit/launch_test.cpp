// Launch geometry: what it promises about splits, workgroups and LDS.
#include "headtune/extend_attention/launch.h"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

#include "headtune/verify_shared_kv/launch.h"

namespace headtune {
namespace {

constexpr Problem draft{64, 64, 16, 4, 8, false};

DeviceLimits device(const char* arch) { return limits_of(*find_arch(arch)); }

TEST_CASE("launch: splits cover a prefix once, in whole tiles but the last") {
  const int prefix = GENERATE(1, 63, 64, 65, 4096, 4097, 199999);
  const int splits = GENERATE(1, 2, 7, 64);
  const SplitCut cut = cut_prefix(prefix, splits, 128, 64);
  CHECK(cut.keys_per_split % 64 == 0);
  CHECK(cut.keys_per_split >= 128);
  CHECK(cut.used <= splits);
  CHECK((cut.used - 1) * cut.keys_per_split < prefix);
  CHECK(cut.used * cut.keys_per_split >= prefix);
  for (int split = 0; split < splits; ++split) CHECK(cut.holds(split, prefix) == (split < cut.used));
}

TEST_CASE("launch: an empty prefix has no split") {
  const SplitCut cut = cut_prefix(0, 8, 128, 64);
  CHECK(cut.used == 0);
  CHECK(!cut.holds(0, 0));
}

TEST_CASE("launch: splits are bounded by resident workgroups, by their least length and by MAX_SPLITS") {
  Config config;
  config.workgroups_per_cu = 2;
  const DeviceLimits gfx950 = device("gfx950");
  CHECK(num_splits(draft, config, gfx950, 8, 32768) == 256 * 2 / (8 * 4));
  CHECK(num_splits(draft, config, gfx950, 1, 1024) == 1024 / config.min_keys_per_split);
  CHECK(num_splits(draft, config, gfx950, 4096, 32768) == 1);
  config.max_splits = 5;
  CHECK(num_splits(draft, config, gfx950, 8, 32768) == 5);
}

TEST_CASE("launch: rings fill LDS and no more workgroups are counted than fit") {
  Config config;
  config.load_path = 2;
  config.block_n = 64;
  config.num_stages = 4;
  CHECK(stage1_lds_bytes(draft, config, device("sm_90")) == 4 * 64 * 2 * 64 * 2);
  CHECK(resident_workgroups(draft, config, device("sm_90")) == 3);
}

TEST_CASE("launch: head blocks never straddle KV heads and cover all heads") {
  Config config;
  config.block_h = GENERATE(1, 2, 3, 4, 8);
  CHECK(head_blocks(draft, config) == 4 * ((4 + config.block_h - 1) / config.block_h));
  const Problem shared{576, 512, 12, 1, 8, true};
  CHECK(head_blocks(shared, config) == (12 + config.block_h - 1) / config.block_h);
}

TEST_CASE("launch: workspace holds one partial row per request, split, head and new token") {
  Config config;
  const Workspace size = workspace(draft, config, 3, 5);
  CHECK(size.partial_lse_bytes == 3 * 5 * 16 * 8 * 4);
  CHECK(size.partial_out_bytes == size.partial_lse_bytes * 64);
  CHECK(size.split_done_bytes == 3 * head_blocks(draft, config) * 4);
}

TEST_CASE("launch: the usual workgroup leaves room for two others in 64 KiB of LDS") {
  const Problem problem = GENERATE(draft, Problem{128, 128, 16, 4, 8, false}, Problem{256, 256, 8, 1, 4, true});
  CHECK(3 * stage1_lds_bytes(problem, Config{}, device("gfx942")) <= 64 * 1024);
}

TEST_CASE("launch: extend_attention covers every new token") {
  Problem problem = draft;
  problem.extend_len = GENERATE(1, 16, 17, 32, 33, 100);
  const Launch launch = extend_launch(problem, Config{}, device("gfx950"), 2);
  CHECK(launch.grid_y * extend_query_block(problem.extend_len) >= problem.extend_len);
  CHECK((launch.grid_y - 1) * extend_query_block(problem.extend_len) < problem.extend_len);
}

}  // namespace
}  // namespace headtune
