// Every kernel header compiles alone under the run-time compilers, which have no system headers; those of another
// family refuse with a reason (tests/install/headers.sh does the same with g++, hipcc and nvcc).
#include <fmt/format.h>

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <filesystem>
#include <set>

#include "codegen/render.h"
#include "tuner/error.h"
#include "tuner/toolchain.h"

using namespace headtune;
using Catch::Matchers::ContainsSubstring;

namespace {

namespace fs = std::filesystem;

/// routing.h is for hosts with a standard library.
std::vector<std::string> headers() {
  std::vector<std::string> names;
  for (const auto& entry : fs::recursive_directory_iterator(templates_dir() / "headtune"))
    if (entry.path().extension() == ".h" && entry.path().filename() != "routing.h")
      names.push_back(fs::relative(entry.path(), templates_dir()).string());
  return names;
}

bool of_other_family(const std::string& header, bool nvidia) {
  static const std::set<std::string> amd = {"headtune/tile/cdna.h",
                                            "headtune/tile/cdna3.h",
                                            "headtune/tile/cdna4.h",
                                            "headtune/tile/lds_cdna.h",
                                            "headtune/tile/lds_values_cdna3.h",
                                            "headtune/tile/lds_values_cdna4.h",
                                            "headtune/tile/lds_direct_cdna4.h",
                                            "headtune/tile/copier_cdna.h"};
  static const std::set<std::string> cuda = {"headtune/tile/sm80.h",       "headtune/tile/wgmma.h",
                                             "headtune/tile/lds_nvidia.h", "headtune/tile/lds_sm80.h",
                                             "headtune/tile/lds_sm90a.h",  "headtune/verify_shared_kv/key_ring.h"};
  return (nvidia ? amd : cuda).contains(header);
}

bool available(Toolchain& toolchain, const std::string& arch) {
  try {
    return !toolchain.version(arch).empty();
  } catch (const UnavailableError&) {
    return false;
  }
}

}  // namespace

TEST_CASE("headers: each compiles alone at run time, or says why not") {
  const std::string arch = GENERATE("gfx950", "sm_90a");
  Toolchain toolchain{ToolchainOptions{}};
  if (!available(toolchain, arch)) SKIP("no compiler for " << arch << " on this machine");
  const std::vector<std::string> names = headers();
  REQUIRE(names.size() > 40);
  std::vector<CompileJob> jobs;
  for (const std::string& name : names)
    jobs.push_back({fmt::format("#include <{}>\n", name), arch, compile_options(arch, templates_dir())});
  toolchain.compile_all(jobs, [&](std::size_t i, const Binary& binary) {
    INFO(names[i] << " for " << arch << "\n" << binary.log);
    const bool refused = of_other_family(names[i], arch.starts_with("sm_"));
    CHECK((binary.status == CompileStatus::ok) == !refused);
    if (refused) CHECK_THAT(binary.log, ContainsSubstring("device code"));
  });
}
