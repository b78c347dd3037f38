// The results database: what it refuses to open, what its triggers forbid, what survives.
#include "tuner/store.h"

#include <SQLiteCpp/SQLiteCpp.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <fstream>

#include "tuner/error.h"
#include "tuner/store_schema.h"

namespace headtune {
namespace {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;

/// A folder that lives as long as the test case.
struct Folder {
  std::filesystem::path path;
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "headtune-store-XXXXXX").string();
    path = ::mkdtemp(name.data());
  }
  ~Folder() { std::filesystem::remove_all(path); }
  std::filesystem::path db() const { return path / "results.db"; }
};

const StoredEnvironment measured{"rocm", "gfx950", "", 256, 64, 163840, "d", "r", "hiprtc 6.4", false, "MI355X"};
const StoredEnvironment estimated{"sim", "gfx950", "", 256, 64, 163840, "d", "r", "hiprtc 6.4", true, "simulated"};
const StoredProblem draft{"verify_shared_kv", Problem{64, 64, 16, 4, 8, false}};

StoredVariant variant(Store& store, const StoredEnvironment& environment, int block_h, Status status) {
  StoredVariant v;
  v.environment = store.add(environment);
  v.problem = store.add(draft);
  v.config.block_h = block_h;
  v.defines = fmt::format("BLOCK_H={}", block_h);
  v.template_hash = std::string(64, 'a');
  v.status = status;
  if (status >= Status::verified) v.verify_error = 1e-3, v.verify_tolerance = 5e-3;
  return v;
}

StoredTiming timing(double us, bool is_estimated = false) {
  return {
      8192, 1, "graph of 20", us, us * 0.99, us * 1.01, 1 << 20, 2400, "", is_estimated, {us * 0.99, us, us * 1.01}};
}

std::int64_t timed(Store& store, const StoredEnvironment& environment, int block_h, double us) {
  const auto id = store.put(variant(store, environment, block_h, Status::verified));
  store.put_timing(id, timing(us, environment.estimated));
  store.set_status(id, Status::timed, "");
  return id;
}

/// What a careless or dishonest script could try; returns SQLite's refusal, or "" when it was let through.
std::string direct_sql(const Folder& folder, const std::string& sql) {
  SQLite::Database database(folder.db().string(), SQLite::OPEN_READWRITE);
  try {
    database.exec(sql);
    return "";
  } catch (const SQLite::Exception& error) {
    return error.what();
  }
}

std::string promote(std::int64_t id) { return fmt::format("INSERT INTO winner VALUES ({}, 8192, 32768, 'sql')", id); }

int count(const Folder& folder, const std::string& table) {
  SQLite::Database database(folder.db().string(), SQLite::OPEN_READONLY);
  return database.execAndGet("SELECT count(*) FROM " + table).getInt();
}

TEST_CASE("what is written is read back") {
  const Folder folder;
  StoredVariant v;
  {
    Store store(folder.db(), Access::create);
    v = variant(store, measured, 4, Status::verified);
    v.resources["verify_shared_kv_stage1"] = {184, 48, 60, 1024, 0, 0, 0, 2, 256};
    v.compile_seconds = 0.75;
    v.id = store.put(v);
    store.put_timing(v.id, timing(20));
    store.set_status(v.id, Status::timed, "");
    store.put_winners(v.environment, {v.problem}, {{v.id, 8192, 8192, "best"}});
  }
  const Store store(folder.db(), Access::read_only);
  const auto found = store.find(v);
  REQUIRE(found);
  CHECK(found->status == Status::timed);
  CHECK(found->config == v.config);
  CHECK(found->registers() == 232);
  CHECK(found->resources.at("verify_shared_kv_stage1").waves_per_simd == 2);
  CHECK(found->verify_error == 1e-3);
  CHECK(store.environments().at(v.environment) == measured);
  CHECK(store.problems().at(v.problem).problem.num_q_heads == 16);
  REQUIRE(store.timings(v.id).size() == 1);
  CHECK(store.timings(v.id)[0].samples_us.size() == 3);
  CHECK(store.winners(v.environment, v.problem).size() == 1);
}

