#include "tuner/runner.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_floating_point.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <thread>

#include "tests/unit/fake_device.h"
#include "tuner/error.h"
#include "tuner/hip/fake_compile.h"
#include "tuner/runner_wire.h"

using namespace headtune;
using namespace headtune::test;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::WithinRel;

namespace {

const Problem problem{.head_dim = 64, .v_head_dim = 64, .num_q_heads = 2, .num_kv_heads = 1, .extend_len = 2};

VariantJob job(int block_n) {
  Config config;
  config.block_n = block_n;
  return {.op = "verify_shared_kv", .problem = problem, .config = config, .code = image(fake_source(problem, config))};
}

RunPlan plan() {
  RunPlan result;
  result.shapes = {{1, 256}};
  return result;
}

RunnerOptions options(const FakeDeviceFixture& fake, double timeout = 30) {
  RunnerOptions result;
  result.device = fake.device().spec;
  result.timeout_seconds = timeout;
  result.command = {HEADTUNE_RUNNER_HOST};
  return result;
}

/// Processes with `text` in their command line.
int processes_naming(const std::string& text) {
  int count = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    std::ifstream in(entry.path() / "cmdline");
    count += std::string(std::istreambuf_iterator<char>(in), {}).find(text) != std::string::npos;
  }
  return count;
}

template <class Condition>
bool eventually(Condition&& condition) {
  for (int i = 0; i < 100; ++i, std::this_thread::sleep_for(std::chrono::milliseconds(100)))
    if (condition()) return true;
  return false;
}

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace

TEST_CASE("a variant is verified and timed in the runner process") {
  FakeDeviceFixture fake(R"({"noise": 0.002, "variants": [{"match": {}, "time_us": 20}]})");
  Runner runner(options(fake));
  const RunOutcome outcome = runner.run(job(64), plan());
  INFO(outcome.reason);
  CHECK(outcome.status == RunStatus::ok);
  REQUIRE(outcome.timings.size() == 1);
  CHECK_THAT(outcome.timings[0].timing.median_us, WithinRel(20, 0.01));
  CHECK(runner.restarts() == 0);
}

TEST_CASE("isolated or not, outcomes are the same") {
  FakeDeviceFixture fake(R"({"noise": 0.002, "variants": [{"match": {}, "time_us": 20}]})");
  RunnerOptions here = options(fake);
  here.isolated = false;
  Runner isolated(options(fake)), local(here);
  RunOutcome a = isolated.run(job(64), plan()), b = local.run(job(64), plan());
  a.verify_seconds = b.verify_seconds = a.measure_seconds = b.measure_seconds = 0;
  CHECK(wire::to_json(a) == wire::to_json(b));
}

TEST_CASE("a launch that a table decided reaches the runner process whole") {
  VariantJob shipped = job(64);
  CHECK_FALSE(wire::job_from_json(wire::to_json(shipped)).plan);
  shipped.plan = Plan{{{"stage1", {2, 3, 4}, 256, 1024}, {"stage2", {5, 6, 7}, 128, 64, true}}, 9, 128, 10, 11, 12};
  const auto wired = wire::to_json(shipped);
  const VariantJob received = wire::job_from_json(wired);
  REQUIRE(received.plan);
  CHECK(wire::to_json(received) == wired);
  CHECK(received.plan->launches.at(1).dependent);
  CHECK(received.plan->launches.at(1).grid == std::array<unsigned, 3>{5, 6, 7});
  CHECK(received.plan->num_splits == 9);
  CHECK(received.plan->split_done_bytes == 12);
}

TEST_CASE("crash, abort, hang and fault become typed outcomes and the next variant runs") {
  FakeDeviceFixture fake(R"({"variants": [{"match": {"BLOCK_N": 16}, "fault": "segv"},
                                          {"match": {"BLOCK_N": 32}, "fault": "abort"},
                                          {"match": {"BLOCK_N": 48}, "fault": "hang"},
                                          {"match": {"BLOCK_N": 80}, "fault": "illegal_address"}]})");
  Runner runner(options(fake, 3));
  const auto start = std::chrono::steady_clock::now();
  const auto expect = [&](int block_n, RunStatus status, const std::string& text) {
    const RunOutcome outcome = runner.run(job(block_n), plan());
    CHECK(outcome.status == status);
    CHECK_THAT(outcome.reason, ContainsSubstring(text));
    CHECK(outcome.timings.empty());
    CHECK(runner.run(job(64), plan()).status == RunStatus::ok);
  };
  expect(16, RunStatus::crashed, "signal 11 (Segmentation fault) in step verify");
  expect(32, RunStatus::crashed, "signal 6 (Aborted) in step verify");
  expect(48, RunStatus::timed_out, "killed after 3 s in step verify");
  expect(80, RunStatus::device_fault, "illegal memory access");
  CHECK(runner.restarts() == 4);
  CHECK(seconds_since(start) < 60);
}

