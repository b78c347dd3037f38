// The record of frozen paths as a file, and the difference of two texts; no compiler.
#include "tuner/frozen_file.h"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include "tuner/error.h"
#include "tuner/line_diff.h"

using namespace headtune;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;

namespace {

using Text = std::vector<std::string>;

FrozenRecord record(const std::string& arch, const std::string& compiler, const std::string& digest) {
  return {arch, compiler, {{"verify_shared_kv", {576, 512, 12, 1, 8, true}, Config{}, {{"stage1", digest}}}}};
}

FrozenFile two_archs() {
  FrozenFile file;
  file.put(record("gfx950", "hiprtc 7.0", "aa"), {{"aa", {{{"s_endpgm", 1}}, {".vgprs 8", "s_endpgm"}}}});
  file.put(record("gfx942", "hiprtc 7.0", "bb"), {{"bb", {{{"s_nop", 2}}, {}}}});
  return file;
}

std::string shown(const Text& before, const Text& after) { return hunks_text(diff_lines(before, after)); }

}  // namespace

TEST_CASE("a record survives writing and reading, in one order") {
  const std::string text = frozen_json(two_archs());
  CHECK(frozen_json(parse_frozen(text, "f.json")) == text);
  const FrozenFile file = parse_frozen(text, "f.json");
  REQUIRE(file.records.size() == 2);
  CHECK(file.records[0].arch == "gfx942");
  CHECK(file.records[1].variants[0].problem.v_head_dim == 512);
  CHECK(file.records[1].variants[0].config == Config{});
  CHECK(file.code.at("aa").lines == Text{".vgprs 8", "s_endpgm"});
  CHECK_THAT(text, ContainsSubstring("\".vgprs 8\",\n\"s_endpgm\""));
}

TEST_CASE("a new record replaces that of its architecture and compiler, and code that nothing names goes") {
  FrozenFile file = two_archs();
  file.put(record("gfx950", "hiprtc 7.1", "cc"), {{"cc", {}}});
  CHECK(file.records.size() == 3);
  file.put(record("gfx950", "hiprtc 7.0", "cc"), {{"cc", {}}});
  CHECK(file.records.size() == 3);
  CHECK(file.code.size() == 2);
  CHECK(!file.code.contains("aa"));
  CHECK(file.find("gfx950", "hiprtc 7.0") != nullptr);
  CHECK(file.find("gfx950", "hiprtc 6.4") == nullptr);
}

TEST_CASE("a file that is no record, or a damaged one, is refused by name") {
  const auto refused = [](const std::string& text, const std::string& why) {
    CHECK_THROWS_MATCHES(parse_frozen(text, "f.json"), UsageError,
                         MessageMatches(ContainsSubstring("f.json") && ContainsSubstring(why)));
  };
  refused("", "expected headtune-frozen/1");
  refused("[]", "expected headtune-frozen/1");
  refused("{\"format\": 1}", "expected headtune-frozen/1");
  refused("{\"format\": \"headtune-frozen/1\"}", "damaged");
  std::string text = frozen_json(two_archs());
  refused(text.substr(0, text.size() / 2), "expected headtune-frozen/1");
  refused(text.replace(text.find("\"BLOCK_H\":4"), 11, "\"BLOCK_H\":\"x\""), "damaged");
}

TEST_CASE("differences are shown with their surroundings and line") {
  const Text before = {"a", "b", "c", "d", "e", "f", "g"};
  CHECK(shown(before, before).empty());
  CHECK(shown(before, {"a", "b", "c", "X", "e", "f", "g"}) == "@@ line 2\n b\n c\n-d\n+X\n e\n f\n");
  CHECK(shown(before, {"b", "c", "d", "e", "f", "g"}) == "@@ line 1\n-a\n b\n c\n");
  CHECK(shown({}, {"a"}) == "@@ line 0\n+a\n");
  CHECK(shown({"a"}, {}) == "@@ line 1\n-a\n");
  CHECK(shown({"x", "x"}, {"x", "x", "x"}) == "@@ line 1\n x\n x\n+x\n");
  CHECK(shown({"1", "a", "2", "3", "4", "5", "6", "b", "7"}, {"1", "2", "3", "4", "5", "6", "7"}) ==
        "@@ line 1\n 1\n-a\n 2\n 3\n@@ line 6\n 5\n 6\n-b\n 7\n");
}

TEST_CASE("a long difference ends with the number of lines that follow") {
  Text before, after;
  for (int i = 0; i < 100; ++i) before.push_back(std::to_string(i)), after.push_back(std::to_string(1000 + i));
  const std::string text = shown(before, after);
  CHECK_THAT(text, ContainsSubstring("... 160 more changed lines\n"));
  CHECK(std::count(text.begin(), text.end(), '\n') == 42);
}
