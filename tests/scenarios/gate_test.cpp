// The gate, merging and comparing through the real tool on a scripted device: exit codes that a CI can rely on.
#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cstdlib>
#include <fstream>
#include <iterator>

#include "tests/scenarios/workspace.h"

using namespace headtune;
using namespace headtune::test;
using Catch::Matchers::ContainsSubstring;

namespace {

using Arguments = std::vector<std::string>;

/// A table of two head_dims at two contexts on a scripted device, 50 us each unless a script says otherwise.
class Gate {
 public:
  Gate() : workspace(1) {}

  /// `rest`: further members of the script, which may state another noise than 3 %.
  void script(int seed, const std::string& variants = R"({"time_us": 50})", const std::string& rest = "") const {
    workspace.script("{\"seed\": " + std::to_string(seed) + ", \"noise\": 0.03, " + rest + "\"variants\": [" +
                     variants + "]}");
  }

  Ended sweep(const std::string& db = "results.db") const {
    return workspace.tool(with({"sweep", "--db", file(db), "--head-dim", "64,128", "--heads", "2/1", "--extend-len",
                                "2", "--contexts", "256,512", "--batch", "1"}));
  }

  Ended check(const Arguments& extra = {}) const {
    Arguments all = with({"check", "--baseline", file("results.db")});
    all.insert(all.end(), extra.begin(), extra.end());
    return workspace.tool(all);
  }

  std::string file(const std::string& name) const { return (workspace.root() / name).string(); }

  Workspace workspace;