TEST_CASE("a variant that ended the process is quarantined") {
  FakeDeviceFixture fake(R"({"variants": [{"match": {"BLOCK_N": 16}, "fault": "segv"}]})");
  Runner runner(options(fake));
  runner.run(job(16), plan());
  const RunOutcome again = runner.run(job(16), plan());
  CHECK(again.status == RunStatus::crashed);
  CHECK_THAT(again.reason, ContainsSubstring("quarantined"));
  CHECK(runner.restarts() == 1);
}

TEST_CASE("the environment comes from the runner process") {
  FakeDeviceFixture fake(R"({"device": {"cu_count": 80}})");
  Runner runner(options(fake));
  CHECK(runner.environment("hiprtc 6.4").fingerprint() == read_environment(fake.device(), "hiprtc 6.4").fingerprint());
}

TEST_CASE("a device that cannot be opened is named, not a crash") {
  FakeDeviceFixture fake("{}");
  RunnerOptions wrong = options(fake);
  wrong.device = "fake:/nonexistent.json";
  Runner runner(wrong);
  CHECK_THROWS_WITH(runner.run(job(64), plan()), ContainsSubstring("/nonexistent.json: cannot be read"));
  wrong.device = "tpu:0";
  try {
    Runner(wrong).environment("");
    FAIL("opened a device that does not exist");
  } catch (const Failure& failure) {
    CHECK(failure.code() == Exit::usage);
  }
}

TEST_CASE("finalists race in the runner process; a crash there is everyone's") {
  FakeDeviceFixture fake(R"({"noise": 0.01, "variants": [{"match": {"BLOCK_N": 64}, "time_us": 20},
                                                           {"match": {"BLOCK_N": 16}, "fault": "segv"}]})");
  Runner runner(options(fake));
  const std::vector<VariantJob> good = {job(64), job(128)}, bad = {job(64), job(16)};
  const auto outcomes = runner.race(good, {1, 256}, {});
  REQUIRE(outcomes.size() == 2);
  CHECK(outcomes[0].timings.at(0).timing.outraced);
  for (const RunOutcome& outcome : runner.race(bad, {1, 256}, {})) CHECK(outcome.status == RunStatus::crashed);
}

TEST_CASE("a hung runner does not outlive its killed parent") {
  FakeDeviceFixture fake(R"({"variants": [{"match": {}, "fault": "hang"}]})");
  const pid_t parent = fork();
  if (parent == 0) {
    Runner(options(fake, 600)).run(job(64), plan());
    _exit(0);
  }
  REQUIRE(eventually([&] { return processes_naming(fake.device().spec) == 1; }));
  std::this_thread::sleep_for(std::chrono::milliseconds(200));  // into the hang
  kill(parent, SIGKILL);
  waitpid(parent, nullptr, 0);
  CHECK(eventually([&] { return processes_naming(fake.device().spec) == 0; }));
}

TEST_CASE("the scripted compiler follows the script") {
  const auto script = hip::parse_fake_script(
      R"({"variants": [{"match": {"BLOCK_N": 16}, "compile": "error"}, {"match": {"BLOCK_N": 32}, "compile": "crash"},
                       {"match": {"BLOCK_N": 48}, "compile": "hang"}, {"match": {}, "resources": {"vgpr": 96}}]})",
      "script");
  const auto compile = [&](int block_n) {
    Config config;
    config.block_n = block_n;
    return hip::fake_compile(script, {.source = fake_source(problem, config) + "k(const headtune::VerifyParams p)",
                                      .arch = "gfx942",
                                      .options = {}});
  };
  CHECK(compile(16).status == CompileStatus::error);
  CHECK(compile(32).status == CompileStatus::crashed);
  CHECK(compile(48).status == CompileStatus::timed_out);
  CHECK(compile(64).status == CompileStatus::ok);
  CHECK(compile(64).kernels.at("k").vgpr == 96);
}