TEST_CASE("the marketing name is no key; everything else of the environment is") {
  const Folder folder;
  Store store(folder.db(), Access::create);
  const auto id = store.add(measured);
  StoredEnvironment renamed = measured;
  renamed.device_name = "AMD Instinct MI355X VF";
  CHECK(store.add(renamed) == id);
  StoredEnvironment newer = measured;
  newer.compiler = "hiprtc 7.0";
  CHECK(store.add(newer) != id);
}

TEST_CASE("every define is part of the key") {
  const Folder folder;
  Store store(folder.db(), Access::create);
  StoredVariant v = variant(store, measured, 4, Status::compiled);
  const auto id = store.put(v);
  v.defines += " INDEX_BITS=64";
  CHECK(store.put(v) != id);
  v.template_hash = std::string(64, 'b');
  store.put(v);
  CHECK(count(folder, "variant") == 3);
  store.put(v);
  CHECK(count(folder, "variant") == 3);
}

TEST_CASE("SQL cannot promote what was not verified and timed") {
  const Folder folder;
  Store store(folder.db(), Access::create);
  for (const Status status : {Status::compile_error, Status::compiled, Status::verify_failed, Status::crashed,
                              Status::timed_out, Status::device_fault, Status::verified}) {
    const auto id = store.put(variant(store, measured, static_cast<int>(status) + 1, status));
    CHECK_THAT(direct_sql(folder, promote(id)), ContainsSubstring("only a verified and timed variant may win"));
    const bool verified = status == Status::verified;
    CHECK_THAT(
        direct_sql(folder, fmt::format("INSERT INTO timing VALUES (NULL, {}, 8192, 1, 'm', 1, 1, 1, 9, 1, 0, '', "
                                       "{}, '[]', '{{}}')",
                                       id, int{verified})),
        ContainsSubstring(verified ? "do not mix" : "only verified variants may be timed"));
    if (verified) continue;
    CHECK(direct_sql(folder, fmt::format("UPDATE variant SET status = 'timed' WHERE id = {}", id)) != "");
    CHECK(direct_sql(folder, fmt::format("UPDATE variant SET status = 'timed', verify_error = 0, verify_tolerance = 1 "
                                         "WHERE id = {}",
                                         id)) == (status == Status::compiled ? ""
                                                                             : "a failed variant must be run "
                                                                               "again, not promoted"));
  }
  CHECK(count(folder, "winner") == 0);
}

TEST_CASE("a wrong result cannot be stored as verified, nor a nonsensical time at all") {
  const Folder folder;
  Store store(folder.db(), Access::create);
  StoredVariant v = variant(store, measured, 4, Status::verified);
  v.verify_error = 6e-3;
  CHECK_THROWS_AS(store.put(v), UsageError);
  v.verify_error = std::numeric_limits<double>::quiet_NaN();
  CHECK_THROWS_AS(store.put(v), UsageError);
  v.verify_error.reset();
  CHECK_THROWS_AS(store.put(v), UsageError);
  const auto id = store.put(variant(store, measured, 4, Status::verified));
  for (const double us : {0.0, -1.0, std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()})
    CHECK_THROWS_AS(store.put_timing(id, timing(us)), UsageError);
}

TEST_CASE("an estimate cannot win beside measured times, and loses its crown when they come") {
  const Folder folder;
  Store store(folder.db(), Access::create);
  const auto guess = timed(store, estimated, 2, 10);
  const auto problem = store.add(draft);
  store.put_winners(store.add(estimated), {problem}, {{guess, 8192, 8192, "best"}});
  CHECK(count(folder, "winner") == 1);
  const auto real = timed(store, measured, 4, 20);
  CHECK(count(folder, "winner") == 0);
  CHECK_THAT(direct_sql(folder, promote(guess)), ContainsSubstring("an estimate cannot win beside measured times"));
  store.put_winners(store.add(measured), {problem}, {{real, 8192, 8192, "best"}});
  CHECK(count(folder, "winner") == 1);
  CHECK_THAT(direct_sql(folder, fmt::format("UPDATE winner SET variant_id = {}", guess)),
             ContainsSubstring("replaced, not changed"));
  CHECK_THAT(direct_sql(folder, "UPDATE environment SET estimated = 0"), ContainsSubstring("does not change"));
}

