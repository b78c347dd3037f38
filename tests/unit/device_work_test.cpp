#include "tuner/device_work.h"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_floating_point.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include "tests/unit/fake_device.h"

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

RunPlan plan(std::vector<TimedShape> shapes) {
  RunPlan result;
  result.shapes = std::move(shapes);
  return result;
}

class Work : public DeviceWork {
 public:
  explicit Work(const FakeDeviceFixture& fake) : DeviceWork(fake.device(), 1 << 16) {}
};

}  // namespace

TEST_CASE("a right variant is verified and timed at every shape") {
  FakeDeviceFixture fake(R"({"noise": 0.002, "variants": [{"match": {}, "times": {"1x256": 20, "4x256": 50}}]})");
  Work work(fake);
  std::vector<std::string> steps;
  const RunOutcome outcome =
      work.run(job(64), plan({{1, 256}, {4, 256}}), [&](const std::string& step) { steps.push_back(step); });
  INFO(outcome.reason);
  CHECK(outcome.status == RunStatus::ok);
  CHECK(outcome.verification.cases > 1);
  REQUIRE(outcome.timings.size() == 2);
  CHECK_THAT(outcome.timings[0].timing.median_us, WithinRel(20, 0.01));
  CHECK_THAT(outcome.timings[1].timing.median_us, WithinRel(50, 0.01));
  CHECK(steps == std::vector<std::string>{"verify", "measure 1x256", "measure 4x256"});
}

TEST_CASE("wrong variants are never timed") {
  for (const char* output : {"nan", "wrong_last_split", "unwritten", "out_of_bounds"}) {
    FakeDeviceFixture fake(R"({"variants": [{"match": {}, "output": ")" + std::string(output) + R"("}]})");
    Work work(fake);
    const RunOutcome outcome = work.run(job(64), plan({{1, 256}}));
    INFO(output << ": " << outcome.reason);
    CHECK(outcome.status == RunStatus::verify_failed);
    CHECK_FALSE(outcome.reason.empty());
    CHECK(outcome.timings.empty());
  }
}

TEST_CASE("a device fault and a refused image are told apart") {
  FakeDeviceFixture fake(R"({"variants": [{"match": {"BLOCK_N": 64}, "fault": "illegal_address"}]})");
  Work work(fake);
  VariantJob refused = job(128);
  refused.code.resize(4);
  CHECK(work.run(refused, plan({})).status == RunStatus::unavailable);
  const RunOutcome outcome = work.run(job(64), plan({}));
  CHECK(outcome.status == RunStatus::device_fault);
  CHECK_THAT(outcome.reason, ContainsSubstring("illegal memory access"));
}

TEST_CASE("shapes that do not fit the device's memory are unavailable") {
  FakeDeviceFixture fake(R"({"device": {"memory_bytes": 33554432}})");
  Work work(fake);
  const RunOutcome outcome = work.run(job(64), plan({{32, 32768}}));
  CHECK(outcome.status == RunStatus::unavailable);
  CHECK_THAT(outcome.reason, ContainsSubstring("hipMalloc"));
}

TEST_CASE("timing a long context computes nothing") {
  FakeDeviceFixture fake("{}");
  Work work(fake);
  RunPlan timing = plan({{32, 8192}});  // computing this once would take minutes
  timing.verify = false;
  CHECK(work.run(job(64), timing).status == RunStatus::ok);
}

TEST_CASE("finalists race each other") {
  FakeDeviceFixture fake(R"({"noise": 0.01, "variants": [{"match": {"BLOCK_N": 64}, "time_us": 24},
                                                           {"match": {"BLOCK_N": 128}, "time_us": 20}]})");
  Work work(fake);
  const std::vector<VariantJob> jobs = {job(64), job(128)};
  const auto outcomes = work.race(jobs, {1, 256}, {});
  REQUIRE(outcomes.size() == 2);
  CHECK(outcomes[0].timings[0].timing.outraced);
  CHECK_THAT(outcomes[1].timings[0].timing.median_us, WithinRel(20, 0.01));
}

TEST_CASE("status names read back") {
  for (int i = 0; i <= static_cast<int>(RunStatus::timed_out); ++i)
    CHECK(parse_run_status(name(static_cast<RunStatus>(i))) == static_cast<RunStatus>(i));
  CHECK_THROWS_AS(parse_run_status("fine"), std::invalid_argument);
}
