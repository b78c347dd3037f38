#include "tuner/environment.h"

#include <unistd.h>

#include <catch2/catch_test_macros.hpp>

#include "tests/unit/fake_device.h"
#include "tuner/clock.h"

using namespace headtune;
using namespace headtune::test;

namespace {

std::string fingerprint_of(const std::string& script, const std::string& compiler = "hiprtc 6.4") {
  FakeDeviceFixture fake(script);
  return read_environment(fake.device(), compiler).fingerprint();
}

}  // namespace

TEST_CASE("features are split off the architecture") {
  FakeDeviceFixture fake(R"({"device": {"target": "gfx942:xnack-:sramecc+", "cu_count": 80}})");
  const Environment environment = read_environment(fake.device(), "hiprtc 6.4");
  CHECK(environment.arch == "gfx942");
  CHECK(environment.features == ":sramecc+:xnack-");
  CHECK(environment.cu_count == 80);
  CHECK(environment.wave_size == 64);
  CHECK(environment.lds_per_workgroup == 65536);
  CHECK(environment.device_name == "Fake MI300X");
}

TEST_CASE("one GPU under several marketing names has one fingerprint") {
  const std::string plain = fingerprint_of(R"({"device": {"name": "AMD Instinct MI300X"}})");
  CHECK(plain == fingerprint_of(R"({"device": {"name": "AMD Instinct MI300X VF"}})"));
  CHECK(plain == fingerprint_of(R"({"device": {"name": "AMD_Instinct_MI300X_OAM"}})"));
}

TEST_CASE("counts, driver, runtime and compiler change the fingerprint") {
  const std::string plain = fingerprint_of("{}");
  CHECK(plain != fingerprint_of(R"({"device": {"cu_count": 80}})"));
  CHECK(plain != fingerprint_of(R"({"device": {"target": "gfx942"}})"));
  CHECK(plain != fingerprint_of(R"({"device": {"driver": "fake 2"}})"));
  CHECK(plain != fingerprint_of(R"({"device": {"runtime": "fake 2"}})"));
  CHECK(plain != fingerprint_of("{}", "hiprtc 7.0"));
}

TEST_CASE("the active entry of AMD's clock table is read") {
  CHECK(active_clock("0: 132Mhz \n1: 2104Mhz *\n") == 2104);
  CHECK(active_clock("0: 132Mhz \n") == 0);
  CHECK(active_clock("") == 0);
}
