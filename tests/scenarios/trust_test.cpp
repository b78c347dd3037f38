// Results one can trust, through the real tool: times that still move, launches that users do not get, sweeps that saw
// only a part, tools older than their templates.
#include <SQLiteCpp/SQLiteCpp.h>

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <fstream>
#include <set>

#include "tests/scenarios/workspace.h"

using namespace headtune;
using namespace headtune::test;
using Catch::Matchers::ContainsSubstring;

namespace {

using Arguments = std::vector<std::string>;

/// Variant i takes time_us[i].
std::string timed(const std::vector<double>& time_us, const std::string& device = "") {
  std::string list;
  for (std::size_t i = 0; i < time_us.size(); ++i)
    list += (i ? ", {" : "{") + std::string("\"match\": {\"BLOCK_N\": ") + std::to_string(Workspace::block_n(int(i))) +
            "}, \"time_us\": " + std::to_string(time_us[i]) + "}";
  return "{" + device + "\"variants\": [" + list + "]}";
}

std::vector<double> hills(int count) {
  std::vector<double> times;
  for (int i = 0; i < count; ++i) times.push_back(20 + (i * 7) % count);
  return times;
}

long lines(const std::string& text) { return std::count(text.begin(), text.end(), '\n'); }

Ended explain(const Workspace& workspace, const Arguments& extra = {}) {
  Arguments all = {"explain",      "--db", workspace.database().string(), "--head-dim", "64", "--heads", "2/1",
                   "--extend-len", "2"};
  all.insert(all.end(), extra.begin(), extra.end());
  return workspace.tool(all);
}

std::set<int> tried(const Workspace& workspace) {
  std::set<int> block_ns;
  for (const StoredVariant& variant : workspace.variants()) block_ns.insert(variant.config.block_n);
  return block_ns;
}

}  // namespace

TEST_CASE("a clock that never settles gives no verdict, and a later good sweep does") {
  Workspace workspace(3);
  workspace.script(timed({20, 21, 22}, R"("clock": {"from": 0.6, "to": 1.0, "submissions": 40, "repeats": true}, )"));
  const Ended ended = workspace.sweep();
  CHECK(ended.exit == 3);
  CHECK_THAT(ended.output, ContainsSubstring("finalists still moved after 3 attempts"));
  CHECK_THAT(ended.output, !ContainsSubstring("next: headtune emit"));
  CHECK(workspace.winner() == 0);
  CHECK(workspace.variants().size() == 3);
  CHECK_THAT(explain(workspace).output, ContainsSubstring("untrusted times"));

  SECTION("SQL cannot crown them either") {
    SQLite::Database database(workspace.database().string(), SQLite::OPEN_READWRITE);
    CHECK_THROWS_WITH(
        database.exec("INSERT INTO winner SELECT id, 256, 256, 'sql' FROM variant WHERE status = 'timed'"),
        ContainsSubstring("still moving cannot win"));
  }
  SECTION("the same command goes on once the clock is steady") {
    workspace.script(timed({20, 21, 22}));
    CHECK(workspace.sweep().exit == 0);
    CHECK(workspace.winner() == Workspace::block_n(0));
  }
}

TEST_CASE("the winner is timed again as its users run it") {
  Workspace workspace(3);
  SECTION("the same launch: no alarm, the difference is stored") {
    workspace.script(timed({22, 20, 24}, R"("noise": 0.002, )"));
    const Ended ended = workspace.sweep();
    CHECK(ended.exit == 0);
    CHECK_THAT(ended.output, ContainsSubstring("as a user of the table gets it: within 0."));
    CHECK_THAT(ended.output, !ContainsSubstring("WARNING"));
    CHECK_THAT(explain(workspace).output, ContainsSubstring("through the table at 1x256"));
  }
  SECTION("another launch: a loud flag") {
    // The device has less LDS than the architecture's entry states: the sweep cuts into fewer splits than users do.
    workspace.script(R"({"device": {"target": "sm_90", "cu_count": 132, "wave_size": 32, "lds_per_workgroup": 32768},
                         "variants": [{"us_per_split": 20, "time_us": 10}]})");
    const Ended ended =
        workspace.tool({"sweep", "--device", "fake:" + (workspace.root() / "device.json").string(), "--head-dim", "64",
                        "--heads", "2/1", "--extend-len", "2", "--contexts", "8k", "--batch", "8", "--db",
                        workspace.database().string(), "--templates", workspace.templates().string()});
    CHECK(ended.exit == 0);
    CHECK_THAT(ended.output,
               ContainsSubstring("WARNING: head_dim 64, 2/1 heads, L 2, non-causal, bf16: the winner does "
                                 "not do what was swept: +"));
  }
}

