#include <unistd.h>

#include <catch2/catch_test_macros.hpp>
#include <filesystem>
#include <fstream>
#include <string>

#include "tuner/hip/kfd.h"

namespace fs = std::filesystem;
using namespace headtune::hip;

namespace {

/// A sysfs tree with a CPU node and what the tests add.
class FakeSysfs {
 public:
  FakeSysfs() : root_(fs::temp_directory_path() / ("headtune-kfd-" + std::to_string(getpid()))) {
    fs::remove_all(root_);
    write(nodes() / "0/properties", "cpu_cores_count 64\nsimd_count 0\ngfx_target_version 0\n");
  }
  ~FakeSysfs() { fs::remove_all(root_); }

  void write(const fs::path& file, const std::string& text) {
    fs::create_directories(file.parent_path());
    std::ofstream(file) << text;
  }
  fs::path nodes() const { return root_ / "class/kfd/kfd/topology/nodes"; }
  const fs::path& root() const { return root_; }

 private:
  fs::path root_;
};

constexpr const char* mi300x =
    "simd_count 1216\nsimd_per_cu 4\nlds_size_in_kb 64\nwave_front_size 64\ngfx_target_version 90402\n"
    "capability 1008202880\nlocation_id 768\ndomain 0\nunique_id 18446744073709551615\n";

}  // namespace

TEST_CASE("gfx names come from the driver's version number") {
  CHECK(gfx_name(90010) == "gfx90a");
  CHECK(gfx_name(90402) == "gfx942");
  CHECK(gfx_name(90500) == "gfx950");
  CHECK(gfx_name(110001) == "gfx1101");
}

TEST_CASE("a target splits into base and features, whatever their order") {
  const Target target = split_target("gfx942:xnack-:sramecc+");
  CHECK(target.base == "gfx942");
  CHECK(target.features == std::vector<std::string>{"sramecc+", "xnack-"});
  CHECK(split_target("sm_90").base == "sm_90");
  CHECK(split_target("sm_90").features.empty());
}

TEST_CASE("the topology names a GPU by its PCI id") {
  FakeSysfs sysfs;
  sysfs.write(sysfs.nodes() / "1/properties", mi300x);
  sysfs.write(sysfs.nodes() / "1/caches/0/properties", "level 2\nsize 4096\n");
  sysfs.write(sysfs.nodes() / "1/caches/1/properties", "level 2\nsize 4096\n");
  sysfs.write(sysfs.nodes() / "1/caches/2/properties", "level 3\nsize 262144\n");
  const auto node = find_kfd_node(sysfs.root(), "0000:03:00.0");
  REQUIRE(node);
  CHECK(node->target == "gfx942:sramecc+");
  CHECK(node->cu_count == 304);
  CHECK(node->wave_size == 64);
  CHECK(node->lds_bytes == 65536);
  CHECK(node->l2_bytes == 2 * 4096 * 1024);
  CHECK(node->llc_bytes == 262144 * 1024);
}

TEST_CASE("nodes of other devices, domains and CPUs do not match") {
  FakeSysfs sysfs;
  sysfs.write(sysfs.nodes() / "1/properties", mi300x);
  CHECK_FALSE(find_kfd_node(sysfs.root(), "0000:04:00.0"));
  CHECK_FALSE(find_kfd_node(sysfs.root(), "0001:03:00.0"));
  CHECK_FALSE(find_kfd_node(sysfs.root(), "no id"));
  CHECK_FALSE(find_kfd_node(sysfs.root() / "absent", "0000:03:00.0"));
  CHECK(kfd_nodes(sysfs.root()).size() == 1);
}

TEST_CASE("a partition matches its GPU when its own function number is not listed") {
  FakeSysfs sysfs;
  sysfs.write(sysfs.nodes() / "1/properties", mi300x);
  CHECK(find_kfd_node(sysfs.root(), "0000:03:00.3"));
}
