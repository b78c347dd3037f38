// Which cells a check compares, and what it says about the others.
#include "tuner/check_plan.h"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include "tests/unit/gate_tables.h"

namespace headtune {
namespace {

using namespace test;
using Catch::Matchers::ContainsSubstring;

long comparable(const CheckPlan& plan) {
  return std::count_if(plan.cells.begin(), plan.cells.end(), [](const CheckCell& c) { return c.obstacle.empty(); });
}

CheckPlan plan_of(const TunedTable& table, const CheckFilter& filter = {}, bool allow_stale = false) {
  return plan_check(table, {mi355x(), present_hash}, filter, allow_stale);
}

}  // namespace

TEST_CASE("every stored time of this device is compared") {
  const CheckPlan plan = plan_of({"gfx950", {tuned_row(64), tuned_row(128)}});
  CHECK(plan.cells.size() == 8);
  CHECK(comparable(plan) == 8);
  CHECK(plan.not_asked.empty());
  CHECK(plan_of({"gfx950", {}}).cells.empty());
}

TEST_CASE("a filter leaves cells out by name; what it names must be there") {
  const TunedTable table{"gfx950", {tuned_row(64), tuned_row(128)}};
  const CheckPlan plan = plan_of(table, {{64}, {8192}, {1}});
  REQUIRE(plan.cells.size() == 1);
  CHECK(plan.cells[0].shape == TimedShape{1, 8192});
  CHECK(plan.not_asked.size() == 7);
  const CheckPlan missing = plan_of(table, {{64, 96}, {8192, 32768}, {}});
  CHECK(comparable(missing) == 2);
  REQUIRE(missing.cells.size() == 4);
  CHECK_THAT(missing.cells[2].obstacle, ContainsSubstring("no baseline"));
  CHECK(missing.cells[2].problem.head_dim == 96);
  CHECK(missing.cells[3].shape.context == 32768);
}

TEST_CASE("stale rows are named with expected and actual, and judged only when allowed") {
  TunedRow row = tuned_row(64);
  row.evidence.template_hash = std::string(64, 'b');
  row.evidence.compiler = "hiprtc 6.4";
  const TunedTable table{"gfx950", {row}};
  const CheckPlan refused = plan_of(table);
  CHECK(comparable(refused) == 0);
  CHECK_THAT(refused.cells[0].obstacle, ContainsSubstring("templates expected bbbbbbbbbbbb, found aaaaaaaaaaaa"));
  CHECK_THAT(refused.cells[0].obstacle, ContainsSubstring("compiler expected hiprtc 6.4, found hiprtc 7.0"));
  const CheckPlan allowed = plan_of(table, {}, true);
  CHECK(comparable(allowed) == 4);
  REQUIRE(allowed.stale.size() == 1);
  CHECK_THAT(allowed.stale[0], ContainsSubstring("head_dim 64/64"));
}

TEST_CASE("times of another device decide nothing, even as stale rows") {
  TunedRow row = tuned_row(64);
  SECTION("another CU count") { row.row.cu_count = 128; }
  SECTION("other features") { row.evidence.features = ":xnack-"; }
  SECTION("estimated times") { row.row.estimated = true, row.evidence.provider = "sim"; }
  const CheckPlan plan = plan_of({"gfx950", {row}}, {}, true);
  CHECK(plan.cells.size() == 4);
  CHECK(comparable(plan) == 0);
  CHECK_THAT(plan.cells[0].obstacle, ContainsSubstring("other device: expected"));
}

TEST_CASE("a table for several devices is held to its rows of this one") {
  TunedRow elsewhere = tuned_row(64);
  elsewhere.row.cu_count = 128;
  const CheckPlan plan = plan_of({"gfx950", {elsewhere, tuned_row(64)}});
  CHECK(plan.cells.size() == 4);
  CHECK(comparable(plan) == 4);
  REQUIRE(plan.elsewhere.size() == 1);
  CHECK_THAT(plan.elsewhere[0], ContainsSubstring("128 CUs"));
}

TEST_CASE("another architecture is another device") {
  const CheckPlan plan = plan_of({"gfx942", {tuned_row(64)}});
  CHECK(comparable(plan) == 0);
  CHECK_THAT(plan.cells[0].obstacle, ContainsSubstring("gfx942"));
}

}  // namespace headtune