 private:
  Arguments with(Arguments all) const {
    all.insert(all.end(), {"--device", "fake:" + file("device.json"), "--templates", workspace.templates().string()});
    return all;
  }
};

constexpr const char* slower_on_one =
    R"({"match": {"HEAD_DIM": 128}, "times": {"1x256": 50, "1x512": 54}}, {"time_us": 50})";

std::string bytes(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

long lines_with(const std::string& text, const std::string& word) {
  long count = 0;
  for (std::size_t at = 0; (at = text.find(word, at)) != std::string::npos; at += word.size()) ++count;
  return count;
}

/// Gives every time of the winners these samples.
void set_samples(const std::string& db, const std::vector<double>& samples) {
  Store store(db, Access::create);
  for (const auto& [environment, facts] : store.environments())
    for (const auto& [problem, stored] : store.problems())
      for (const StoredWinner& winner : store.winners(environment, problem))
        for (StoredTiming timing : store.timings(winner.variant)) {
          timing.samples_us = samples;
          store.put_timing(winner.variant, timing);
        }
}

}  // namespace

TEST_CASE("gate: the same kernels pass again and again at 3 % noise") {
  const Gate gate;
  gate.script(1);
  REQUIRE(gate.sweep().exit == 0);
  for (int seed = 2; seed < 10; ++seed) {
    gate.script(seed);
    const Ended ended = gate.check();
    INFO(ended.output);
    CHECK(ended.exit == 0);
    CHECK_THAT(ended.output, ContainsSubstring("pass: 4 pass, 0 regress, 0 no-verdict"));
  }
}

TEST_CASE("gate: 8 % on one context of one head_dim is named, in text, JSON, JUnit and Markdown") {
  const Gate gate;
  gate.script(1);
  REQUIRE(gate.sweep().exit == 0);
  gate.script(2, slower_on_one);
  const Ended ended = gate.check({"--junit", gate.file("j.xml"), "--markdown", gate.file("m.md")});
  INFO(ended.output);
  CHECK(ended.exit == 1);
  CHECK_THAT(ended.output, ContainsSubstring("regress: head_dim 128, 2/1 heads, L 2, non-causal, bf16, context 512, "
                                             "batch 1: slower by"));
  CHECK_THAT(ended.output, ContainsSubstring("regress: 3 pass, 1 regress, 0 no-verdict"));
  CHECK(lines_with(bytes(gate.file("m.md")), "| regress |") == 1);
  const std::string xml =
      "python3 -c \"import sys, xml.etree.ElementTree as e; r = e.parse(sys.argv[1]).getroot(); "
      "f = r.findall('testcase/failure'); sys.exit(not (len(f) == 1 and r.get('tests') == '4' and "
      "'slower' in f[0].get('message')))\" " +
      gate.file("j.xml");
  CHECK(std::system(xml.c_str()) == 0);
  const Ended json = gate.check({"--format", "json"});
  CHECK(json.exit == 1);
  CHECK_THAT(json.output, ContainsSubstring("\"verdict\": \"regress\""));
  // The other head_dim alone is fine, and says what it left out.
  const Ended part = gate.check({"--head-dim", "64"});
  CHECK(part.exit == 0);
  CHECK_THAT(part.output, ContainsSubstring("head_dim 128, 2/1 heads, L 2, non-causal, bf16: 1x256 1x512"));
}

TEST_CASE("gate: 30 % of a kernel of 2 us is below the floor") {
  const Gate gate;
  gate.script(1, R"({"time_us": 2})");
  REQUIRE(gate.sweep().exit == 0);
  gate.script(2, R"({"time_us": 2.6})");
  CHECK(gate.check().exit == 0);
  const Ended strict = gate.check({"--floor-us", "0.1"});
  CHECK(strict.exit == 1);
}

TEST_CASE("gate: no verdict is never green") {
  const Gate gate;
  gate.script(1);
  REQUIRE(gate.sweep().exit == 0);
  gate.script(2);
  SECTION("a context without a baseline") {
    const Ended ended = gate.check({"--contexts", "512,1k"});
    CHECK(ended.exit == 3);
    CHECK_THAT(ended.output, ContainsSubstring("no baseline"));
    CHECK(gate.check({"--head-dim", "256"}).exit == 3);
  }
  SECTION("another device") {
    gate.script(2, "{}", R"("device": {"cu_count": 80}, )");
    const Ended ended = gate.check();
    CHECK(ended.exit == 3);
    CHECK_THAT(ended.output, ContainsSubstring("304 CUs") && ContainsSubstring("80 CUs"));
  }
  SECTION("another runtime, unless allowed") {
    gate.script(2, R"({"time_us": 50})", R"("device": {"runtime": "fake 2"}, )");
    const Ended ended = gate.check();
    CHECK(ended.exit == 3);
    CHECK_THAT(ended.output, ContainsSubstring("runtime expected fake 1, found fake 2"));
    CHECK(gate.check({"--allow-stale"}).exit == 0);
  }
  SECTION("other templates, unless allowed") {
    std::ofstream(gate.workspace.templates() / "headtune/verify_shared_kv/stage1.h", std::ios::app) << "\n";
    const Ended ended = gate.check();
    CHECK(ended.exit == 3);
    CHECK_THAT(ended.output, ContainsSubstring("stale: templates expected"));
    const Ended allowed = gate.check({"--allow-stale"});
    CHECK(allowed.exit == 0);
    CHECK_THAT(allowed.output, ContainsSubstring("stale rows, judged as allowed:"));
  }
  SECTION("too few samples in the baseline") {
    set_samples(gate.file("results.db"), {50, 50, 50});
    const Ended ended = gate.check();
    CHECK(ended.exit == 3);
    CHECK_THAT(ended.output, ContainsSubstring("too few samples in the baseline: 3"));
  }
  SECTION("noise that would hide a regress") {
    gate.script(2, R"({"time_us": 50})", R"("noise": 0.4, )");
    const Ended ended = gate.check({"--head-dim", "64"});
    INFO(ended.output);
    CHECK(ended.exit == 3);
    CHECK_THAT(ended.output, ContainsSubstring("too noisy") || ContainsSubstring("passes can be trusted"));
  }
}

TEST_CASE("gate: a kernel that is wrong, crashes or no longer compiles is a regress with its reason") {
  const Gate gate;
  gate.script(1);
  REQUIRE(gate.sweep().exit == 0);
  const std::pair<std::string, std::string> broken[] = {{R"("output": "nan")", "verification failed"},
                                                        {R"("fault": "segv")", "crashed: signal 11"},
                                                        {R"("compile": "error")", "no longer compiles"}};
  for (const auto& [member, reason] : broken) {
    gate.script(2, R"({"match": {"HEAD_DIM": 64}, )" + member + R"(}, {"time_us": 50})");
    const Ended ended = gate.check();
    INFO(ended.output);
    CHECK(ended.exit == 1);
    CHECK_THAT(ended.output, ContainsSubstring(reason));
    CHECK_THAT(ended.output, ContainsSubstring("2 pass, 2 regress"));
  }
  CHECK(gate.workspace.processes_left() == 0);
}

TEST_CASE("gate: bad input is told from an absent device") {
  const Gate gate;
  gate.script(1);
  CHECK(gate.check().exit == 3);  // no database yet
  const Arguments check = {"check", "--baseline", gate.file("t.json"), "--device", "fake:" + gate.file("device.json")};
  std::ofstream(gate.file("t.json")) << "{";
  const Ended damaged = gate.workspace.tool(check);
  CHECK(damaged.exit == 2);
  CHECK_THAT(damaged.output, ContainsSubstring("t.json: not JSON"));
  CHECK(gate.workspace.tool({"check", "--baseline", gate.file("t.json"), "--device", "fake:/none"}).exit == 4);
  Store(gate.file("results.db"), Access::create);
  const Ended empty = gate.check();
  CHECK(empty.exit == 3);
  CHECK_THAT(empty.output, ContainsSubstring("nothing to compare"));
}

TEST_CASE("merge and diff: inputs stay, conflicts are resolved as asked, differences are named") {
  const Gate gate;
  gate.script(1);
  REQUIRE(gate.sweep("a.db").exit == 0);
  gate.script(2, slower_on_one);
  REQUIRE(gate.sweep("b.db").exit == 0);
  const std::string a = gate.file("a.db"), b = gate.file("b.db"), out = gate.file("out.db");
  const std::string a_bytes = bytes(a), b_bytes = bytes(b);

  const Ended refused = gate.workspace.tool({"merge", "-o", out, a, b});
  CHECK(refused.exit == 2);
  CHECK_THAT(refused.output, ContainsSubstring("disagree"));
  CHECK_FALSE(std::filesystem::exists(out));
  const Ended merged = gate.workspace.tool({"merge", "-o", out, a, b, "--on-conflict", "newest"});
  CHECK(merged.exit == 0);
  CHECK_THAT(merged.output, ContainsSubstring("4 conflicts (later file kept)"));
  CHECK(gate.workspace.tool({"merge", "-o", out, a, b, "--on-conflict", "fastest"}).exit == 2);  // exists
  CHECK(gate.workspace.tool({"merge", "-o", a, a, b, "--force"}).exit == 2);
  CHECK(bytes(a) == a_bytes);
  CHECK(bytes(b) == b_bytes);

  const Arguments templates = {"--templates", gate.workspace.templates().string()};
  const auto diff = [&](const std::string& x, const std::string& y) {
    return gate.workspace.tool({"diff", x, y, templates[0], templates[1]});
  };
  CHECK(diff(b, out).exit == 0);
  const Ended differs = diff(a, out);
  INFO(differs.output);
  CHECK(differs.exit == 1);
  CHECK_THAT(differs.output, ContainsSubstring("head_dim 128") && ContainsSubstring("beyond noise"));
  CHECK(gate.workspace.tool({"merge", "-o", out, a, b, "--on-conflict", "fastest", "--force"}).exit == 0);
  CHECK(diff(a, a).exit == 0);
}
