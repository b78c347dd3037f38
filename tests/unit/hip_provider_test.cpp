#include <unistd.h>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <filesystem>
#include <fstream>

#include "tuner/error.h"
#include "tuner/hip/provider.h"
#include "tuner/hip/rocm.h"

using namespace headtune;
using Catch::Matchers::ContainsSubstring;
namespace fs = std::filesystem;

TEST_CASE("every provider is available or says why not") {
  for (const hip::Provider& provider : hip::providers()) {
    INFO(provider.name);
    CHECK(provider.available() == provider.reason.empty());
    CHECK(provider.available() == !provider.version.empty());
  }
}

TEST_CASE("a ROCm root without the library is named") {
  const auto provider = hip::rocm_provider({.rocm = "/nonexistent/rocm"});
  CHECK_FALSE(provider.available());
  CHECK(provider.reason ==
        "no libamdhip64.so in /nonexistent/rocm; install ROCm 5.2 or newer, or give its root with --rocm");
}

TEST_CASE("a library that is there but broken is told from an absent one") {
  const fs::path root = fs::temp_directory_path() / ("headtune-broken-" + std::to_string(getpid()));
  fs::create_directories(root / "lib");
  std::ofstream(root / "lib/libamdhip64.so.6") << "not an ELF file";
  const auto provider = hip::rocm_provider({.rocm = root});
  fs::remove_all(root);
  CHECK_THAT(provider.reason, ContainsSubstring("does not load"));
  CHECK_THAT(provider.reason, ContainsSubstring("libamdhip64.so.6"));
}

TEST_CASE("the group to join is named when /dev/kfd is closed") {
  const std::string text = hip::kfd_permission_text("/dev/kfd", 0);
  CHECK(text ==
        "no permission on /dev/kfd: it belongs to group root; run `sudo usermod -aG root $USER` and log in again");
}

TEST_CASE("an absent kernel driver is told from one that is closed") {
  CHECK_THAT(hip::kfd_problem("/nonexistent"), ContainsSubstring("/nonexistent/kfd does not exist"));
}

TEST_CASE("libraries of a ROCm root are found by version, newest first") {
  const fs::path root = fs::temp_directory_path() / "headtune-rocm-root";
  fs::create_directories(root / "lib");
  for (const char* name : {"libamdhip64.so.5", "libamdhip64.so.6"}) std::ofstream(root / "lib" / name) << "";
  const auto found = hip::rocm_libraries(root);
  fs::remove_all(root);
  CHECK(found == std::vector<std::string>{root / "lib/libamdhip64.so.6", root / "lib/libamdhip64.so.5"});
}

TEST_CASE("malformed device names are refused") {
  for (const char* spec : {"", "tpu:0", "cuda", "0", "rocm"}) {
    INFO(spec);
    CHECK_THROWS_AS(hip::open_device(spec), Failure);
  }
  CHECK_THROWS_AS(hip::open_device("tpu:0"), UsageError);
  CHECK_THROWS_AS(hip::open_device("fake:/nonexistent.json"), UnavailableError);
}
