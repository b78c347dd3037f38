// What a user gets from the winning row: read back, looked up and planned as the shipped headers do.
#include "tuner/retime.h"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include "tuner/op.h"
#include "tuner/table_file.h"

namespace headtune {
namespace {

const Problem draft{64, 64, 8, 2, 7, false};
const TimedShape shape{8, 16384};

TunedRow winner() {
  TunedRow tuned;
  TableRow& r = tuned.row;
  r.cu_count = 304, r.wave_size = 64, r.head_dim = r.v_head_dim = 64;
  r.kv_group_num = 4, r.num_kv_heads = 2, r.extend_len = 7, r.has_kv_heads = true;
  r.context_min = 8192, r.context_max = 32768;
  r.config.block_h = 2, r.config.block_n = 128, r.config.workgroups_per_cu = 2;
  Evidence& e = tuned.evidence;
  e.provider = "rocm", e.device_name = "MI300X", e.driver = "6.14", e.runtime = "HIP 7.0", e.compiler = "hiprtc 7.0";
  e.template_hash = std::string(64, 'c'), e.method = "graph", e.reason = "best";
  e.verify_error = 1e-3, e.verify_tolerance = 5e-3;
  e.times = {{8192, 1, 20, 19.9, 20.1, 12, 20, 0, 1 << 20}};
  return tuned;
}

AsShipped shipped(const TunedRow& row) {
  return as_shipped(table_json({"gfx942", {row}}), draft, {"gfx942", 304, 64}, shape);
}

StoredRetiming retiming(double swept, double table, double noise) {
  return {8192, 1, swept, swept * (1 - noise), swept * (1 + noise), table, table * (1 - noise), table * (1 + noise)};
}

TEST_CASE("the row gives the configuration and the launches that the sweep timed") {
  const AsShipped user = shipped(winner());
  CHECK(user.config == winner().row.config);
  const Plan swept =
      find_op("verify_shared_kv").plan(draft, winner().row.config, *find_arch("gfx942"), shape.batch, shape.context);
  CHECK(user.plan.num_splits == swept.num_splits);
  CHECK(user.plan.min_keys_per_split == swept.min_keys_per_split);
  CHECK(user.plan.partial_out_bytes == swept.partial_out_bytes);
  REQUIRE(user.plan.launches.size() == swept.launches.size());
  for (std::size_t i = 0; i < swept.launches.size(); ++i) {
    CHECK(user.plan.launches[i].kernel == swept.launches[i].kernel);
    CHECK(user.plan.launches[i].grid == swept.launches[i].grid);
    CHECK(user.plan.launches[i].block == swept.launches[i].block);
    CHECK(user.plan.launches[i].dynamic_lds_bytes == swept.launches[i].dynamic_lds_bytes);
    CHECK(user.plan.launches[i].dependent == swept.launches[i].dependent);
  }
}

TEST_CASE("a row that the look-up does not take shows as another configuration") {
  TunedRow row = winner();
  row.row.config.block_h = 3;  // straddles the groups of four heads: not legal, the default applies
  CHECK_FALSE(shipped(row).config == row.row.config);
}

TEST_CASE("a difference counts beyond noise and beyond what selection itself ignores") {
  CHECK_FALSE(differs(retiming(20, 20.3, 0.001)));  // 1.5 %, though the intervals are apart
  CHECK_FALSE(differs(retiming(20, 21.6, 0.05)));   // within noise
  CHECK(differs(retiming(20, 21.6, 0.01)));
  CHECK(differs(retiming(21.6, 20, 0.01)));
  CHECK_THAT(describe(retiming(20, 21.6, 0.01)),
             Catch::Matchers::ContainsSubstring("+8.0 % through the table at 1x8192"));
}

}  // namespace
}  // namespace headtune
