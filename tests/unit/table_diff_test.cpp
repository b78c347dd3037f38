// What changed between two tables, and whether noise explains it.
#include "tuner/table_diff.h"

#include <catch2/catch_test_macros.hpp>

#include "tests/unit/gate_tables.h"

namespace headtune {
namespace {

using namespace test;

TunedTable table(std::vector<TunedRow> rows) { return {"gfx950", std::move(rows)}; }

}  // namespace

TEST_CASE("a table equals itself") {
  const TableDiff found = diff(table({tuned_row(64)}), table({tuned_row(64)}));
  CHECK_FALSE(found.differs());
  CHECK(found.rows.size() == 2);  // one per context
  for (const RowDiff& row : found.rows) CHECK(row.change == RowChange::same);
}

TEST_CASE("a time within the intervals is noise, beyond them it is not") {
  const TableDiff within = diff(table({tuned_row(64, 20)}), table({tuned_row(64, 20.15)}));
  CHECK_FALSE(within.differs());
  CHECK(within.rows[0].change == RowChange::changed);
  CHECK(diff(table({tuned_row(64, 20)}), table({tuned_row(64, 20.3)})).differs());
  CHECK(diff(table({tuned_row(64, 20.3)}), table({tuned_row(64, 20)})).differs());
}

TEST_CASE("rows that come and go, and configurations that change") {
  const TableDiff found = diff(table({tuned_row(64), tuned_row(128)}), table({tuned_row(64), tuned_row(256)}));
  REQUIRE(found.rows.size() == 6);
  CHECK(found.rows[2].change == RowChange::removed);
  CHECK(found.rows[2].row.head_dim == 128);
  CHECK(found.rows[4].change == RowChange::added);
  TunedRow other = tuned_row(64);
  other.row.config.block_n = 32;
  const TableDiff changed = diff(table({tuned_row(64)}), table({other}));
  CHECK(changed.differs());
  CHECK(changed.rows[0].config_changed());
}

TEST_CASE("contexts cut into other ranges are the same rows") {
  TunedRow low = tuned_row(64), high = tuned_row(64);
  low.row.context_max = 8192, high.row.context_min = 16384;
  low.evidence.times.resize(2);
  high.evidence.times.erase(high.evidence.times.begin(), high.evidence.times.begin() + 2);
  CHECK_FALSE(diff(table({tuned_row(64)}), table({low, high})).differs());
}

TEST_CASE("other software is named and is no difference by itself; estimated against measured is one") {
  TunedRow newer = tuned_row(64);
  newer.evidence.compiler = "hiprtc 7.1";
  const TableDiff found = diff(table({tuned_row(64)}), table({newer}));
  CHECK_FALSE(found.differs());
  CHECK(found.rows[0].evidence == std::vector<std::string>{"compiler hiprtc 7.0 -> hiprtc 7.1"});
  newer.row.estimated = true;
  CHECK(diff(table({tuned_row(64)}), table({newer})).differs());
}

TEST_CASE("a batch that only one table has is a difference") {
  TunedRow fewer = tuned_row(64);
  fewer.evidence.times.pop_back();
  const TableDiff found = diff(table({tuned_row(64)}), table({fewer}));
  CHECK(found.differs());
  CHECK(found.rows[1].batches_removed == std::vector<int>{8});
}

}  // namespace headtune
