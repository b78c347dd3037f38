#include "tuner/measure.h"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_floating_point.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <deque>

#include "headtune/verify_shared_kv/params.h"
#include "tests/unit/fake_device.h"

using namespace headtune;
using namespace headtune::test;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::WithinRel;

namespace {

/// Variants of a scripted device, told apart by the constant ID.
class Variants {
 public:
  explicit Variants(const std::string& script) : fake_(script) {}

  Enqueue operator[](int id) {
    const auto& module = modules_.emplace_back(
        hip::load_module(fake_.api(), image("static constexpr int ID = " + std::to_string(id) + ";")));
    const auto function = hip::get_function(fake_.api(), module, "verify_shared_kv_stage1");
    return [this, function](hip::Stream stream, int pool) {
      pools_used_ = std::max(pools_used_, pool + 1);
      hip::launch(fake_.api(), function, 1, 1, 1, 64, 0, stream, VerifyParams{});
    };
  }
  std::vector<Timing> race(const std::vector<int>& ids, const MeasureOptions& options = {}) {
    std::vector<Enqueue> launches;
    for (int id : ids) launches.push_back((*this)[id]);
    return headtune::race(fake_.device(), launches, options);
  }
  const hip::Device& device() const { return fake_.device(); }
  int pools_used() const { return pools_used_; }

 private:
  FakeDeviceFixture fake_;
  std::deque<hip::Owned<hip::Module>> modules_;
  int pools_used_ = 0;
};

constexpr const char* three =
    R"("variants": [{"match": {"ID": 0}, "time_us": 20}, {"match": {"ID": 1}, "time_us": 20.6},
                                             {"match": {"ID": 2}, "time_us": 24}]})";

}  // namespace

TEST_CASE("enough pools are taken to pass twice the cache") {
  CHECK(pool_count(60 << 20, 60 << 20) == 3);
  CHECK(pool_count(1 << 20, 60 << 20) == 121);
  CHECK(pool_count(1LL << 30, 60 << 20) == 1);
}

TEST_CASE("a kernel of known duration is timed right") {
  Variants variants(std::string(R"({"noise": 0.01, "gap_us": 4, )") + three);
  MeasureOptions options;
  options.pools = 7;
  const Timing timing = measure(variants.device(), variants[0], options);
  CHECK_THAT(timing.median_us, WithinRel(20, 0.01));
  CHECK(timing.interval.low <= timing.median_us);
  CHECK(timing.interval.high >= timing.median_us);
  CHECK(timing.converged);
  CHECK(timing.trusted());
  CHECK(variants.pools_used() == 7);
  CHECK_THAT(timing.method, ContainsSubstring("7 pools"));
  CHECK(timing.flags().empty());
}

TEST_CASE("noisy gaps between launches do not let a slower kernel win") {
  Variants variants(R"({"gap_us": 30, "gap_noise": 0.8, "noise": 0.01, "variants": [
      {"match": {"ID": 0}, "time_us": 20}, {"match": {"ID": 2}, "time_us": 24}]})");
  const auto timings = variants.race({0, 2});
  CHECK(timings[0].median_us < timings[1].median_us);
}

TEST_CASE("a clock ramp does not reorder candidates, in either order") {
  const std::string ramp =
      std::string(R"({"clock": {"from": 0.6, "to": 1.0, "submissions": 40}, "noise": 0.002, )") + three;
  Variants forward(ramp), backward(ramp);
  const auto ab = forward.race({0, 1}), ba = backward.race({1, 0});
  CHECK(ab[0].median_us < ab[1].median_us);
  CHECK(ba[1].median_us < ba[0].median_us);
  CHECK_THAT(ab[0].median_us, WithinRel(20, 0.01));
  CHECK(ab[0].trusted());
}

TEST_CASE("a clock that never recovers is not trusted") {
  Variants variants(std::string(R"({"clock": {"from": 1.0, "to": 0.1, "submissions": 400}, )") + three);
  MeasureOptions options;
  options.preheat.limit = 40;
  const Timing timing = measure(variants.device(), variants[0], options);
  CHECK_FALSE(timing.trusted());
  CHECK_THAT(timing.flags(), ContainsSubstring("drift"));
}

TEST_CASE("losers are dropped early and say so") {
  Variants variants(std::string(R"({"noise": 0.02, )") + three);
  const auto timings = variants.race({0, 1, 2});
  CHECK(timings[2].outraced);
  CHECK_FALSE(timings[0].outraced);
  CHECK(timings[2].samples_us.size() < timings[0].samples_us.size());
}

TEST_CASE("overhead beyond 5 % of a sample is flagged") {
  Variants variants(std::string(R"({"gap_us": 200, )") + three);
  MeasureOptions options;
  options.sample_us = 1000;
  const Timing timing = measure(variants.device(), variants[0], options);
  CHECK(timing.overhead_share > 0.1);
  CHECK_THAT(timing.flags(), ContainsSubstring("launch_overhead"));
}

TEST_CASE("a budget in GPU time ends sampling and is admitted") {
  Variants variants(std::string(R"({"noise": 0.3, )") + three);
  MeasureOptions options;
  options.stop.budget_us = 20'000;
  const Timing timing = measure(variants.device(), variants[0], options);
  CHECK_FALSE(timing.converged);
  CHECK_THAT(timing.flags(), ContainsSubstring("wide"));
}

TEST_CASE("a fault while measuring names the call") {
  Variants variants(R"({"variants": [{"match": {}, "fault": "illegal_address"}]})");
  CHECK_THROWS_AS(measure(variants.device(), variants[0], {}), hip::DeviceError);
}