TEST_CASE("a search within a budget says what it left out, goes on, and ends at its budget") {
  const std::string search = GENERATE(as<std::string>{}, "random", "greedy", "guided");
  INFO(search);
  Workspace workspace(40), undisturbed(40);
  for (const Workspace* one : {&workspace, &undisturbed}) one->script(timed(hills(40)));
  const auto sweep = [&](const Workspace& one, const std::string& budget) {
    return one.sweep({"--search", search, "--seed", "5", "--budget", budget});
  };
  const Ended first = sweep(workspace, "8");
  CHECK(first.exit == 0);
  CHECK(tried(workspace).size() == 8);
  CHECK_THAT(first.output, ContainsSubstring("32 not tried"));
  CHECK_THAT(first.output, ContainsSubstring("partial sweep: tried 8 of 40 legal configurations (20 %; " + search +
                                             ", seed 5, budget 8)"));
  CHECK_THAT(explain(workspace).output, ContainsSubstring("partial sweep: tried 8 of 40 legal configurations"));
  CHECK_THAT(explain(workspace, {"--json"}).output, ContainsSubstring("\"tried\": 8"));
  const Ended again = sweep(workspace, "8");
  CHECK_THAT(again.output, ContainsSubstring("8 known") && !ContainsSubstring("compiled"));
  CHECK(sweep(workspace, "16").exit == 0);
  CHECK(sweep(undisturbed, "16").exit == 0);
  CHECK(tried(workspace).size() == 16);
  if (search != "greedy") {  // which forgets its path
    CHECK(tried(workspace) == tried(undisturbed));
    CHECK(workspace.winner() == undisturbed.winner());
  }

  const auto table = (workspace.root() / "t.json").string();
  REQUIRE(workspace
              .tool({"emit", "--from", workspace.database().string(), "--format", "json", "-o", table, "--templates",
                     workspace.templates().string()})
              .exit == 0);
  std::ifstream in(table);
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  CHECK_THAT(text, ContainsSubstring("\"untried\":24"));

  REQUIRE(workspace.sweep().exit == 0);
  CHECK(tried(workspace).size() == 40);
  CHECK(workspace.winner() == Workspace::block_n(0));
  CHECK_THAT(explain(workspace).output, ContainsSubstring("  tried 40 of 40 legal configurations (100 %; exhaustive)"));
}

TEST_CASE("a budget in seconds ends a sweep between variants") {
  Workspace workspace(400);
  workspace.script(timed(hills(400)));
  const Ended ended = workspace.sweep({"--search", "random", "--budget", "1s"});
  CHECK(ended.exit == 0);
  CHECK(tried(workspace).size() >= 1);
  CHECK(tried(workspace).size() < 400);
  CHECK(workspace.winner() != 0);
}

TEST_CASE("bad searches and budgets are refused with one line") {
  Workspace workspace(2);
  for (const Arguments& bad : {Arguments{"--search", "magic"}, Arguments{"--budget", "soon"}}) {
    const Ended ended = workspace.sweep(bad);
    CHECK(ended.exit == 2);
    CHECK(lines(ended.output) == 1);
  }
  CHECK_FALSE(std::filesystem::exists(workspace.database()));
}

TEST_CASE("pruned configurations are counted by reason, not listed") {
  Workspace workspace(50);
  std::ofstream(workspace.templates() / "headtune/verify_shared_kv/space.json") << R"(
    {"op": "verify_shared_kv",
     "parameters": [{"name": "BLOCK_H", "values": [1, 2, 3]}, {"name": "BLOCK_N", "values": [64, 128, 192, 256]}],
     "derived": [],
     "constraints": [{"require": "BLOCK_H == 2", "reason": "{BLOCK_H} heads"},
                     {"require": "BLOCK_N > 64", "reason": "too few keys"}]})";
  REQUIRE(workspace.sweep().exit == 0);
  CHECK(workspace.variants().size() == 3);
  const std::string text = explain(workspace).output;
  CHECK_THAT(text, ContainsSubstring("    4 1 heads\n") && ContainsSubstring("    4 3 heads\n") &&
                       ContainsSubstring("    1 too few keys\n"));
  SQLite::Database database(workspace.database().string(), SQLite::OPEN_READONLY);
  CHECK(database.execAndGet("SELECT count(*) FROM pruned").getInt() == 3);
}

TEST_CASE("a tool that was built with other headers than the templates hold refuses to sweep") {
  const std::string header =
      GENERATE("headtune/verify_shared_kv/launch.h", "headtune/config.h", "headtune/verify_shared_kv/ring_layout.h");
  Workspace workspace(2);
  std::ofstream(workspace.templates() / header, std::ios::app) << "// changed\n";
  const Ended ended = workspace.sweep();
  CHECK(ended.exit == 2);
  CHECK(lines(ended.output) == 1);
  CHECK_THAT(ended.output,
             ContainsSubstring(header + ": differs from the one that this headtune was built with; rebuild"));
  CHECK_FALSE(std::filesystem::exists(workspace.database()));
}

TEST_CASE("an older database is refused with one line and stays as it is") {
  Workspace workspace(1);
  REQUIRE(workspace.sweep().exit == 0);
  SQLite::Database(workspace.database().string(), SQLite::OPEN_READWRITE).exec("PRAGMA user_version = 1");
  const Ended ended = workspace.sweep();
  CHECK(ended.exit == 2);
  CHECK(lines(ended.output) == 1);
  CHECK_THAT(ended.output, ContainsSubstring("schema 1 is older than this headtune's"));
}