TEST_CASE("a time that still moved cannot win, by whatever way it comes") {
  const Folder folder;
  Store store(folder.db(), Access::create);
  const auto problem = store.add(draft);
  const auto id = timed(store, measured, 4, 20);
  for (const char* flags : {"unsettled", "drift", "unsettled drift wide", "wide drift throttled"}) {
    StoredTiming moving = timing(20);
    moving.flags = flags;
    CHECK_FALSE(trusted(moving));
    store.put_winners(store.add(measured), {problem}, {{id, 8192, 8192, "best"}});
    store.put_timing(id, moving);
    CHECK(count(folder, "winner") == 0);
    CHECK_THAT(direct_sql(folder, promote(id)), ContainsSubstring("still moving cannot win"));
    CHECK_THROWS_AS(store.put_winners(store.add(measured), {problem}, {{id, 8192, 8192, "best"}}), UsageError);
    store.put_timing(id, timing(20));
  }
  StoredTiming wide = timing(20);
  wide.flags = "wide launch_overhead throttled";
  CHECK(trusted(wide));
  store.put_timing(id, wide);
  store.put_winners(store.add(measured), {problem}, {{id, 8192, 8192, "best"}});
  CHECK(count(folder, "winner") == 1);
}

TEST_CASE("what a space holds is replaced by the next sweep, and reasons are counts") {
  const Folder folder;
  Store store(folder.db(), Access::create);
  const auto e = store.add(measured), p = store.add(draft);
  CHECK_FALSE(store.space(e, p));
  Config example;
  example.block_n = 512;
  store.put_space(e, p, {80, "exhaustive", {{"too wide", 6000, example}, {"too deep", 7, {}}}});
  store.put_space(e, p, {60, "guided, seed 1", {{"too deep", 9, {}}, {"too wide", 5000, example}}});
  const auto space = store.space(e, p);
  REQUIRE(space);
  CHECK(space->legal == 60);
  CHECK(space->search == "guided, seed 1");
  CHECK(space->pruned_count() == 5009);
  REQUIRE(space->pruned.size() == 2);
  CHECK(space->pruned[0].reason == "too wide");
  CHECK(space->pruned[0].example == example);
}

TEST_CASE("times through the table are replaced, and end with the times that they were compared with") {
  const Folder folder;
  Store store(folder.db(), Access::create);
  const auto id = timed(store, measured, 4, 20);
  store.put_retiming(id, {8192, 1, 20, 19.9, 20.1, 22, 21.9, 22.1});
  store.put_retiming(id, {8192, 1, 20, 19.9, 20.1, 21, 20.9, 21.1});
  REQUIRE(store.retimings(id).size() == 1);
  CHECK(store.retimings(id)[0].table_us == 21);
  CHECK(store.retimings(id)[0].swept_high_us == 20.1);
  store.put_timing(id, timing(19));
  CHECK(store.retimings(id).empty());
}

TEST_CASE("a variant and its times are one commit, and a refused time leaves no variant") {
  const Folder folder;
  Store store(folder.db(), Access::create);
  StoredTiming other = timing(30);
  other.batch = 8;
  const auto id = store.put(variant(store, measured, 4, Status::verified), {timing(20), other});
  CHECK(store.timings(id).size() == 2);
  CHECK_THROWS_AS(store.put(variant(store, measured, 8, Status::verified), {timing(20), timing(-1)}), UsageError);
  CHECK(count(folder, "variant") == 1);
  CHECK(count(folder, "timing") == 2);
}

