// The tool on a scripted device: what users of other tuners met must not happen here (docs: results one can trust).
#include <SQLiteCpp/SQLiteCpp.h>
#include <signal.h>

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <map>
#include <random>
#include <set>
#include <thread>

#include "tests/scenarios/workspace.h"
#include "tuner/error.h"

using namespace headtune;
using namespace headtune::test;
using Catch::Matchers::ContainsSubstring;

namespace {

std::string match(int variant) {
  return "\"match\": {\"BLOCK_N\": " + std::to_string(Workspace::block_n(variant)) + "}";
}

/// Every variant takes time_us[i].
std::string timed(const std::vector<double>& time_us, const std::string& device = "") {
  std::string list;
  for (std::size_t i = 0; i < time_us.size(); ++i)
    list += (i ? ", {" : "{") + match(int(i)) + ", \"time_us\": " + std::to_string(time_us[i]) + "}";
  return "{" + device + "\"variants\": [" + list + "]}";
}

long with_status(const std::vector<StoredVariant>& variants, std::initializer_list<Status> wanted) {
  return std::count_if(variants.begin(), variants.end(), [&](const StoredVariant& variant) {
    return std::find(wanted.begin(), wanted.end(), variant.status) != wanted.end();
  });
}

/// A sweep killed before its first commit leaves no database or an empty one: no rows.
long finished_rows(const Workspace& workspace) {
  if (!std::filesystem::exists(workspace.database())) return 0;
  try {
    return with_status(workspace.variants(), {Status::timed, Status::outraced, Status::verified});
  } catch (const UsageError& error) {
    // The first sweep was killed before the tables were there, or while they came.
    REQUIRE_THAT(error.what(), ContainsSubstring(": empty; run") || ContainsSubstring(": a sweep was killed"));
    return 0;
  }
}

/// Status, configuration and times that do not depend on when the sweep ran.
std::string final_table(const Workspace& workspace) {
  std::string text;
  for (const StoredVariant& variant : workspace.variants())
    text += std::to_string(variant.config.block_n) + " " + name(variant.status) + "\n";
  return text + "winner " + std::to_string(workspace.winner());
}

/// Variants whose verification began in more than one process, each counted for every process but the first. `log` is
/// what the scripted device wrote: "PID NAME=VALUE ...".
long executed_again(const std::filesystem::path& log) {
  std::map<std::string, std::set<std::string>> processes;
  std::ifstream in(log);
  for (std::string pid, variant; in >> pid && std::getline(in, variant);) processes[variant].insert(pid);
  long again = 0;
  for (const auto& [variant, pids] : processes) again += static_cast<long>(pids.size()) - 1;
  return again;
}

std::string integrity(const Workspace& workspace) {
  SQLite::Database database(workspace.database().string(), SQLite::OPEN_READONLY);
  return database.execAndGet("PRAGMA integrity_check").getString();
}

long executed(const std::filesystem::path& log) {
  std::set<std::string> variants;
  std::ifstream in(log);
  for (std::string pid, variant; in >> pid && std::getline(in, variant);) variants.insert(variant);
  return static_cast<long>(variants.size());
}

void sleep_ms(int milliseconds) { std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds)); }

}  // namespace

TEST_CASE("one GPU under two marketing names shares its results") {
  Workspace workspace(3);
  workspace.script(timed({20, 10, 30}, R"("device": {"name": "AMD Instinct MI300X"}, )"));
  REQUIRE(workspace.sweep().exit == 0);
  workspace.script(timed({20, 10, 30}, R"("device": {"name": "AMD Instinct MI300X VF"}, )"));
  REQUIRE(workspace.sweep().exit == 0);
  CHECK(workspace.environments().size() == 1);
  CHECK(workspace.variants().size() == 3);
  workspace.script(timed({20, 10, 30}, R"("device": {"cu_count": 80}, )"));
  REQUIRE(workspace.sweep().exit == 0);
  CHECK(workspace.environments().size() == 2);
}

TEST_CASE("a changed template makes rows stale, an unrelated edit does not") {
  Workspace workspace(3);
  workspace.script(timed({20, 10, 30}));
  REQUIRE(workspace.sweep().exit == 0);
  const std::string before = workspace.variants().front().template_hash;
  std::ofstream(workspace.templates() / "headtune/notes.txt") << "not included by any kernel";
  REQUIRE(workspace.sweep().exit == 0);
  CHECK(workspace.variants().size() == 3);
  std::ofstream(workspace.templates() / "headtune/verify_shared_kv/stage1.h", std::ios::app) << "\n";
  REQUIRE(workspace.sweep().exit == 0);
  const auto variants = workspace.variants();
  CHECK(std::count_if(variants.begin(), variants.end(),
                      [&](const StoredVariant& v) { return v.template_hash != before; }) == 3);
}

TEST_CASE("noisy gaps between launches do not hide the faster kernel") {
  Workspace workspace(2);
  workspace.script(timed({24, 20}, R"("gap_us": 30, "gap_noise": 0.8, "noise": 0.01, )"));
  REQUIRE(workspace.sweep().exit == 0);
  CHECK(workspace.winner() == Workspace::block_n(1));
}

TEST_CASE("the table says below which context extend_attention is faster") {
  Workspace workspace(1);
  workspace.script(R"({"variants": [{"match": {"BLOCK_H": 1}, "time_us": 10, "us_per_kkey": 100}, {)" + match(0) +
                   R"(, "time_us": 20}]})");
  REQUIRE(workspace.sweep().exit == 0);
  const Ended table = workspace.tool({"emit", "--from", workspace.database().string(), "--format", "json",
                                      "--templates", workspace.templates().string()});
  INFO(table.output);
  // 10 us and 100 us per 1024 keys: 16 us at 64 keys, 22 us at 128.
  CHECK(table.output.find(R"({"batch":1,"keys":128})") != std::string::npos);
}

