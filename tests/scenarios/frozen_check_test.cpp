// `freeze` and `check --frozen` as a user or a CI job meets them: exit codes, reports, and one clear line each.
#include <stdlib.h>

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <filesystem>

#include "tests/scenarios/workspace.h"
#include "tuner/table_file.h"

using namespace headtune;
using namespace headtune::test;
using Catch::Matchers::ContainsSubstring;

namespace {

struct Frozen {
  Workspace workspace{1};
  std::string file = (workspace.root() / "frozen.json").string();

  Frozen() {
    const Ended ended =
        workspace.tool({"freeze", "--arch", "gfx950", "--head-dim", "64", "--contexts", "8k", "-o", file});
    if (ended.exit == 4) SKIP("no hipRTC on this machine: " << ended.output);
    INFO(ended.output);
    REQUIRE(ended.exit == 0);
  }

  Ended check(std::vector<std::string> more = {}) const {
    std::vector<std::string> arguments = {"check", "--frozen", file, "--templates", workspace.templates().string()};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return workspace.tool(arguments);
  }

  void edit(const std::filesystem::path& name, const std::string& from, const std::string& to) const {
    std::string text = read_file(name);
    const auto at = text.find(from);
    REQUIRE(at != std::string::npos);
    write_file(name, text.replace(at, from.size(), to));
  }
};

}  // namespace

TEST_CASE("check --frozen: unchanged code passes and leaves reports") {
  const Frozen frozen;
  const std::string junit = (frozen.workspace.root() / "r.xml").string();
  const std::string markdown = (frozen.workspace.root() / "r.md").string();
  const Ended ended = frozen.check({"--junit", junit, "--markdown", markdown});
  INFO(ended.output);
  CHECK(ended.exit == 0);
  CHECK_THAT(ended.output, ContainsSubstring("pass: 2 same, 0 changed"));
  CHECK_THAT(read_file(junit), ContainsSubstring("tests=\"2\" failures=\"0\" errors=\"0\""));
  CHECK_THAT(read_file(markdown), ContainsSubstring("pass: 2 same"));
}

TEST_CASE("check --frozen: changed code is exit 1 and shows instructions, in every report") {
  const Frozen frozen;
  frozen.edit(frozen.workspace.templates() / "headtune/verify_shared_kv/key_rows.h",
              "keys += kv_head * p.k_cache_stride_head * bytes;",
              "keys += kv_head * p.k_cache_stride_head * bytes + p.batch % 3;");
  const std::string junit = (frozen.workspace.root() / "r.xml").string();
  const std::string markdown = (frozen.workspace.root() / "r.md").string();
  const Ended ended = frozen.check({"--junit", junit, "--markdown", markdown});
  CHECK(ended.exit == 1);
  for (const std::string& text : {ended.output, read_file(junit), read_file(markdown)})
    CHECK_THAT(text, ContainsSubstring("@@ line ") && ContainsSubstring("s_mul_hi_"));
  CHECK_THAT(read_file(junit), ContainsSubstring("<failure") && ContainsSubstring("-&gt;"));
  CHECK_THAT(read_file(junit), ContainsSubstring("\n@@ line ") && ContainsSubstring("\n+"));
  CHECK(frozen.check({"--format", "json"}).exit == 1);
}

TEST_CASE("check --frozen: a compiler without a record is exit 3, and said") {
  const Frozen frozen;
  frozen.edit(frozen.file, "\"compiler\": \"", "\"compiler\": \"other ");
  const Ended ended = frozen.check();
  CHECK(ended.exit == 3);
  CHECK_THAT(ended.output, ContainsSubstring("no-verdict: gfx950: no record of hiprtc"));
  CHECK_THAT(ended.output, ContainsSubstring("recorded: other hiprtc"));
}

TEST_CASE("check --frozen: bad input is exit 2 and one line") {
  const Workspace workspace(1);
  const auto refused = [&](const std::vector<std::string>& arguments, const std::string& why) {
    const Ended ended = workspace.tool(arguments);
    INFO(ended.output);
    CHECK(ended.exit == 2);
    CHECK_THAT(ended.output, ContainsSubstring(why));
    CHECK(std::count(ended.output.begin(), ended.output.end(), '\n') == 1);
  };
  const std::string file = (workspace.root() / "f.json").string();
  refused({"check"}, "--baseline FILE for times or --frozen FILE");
  refused({"check", "--frozen", file, "--baseline", file}, "not both");
  refused({"check", "--frozen", file}, "cannot read " + file);
  write_file(file, "{}");
  refused({"check", "--frozen", file}, "expected headtune-frozen/1");
  refused({"freeze", "--arch", "gfx950", "-o", file}, "expected headtune-frozen/1");
  refused({"freeze", "--arch", "sm_90", "-o", (workspace.root() / "new.json").string()}, "only AMD");
}

TEST_CASE("check --frozen: no compiler is exit 4") {
  const Frozen frozen;
  const char* data = ::getenv("XDG_DATA_HOME");
  const std::string before = data ? data : "";
  ::setenv("XDG_DATA_HOME", frozen.workspace.root().c_str(), 1);  // no private hipRTC there
  const Ended ended = frozen.check();
  data ? ::setenv("XDG_DATA_HOME", before.c_str(), 1) : ::unsetenv("XDG_DATA_HOME");
  if (ended.exit == 0 || ended.exit == 3) SKIP("this machine has a hipRTC outside the private prefix too");
  CHECK(ended.exit == 4);
  CHECK_THAT(ended.output, ContainsSubstring("hipRTC"));
}
