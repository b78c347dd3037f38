// From stored results to a table: which environment wins a cell, what counts as stale, which cells are empty.
#include "tuner/build_table.h"

#include <stdlib.h>

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <filesystem>

#include "codegen/emit.h"
#include "tuner/error.h"

namespace headtune {
namespace {

using Catch::Matchers::ContainsSubstring;

const std::string present(64, 'a'), past(64, 'b');

struct Database {
  std::filesystem::path folder;
  Store store;
  Database() : folder(make_folder()), store(folder / "t.db", Access::create) {}
  ~Database() { std::filesystem::remove_all(folder); }

  static std::filesystem::path make_folder() {
    std::string name = (std::filesystem::temp_directory_path() / "headtune-build-table-XXXXXX").string();
    return ::mkdtemp(name.data());
  }

  /// A winner with BLOCK_N `block_n` and a slower second.
  void tune(const StoredEnvironment& environment, int block_n, const std::string& hash = present, int head_dim = 64) {
    const auto e = store.add(environment);
    const auto p = store.add(StoredProblem{"verify_shared_kv", Problem{head_dim, head_dim, 16, 4, 8, false}});
    const auto winner = timed(e, p, block_n, 20, hash, environment.estimated);
    timed(e, p, block_n + 1, 25, hash, environment.estimated);
    store.put_winners(e, {p}, {{winner, 8192, 16384, "best"}});
  }

  std::int64_t timed(std::int64_t e, std::int64_t p, int block_n, double us, const std::string& hash, bool estimated) {
    StoredVariant v;
    v.environment = e, v.problem = p;
    v.config.block_n = block_n;
    v.defines = "BLOCK_N=" + std::to_string(block_n);
    v.template_hash = hash, v.status = Status::verified;
    v.verify_error = 1e-3, v.verify_tolerance = 5e-3;
    const auto id = store.put(v);
    for (const int context : {8192, 16384})
      store.put_timing(id, {context, 1, "graph", us, us - 0.1, us + 0.1, 1 << 20, 0, "", estimated, {us, us, us}});
    store.set_status(id, Status::timed, "");
    return id;
  }
};

StoredEnvironment environment(const std::string& compiler, bool estimated = false) {
  return {estimated ? "sim" : "rocm", "gfx950", "", 256, 64, 163840, "d", "r", compiler, estimated, "MI355X"};
}

TEST_CASE("a row carries the evidence of its winner") {
  Database db;
  db.tune(environment("hiprtc 6.4"), 64);
  const TunedTable table = build_table(db.store, "gfx950", present);
  REQUIRE(table.rows.size() == 1);
  const TunedRow& row = table.rows[0];
  CHECK(missing_evidence(row).empty());
  CHECK(row.row.config.block_n == 64);
  CHECK(row.row.context_min == 8192);
  CHECK(row.row.context_max == 16384);
  CHECK(row.evidence.times.size() == 2);
  CHECK(row.evidence.times[0].samples == 3);
  CHECK(row.evidence.candidates == 2);
  CHECK(row.evidence.ratio == 1);
  CHECK(row.evidence.max_regret == 0);
}

TEST_CASE("a row says how much of its space was pruned, failed and left alone") {
  Database db;
  db.tune(environment("hiprtc 6.4"), 64);
  const auto e = db.store.add(environment("hiprtc 6.4"));
  const auto p = db.store.add(StoredProblem{"verify_shared_kv", Problem{64, 64, 16, 4, 8, false}});
  db.timed(e, p, 256, 5, past, false);  // of other templates: no part of this space
  db.store.put_space(e, p, {10, "guided, seed 1, budget 2", {{"too wide", 90, {}}, {"too narrow", 3, {}}}});
  const Evidence evidence = build_table(db.store, "gfx950", present).rows.at(0).evidence;
  CHECK(evidence.pruned == 93);
  CHECK(evidence.candidates == 2);
  CHECK(evidence.untried == 8);
}

TEST_CASE("the newest compiler's environment fills a cell, whatever was stored first") {
  const bool newest_first = GENERATE(false, true);
  Database db;
  db.tune(environment(newest_first ? "hiprtc 6.10" : "hiprtc 6.4"), newest_first ? 128 : 64);
  db.tune(environment(newest_first ? "hiprtc 6.4" : "hiprtc 6.10"), newest_first ? 64 : 128);
  const TunedTable table = build_table(db.store, "gfx950", present);
  REQUIRE(table.rows.size() == 1);
  CHECK(table.rows[0].row.config.block_n == 128);
}

TEST_CASE("measured rows come before estimated ones, present templates before past ones") {
  Database db;
  db.tune(environment("hiprtc 9.9", true), 32);
  db.tune(environment("hiprtc 6.4"), 64, past);
  CHECK(build_table(db.store, "gfx950", present).rows.at(0).row.config.block_n == 64);
  db.tune(environment("hiprtc 6.3"), 128, present);
  CHECK(build_table(db.store, "gfx950", present).rows.at(0).row.config.block_n == 128);
}

TEST_CASE("rows of other templates are stale and named") {
  Database db;
  db.tune(environment("hiprtc 6.4"), 64, past);
  db.tune(environment("hiprtc 6.4"), 64, present, 128);
  TunedTable table = build_table(db.store, "gfx950", present);
  const auto stale = mark_stale(table, present);
  REQUIRE(stale.size() == 1);
  CHECK_THAT(stale[0], ContainsSubstring("head_dim 64/64") && ContainsSubstring("templates bbbbbbbbbbbb") &&
                           ContainsSubstring("aaaaaaaaaaaa"));
  CHECK(table.rows[0].stale);
  CHECK_FALSE(table.rows[1].stale);
}

TEST_CASE("required cells without a row are listed") {
  Database db;
  db.tune(environment("hiprtc 6.4"), 64);
  const TunedTable table = build_table(db.store, "gfx950", present);
  CHECK(empty_cells(table, "64").empty());
  CHECK(empty_cells(table, "64/64@8k,64@16384").empty());
  CHECK(empty_cells(table, "64,128,576/512,64@32k") == std::vector<std::string>{"128", "576/512", "64@32k"});
  CHECK_THROWS_AS(empty_cells(table, "64,,128"), UsageError);
  CHECK_THROWS_AS(empty_cells(table, "64@"), UsageError);
}

TEST_CASE("versions compare by number") {
  CHECK(older("6.4.43484", "6.10.1"));
  CHECK_FALSE(older("6.10.1", "6.4.43484"));
  CHECK(older("hiprtc 6.4", "hiprtc 6.4.1"));
  CHECK_FALSE(older("7", "7"));
  CHECK(older("", "1"));
}

}  // namespace
}  // namespace headtune