TEST_CASE("a winner that fails later is no winner any more") {
  const Folder folder;
  Store store(folder.db(), Access::create);
  const auto id = timed(store, measured, 4, 20);
  const auto problem = store.add(draft);
  store.put_winners(store.add(measured), {problem}, {{id, 8192, 8192, "best"}});
  store.set_status(id, Status::device_fault, "illegal address");
  CHECK(count(folder, "winner") == 0);
}

TEST_CASE("a run again replaces result, times and crown") {
  const Folder folder;
  Store store(folder.db(), Access::create);
  const auto id = timed(store, measured, 4, 20);
  const auto problem = store.add(draft);
  store.put_winners(store.add(measured), {problem}, {{id, 8192, 8192, "best"}});
  store.put(variant(store, measured, 4, Status::verify_failed));
  CHECK(count(folder, "variant") == 1);
  CHECK(count(folder, "timing") == 0);
  CHECK(count(folder, "winner") == 0);
}

TEST_CASE("a database of a newer schema is refused and left as it is") {
  const Folder folder;
  { Store store(folder.db(), Access::create); }
  REQUIRE(direct_sql(folder, "PRAGMA user_version = 99").empty());
  CHECK_THROWS_MATCHES(
      Store(folder.db(), Access::create), UsageError,
      MessageMatches(ContainsSubstring(fmt::format("schema 99 is newer than this headtune's {}", schema_version))));
}

TEST_CASE("a database of an older schema is refused with one line") {
  const Folder folder;
  { Store store(folder.db(), Access::create); }
  REQUIRE(direct_sql(folder, "PRAGMA user_version = 1").empty());
  for (const Access access : {Access::create, Access::read_only})
    CHECK_THROWS_MATCHES(Store(folder.db(), access), UsageError,
                         MessageMatches(ContainsSubstring(
                             fmt::format("schema 1 is older than this headtune's {}; sweep into a", schema_version))));
}