TEST_CASE("a ramping clock does not decide, whichever variant comes first") {
  const std::string ramp = R"("clock": {"from": 0.6, "to": 1.0, "submissions": 40}, "noise": 0.002, )";
  Workspace first(2), last(2);
  first.script(timed({20, 20.6}, ramp));
  last.script(timed({20.6, 20}, ramp));
  REQUIRE(first.sweep().exit == 0);
  REQUIRE(last.sweep().exit == 0);
  CHECK(first.winner() == Workspace::block_n(0));
  CHECK(last.winner() == Workspace::block_n(1));
}

TEST_CASE("wrong but fast variants never win") {
  Workspace workspace(4);
  workspace.script("{\"variants\": [{" + match(0) + R"(, "time_us": 1, "output": "nan", "output_context": 1}, {)" +
                   match(1) + R"(, "time_us": 1, "output": "wrong_last_split"}, {)" + match(2) +
                   R"(, "time_us": 1, "output": "unwritten"}, {)" + match(3) + R"(, "time_us": 90}]})");
  REQUIRE(workspace.sweep().exit == 0);
  CHECK(workspace.winner() == Workspace::block_n(3));
  CHECK(with_status(workspace.variants(), {Status::verify_failed}) == 3);
}

TEST_CASE("of twelve variants a crashing compile, a hang and a segmentation fault cost only themselves") {
  Workspace workspace(12);
  workspace.script("{\"variants\": [{" + match(2) + R"(, "compile": "crash"}, {)" + match(5) +
                   R"(, "fault": "hang"}, {)" + match(8) + R"(, "fault": "segv"}]})");
  const Ended ended = workspace.sweep({"--timeout", "4"});
  CHECK(ended.exit == 0);
  const auto variants = workspace.variants();
  CHECK(with_status(variants, {Status::timed, Status::outraced}) == 9);
  CHECK(with_status(variants, {Status::compile_crashed}) == 1);
  CHECK(with_status(variants, {Status::timed_out}) == 1);
  CHECK(with_status(variants, {Status::crashed}) == 1);
  CHECK(ended.seconds < 120);
  CHECK(workspace.processes_left() == 0);
}

TEST_CASE("nothing finished is lost to kill -9, and no process stays behind") {
  constexpr int total = 200, kills = 30, device_runners = 1;
  constexpr int runs = total + 1;  // and extend_attention, which the winner is raced against
  Workspace workspace(total), undisturbed(total);
  std::vector<double> times;
  for (int i = 0; i < total; ++i) times.push_back(20 + (i * 7) % total);
  const auto log = [](const Workspace& one) { return one.root() / "executions"; };
  for (const Workspace* one : {&workspace, &undisturbed})
    one->script(timed(times, "\"log\": \"" + log(*one).string() + "\", "));
  REQUIRE(undisturbed.sweep().exit == 0);
  CHECK(executed(log(undisturbed)) == runs);
  CHECK(executed_again(log(undisturbed)) == 0);
  std::mt19937 random(11);
  long finished = 0, killed_at_work = 0;
  for (int i = 0; i < kills; ++i) {
    const pid_t pid = workspace.start();
    sleep_ms(std::uniform_int_distribution<int>(20, 600)(random));
    kill(pid, SIGKILL);
    killed_at_work += workspace.wait(pid).signal == SIGKILL;
    const long now = finished_rows(workspace);
    CHECK(now >= finished);
    finished = now;
  }
  CHECK(workspace.processes_left() == 0);
  REQUIRE(workspace.sweep().exit == 0);
  CHECK(final_table(workspace) == final_table(undisturbed));
  CHECK(integrity(workspace) == "ok");
  CHECK(executed(log(workspace)) == runs);
  CHECK(killed_at_work > 0);
  CHECK(executed_again(log(workspace)) <= device_runners * killed_at_work);
  WARN(executed_again(log(workspace)) << " of " << total << " variants executed again after " << killed_at_work
                                      << " kills");
}

TEST_CASE("Ctrl-C keeps what is finished and says how to go on") {
  constexpr int total = 400;  // long enough that an idle machine is interrupted in the middle
  Workspace workspace(total);
  const pid_t pid = workspace.start();
  sleep_ms(1000);
  kill(pid, SIGINT);
  const Ended ended = workspace.wait(pid);
  if (ended.exit == 0) SKIP("the sweep was faster than the interrupt");
  CHECK(ended.exit == 130);
  CHECK_THAT(ended.output, ContainsSubstring("the same command goes on"));
  REQUIRE(workspace.sweep().exit == 0);
  CHECK(finished_rows(workspace) == total);
  CHECK(workspace.processes_left() == 0);
}

TEST_CASE("two sweeps on one database both end well") {
  Workspace workspace(6);
  const pid_t one = workspace.start(), other = workspace.start();
  CHECK(workspace.wait(one).exit == 0);
  CHECK(workspace.wait(other).exit == 0);
  CHECK(finished_rows(workspace) == 6);
}

TEST_CASE("bad input ends with one line and exit 2, an absent device with 4") {
  Workspace workspace(1);
  workspace.script("{\"speed\": 1}");
  const Ended bad = workspace.sweep();
  CHECK(bad.exit == 4);
  CHECK_THAT(bad.output, ContainsSubstring("unknown member"));
  CHECK(std::count(bad.output.begin(), bad.output.end(), '\n') == 1);
  CHECK(workspace.tool({"sweep", "--device", "tpu:0", "--db", workspace.database().string()}).exit == 2);
}
