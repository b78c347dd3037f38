// The rocm provider with a stand-in for AMD's library, a fake kernel driver and a fake sysfs tree.
#include <dlfcn.h>
#include <unistd.h>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <filesystem>
#include <fstream>

#include "tests/unit/fake_device.h"
#include "tuner/environment.h"
#include "tuner/error.h"
#include "tuner/hip/rocm.h"

using namespace headtune;
using namespace headtune::test;
using Catch::Matchers::ContainsSubstring;
namespace fs = std::filesystem;

namespace {

/// A machine with one AMD GPU at the PCI id that the scripted device reports.
class Machine {
 public:
  Machine() : root_(fs::temp_directory_path() / ("headtune-rocm-" + std::to_string(getpid()))), fake_(script) {
    fs::remove_all(root_);
    fs::create_directories(root_ / "dev");
    fs::create_directories(node());
    std::ofstream(root_ / "dev/kfd") << "";
    std::ofstream(node() / "properties") << "gfx_target_version 90500\nlocation_id 0\ndomain 0\nsimd_count 1024\n"
                                            "simd_per_cu 4\nwave_front_size 64\nlds_size_in_kb 160\n";
    forward();
  }
  ~Machine() { fs::remove_all(root_); }

  hip::ProviderOptions options() const {
    return {.rocm = HEADTUNE_ROCM_DOUBLE, .sysfs = root_ / "sys", .dev = root_ / "dev"};
  }
  const fs::path& root() const { return root_; }

 private:
  static constexpr const char* script = R"({"device": {"name": "AMD Instinct MI355X", "cu_count": 256}})";

  fs::path node() const { return root_ / "sys/class/kfd/kfd/topology/nodes/1"; }

  void forward() const {
    const std::string file = std::string(HEADTUNE_ROCM_DOUBLE) + "/lib/libamdhip64.so.6";
    void* library = dlopen(file.c_str(), RTLD_NOW);
    REQUIRE(library != nullptr);
    reinterpret_cast<void (*)(const hip::Api*)>(dlsym(library, "rocm_double_forward_to"))(&fake_.api());
  }

  fs::path root_;
  FakeDeviceFixture fake_;
};

}  // namespace

TEST_CASE("rocm:0 opens, named by the kernel driver and not by the marketing name") {
  const Machine machine;
  const hip::Provider provider = hip::rocm_provider(machine.options());
  INFO(provider.reason);
  REQUIRE(provider.available());
  CHECK_THAT(provider.version, ContainsSubstring("libamdhip64.so.6"));
  const hip::Device device = hip::open_device("rocm:0", machine.options());
  CHECK(device.target == "gfx950");
  CHECK_FALSE(device.estimated);
  const Environment environment = read_environment(device, "hiprtc 6.4", machine.root());
  CHECK(environment.arch == "gfx950");
  CHECK(environment.cu_count == 256);
  CHECK(environment.device_name == "AMD Instinct MI355X");
  CHECK(environment.llc_bytes == 256LL << 20);
}

TEST_CASE("calls go through the library") {
  const Machine machine;
  const hip::Device device = hip::open_device("rocm:0", machine.options());
  const std::vector<int> values = {3, 1, 4, 1, 5};
  const auto buffer = hip::DeviceBuffer::of<int>(*device.api, values);
  std::vector<int> back(5);
  buffer.download(back.data(), buffer.bytes());
  CHECK(back == values);
}

TEST_CASE("a device beyond the last one is refused with the number present") {
  const Machine machine;
  CHECK_THROWS_WITH(hip::open_device("rocm:3", machine.options()), "device rocm:3: only 1 device present");
}

TEST_CASE("an unreadable topology is named") {
  const Machine machine;
  fs::remove_all(machine.root() / "sys");
  CHECK_THROWS_WITH(hip::open_device("rocm:0", machine.options()), ContainsSubstring("no KFD topology node"));
}

TEST_CASE("a library without the kernel driver is not available") {
  const Machine machine;
  fs::remove(machine.root() / "dev/kfd");
  const hip::Provider provider = hip::rocm_provider(machine.options());
  CHECK_FALSE(provider.available());
  CHECK_THAT(provider.reason, ContainsSubstring("dev/kfd does not exist"));
}