TEST_CASE("what is not a headtune database is refused and left as it is") {
  const Folder folder;
  std::ofstream(folder.db()) << "this is a letter to my aunt, long enough to be no SQLite header at all, really.\n"
                             << std::string(4096, 'x');
  CHECK_THROWS_MATCHES(Store(folder.db(), Access::create), UsageError,
                       MessageMatches(ContainsSubstring("damaged or not a database")));
  std::filesystem::remove(folder.db());
  REQUIRE((SQLite::Database(folder.db().string(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE)
               .exec("CREATE TABLE aunt (name TEXT)"),
           true));
  CHECK_THROWS_MATCHES(Store(folder.db(), Access::create), UsageError,
                       MessageMatches(ContainsSubstring("another program")));
}

TEST_CASE("a damaged database is refused") {
  const Folder folder;
  {
    Store store(folder.db(), Access::create);
    for (int i = 1; i <= 200; ++i) store.put(variant(store, measured, i, Status::compiled));
  }
  const auto size = std::filesystem::file_size(folder.db());
  std::fstream file(folder.db(), std::ios::binary | std::ios::in | std::ios::out);
  file.seekp(static_cast<std::streamoff>(size / 2));
  file << std::string(size / 3, '\xa5');
  file.close();
  CHECK_THROWS_MATCHES(Store(folder.db(), Access::create), UsageError, MessageMatches(ContainsSubstring("damaged")));
}

TEST_CASE(
    "a database whose writer was killed before its journal went away is named to readers and recovered by a sweep") {
  const Folder folder;
  const std::filesystem::path killed = folder.path / "killed.db";
  { const Store store(folder.db(), Access::create); }
  {
    SQLite::Database writer(folder.db().string(), SQLite::OPEN_READWRITE);
    writer.exec("PRAGMA journal_mode = DELETE; PRAGMA cache_size = 1; BEGIN IMMEDIATE; CREATE TABLE half(x)");
    for (int i = 0; i < 500; ++i)
      writer.exec("INSERT INTO half VALUES (randomblob(500))");  // more than the cache holds
    for (const char* suffix : {"", "-journal"})
      std::filesystem::copy_file(folder.db().string() + suffix, killed.string() + suffix);
  }
  CHECK_THROWS_MATCHES(Store(killed, Access::read_only), UsageError,
                       MessageMatches(ContainsSubstring("a sweep was killed while it wrote; run `headtune sweep")));
  { const Store recovered(killed, Access::create); }
  CHECK(!SQLite::Database(killed.string()).tableExists("half"));
  CHECK_NOTHROW(Store(killed, Access::read_only));
}

TEST_CASE("a missing database or folder is named") {
  const Folder folder;
  CHECK_THROWS_MATCHES(Store(folder.db(), Access::read_only), UsageError,
                       MessageMatches(ContainsSubstring("no database")));
  CHECK_THROWS_MATCHES(Store(folder.path / "nowhere" / "x.db", Access::create), UsageError,
                       MessageMatches(ContainsSubstring("no such directory")));
}

TEST_CASE("a full disk ends with one line and keeps what was committed") {
  const Folder folder;
  Store store(folder.db(), Access::create);
  store.put(variant(store, measured, 1, Status::compiled));
  {
    // SQLite's own page limit gives SQLITE_FULL exactly as a full disk does.
    SQLite::Database probe(folder.db().string(), SQLite::OPEN_READONLY);
    CHECK(probe.execAndGet("PRAGMA page_count").getInt() > 0);
  }
  store.limit_pages(24);
  std::string message;
  for (int i = 2; i < 2000 && message.empty(); ++i) try {
      StoredVariant v = variant(store, measured, i, Status::compiled);
      v.reason = std::string(3000, 'r');
      store.put(v);
    } catch (const UsageError& error) {
      message = error.what();
    }
  CHECK_THAT(message, ContainsSubstring("disk full"));
  CHECK(count(folder, "variant") >= 1);
  CHECK(direct_sql(folder, "PRAGMA integrity_check").empty());
}

TEST_CASE("a second sweep on the same database waits for the first") {
  const Folder folder;
  int ready[2];
  REQUIRE(::pipe(ready) == 0);
  const pid_t child = ::fork();
  if (child == 0) {
    const SweepLock lock(folder.db(), [] {});
    [[maybe_unused]] auto written = ::write(ready[1], "x", 1);
    ::usleep(200000);
    ::_exit(0);
  }
  char byte = 0;
  REQUIRE(::read(ready[0], &byte, 1) == 1);
  bool waited = false;
  const SweepLock lock(folder.db(), [&] { waited = true; });
  CHECK(waited);
  ::waitpid(child, nullptr, 0);
}

TEST_CASE("two writers share a database without losing rows") {
  const Folder folder;
  { Store store(folder.db(), Access::create); }
  const auto write = [&](int first) {
    Store store(folder.db(), Access::create);
    for (int i = 0; i < 100; ++i) store.put(variant(store, measured, first + i, Status::compiled));
  };
  const pid_t child = ::fork();
  if (child == 0) {
    try {
      write(1000);
    } catch (...) {
      ::_exit(1);
    }
    ::_exit(0);
  }
  write(1);
  int status = 0;
  ::waitpid(child, &status, 0);
  CHECK(status == 0);
  CHECK(count(folder, "variant") == 200);
}

TEST_CASE("kill -9 in the middle of writing leaves a whole database with everything committed") {
  const Folder folder;
  { Store store(folder.db(), Access::create); }
  int progress[2];
  REQUIRE(::pipe(progress) == 0);
  const pid_t child = ::fork();
  if (child == 0) {
    Store store(folder.db(), Access::create);
    for (int i = 1;; ++i) {
      store.put(variant(store, measured, i, Status::compiled));
      [[maybe_unused]] auto written = ::write(progress[1], "x", 1);
    }
  }
  char byte = 0;
  int committed = 0;
  while (committed < 50 && ::read(progress[0], &byte, 1) == 1) ++committed;
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  CHECK(count(folder, "variant") >= committed);
  CHECK_NOTHROW(Store(folder.db(), Access::create));
}

}  // namespace
}  // namespace headtune
