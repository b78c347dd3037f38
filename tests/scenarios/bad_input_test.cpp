// Bad input to the real tool: one clear line, exit 2, nothing lost.
#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <fstream>
#include <iterator>

#include "tests/scenarios/workspace.h"

using namespace headtune;
using namespace headtune::test;
using Catch::Matchers::ContainsSubstring;

namespace {

using Arguments = std::vector<std::string>;

/// Exit 2 and one line that says `expected`.
void refuses(const Workspace& workspace, const Arguments& arguments, const std::string& expected) {
  std::string line;
  for (const std::string& argument : arguments) line += argument + " ";
  INFO("headtune " << line);
  const Ended ended = workspace.tool(arguments);
  CHECK(ended.exit == 2);
  CHECK_THAT(ended.output, ContainsSubstring(expected));
  CHECK(std::count(ended.output.begin(), ended.output.end(), '\n') == 1);
}

Arguments sweep(const Workspace& workspace, Arguments extra) {
  Arguments all = {"sweep",
                   "--device",
                   "fake:" + (workspace.root() / "device.json").string(),
                   "--db",
                   workspace.database().string(),
                   "--templates",
                   workspace.templates().string()};
  all.insert(all.end(), extra.begin(), extra.end());
  return all;
}

std::string bytes(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

void write(const std::filesystem::path& file, const std::string& text) {
  std::ofstream(file, std::ios::binary) << text;
}

}  // namespace

TEST_CASE("sweep options that make no problem are refused") {
  const Workspace workspace(1);
  refuses(workspace, {"sweep", "--device", "none", "--arch", "gfx1234"},
          "unknown architecture 'gfx1234'; known: gfx90a");
  refuses(workspace, {"sweep", "--device", "none"}, "--device none needs --arch");
  refuses(workspace, {"sweep", "--device", "quux"}, "expected rocm:N, cuda:N");
  refuses(workspace, sweep(workspace, {"--heads", "9/2"}), "9 query heads are not divisible by 2 KV heads");
  refuses(workspace, sweep(workspace, {"--heads", "8"}), "'8' is not Q/KV");
  refuses(workspace, sweep(workspace, {"--op", "flash"}), "unknown operator 'flash'");
  refuses(workspace, sweep(workspace, {"--dtype", "fp8"}), "fp8_e4m3fn or fp8_e4m3fnuz");
  refuses(workspace, sweep(workspace, {"--frobnicate"}), "--frobnicate");
  for (const char* contexts : {"8q", "8k,,16k", "0", "-1", "", "9999999999k"})
    refuses(workspace, sweep(workspace, {"--contexts", contexts}), "is not a positive count");
  refuses(workspace, sweep(workspace, {"--batch", "1,x"}), "--batch: 'x'");
  CHECK_FALSE(std::filesystem::exists(workspace.database()));
}

TEST_CASE("a head_dim without a legal variant is refused with the reasons") {
  const Workspace workspace(1);
  write(workspace.templates() / "headtune/verify_shared_kv/space.json",
        R"({"op": "verify_shared_kv", "parameters": [{"name": "BLOCK_N", "values": [64]}], "derived": [],
            "constraints": [{"require": "HEAD_DIM % 32 == 0", "reason": "head_dim {HEAD_DIM} is no multiple of 32"}]})");
  refuses(workspace, sweep(workspace, {"--head-dim", "80"}), "head_dim 80 is no multiple of 32");
}

TEST_CASE("a database that cannot be used is refused and stays as it is") {
  const Workspace workspace(1);
  const auto database = workspace.database();
  write(database, std::string(5000, 'x'));
  refuses(workspace, sweep(workspace, {}), "damaged or not a database");
  CHECK(bytes(database) == std::string(5000, 'x'));
  std::filesystem::remove(database);
  refuses(workspace, {"emit", "--from", database.string()}, "no database");
  refuses(workspace, {"explain", "--db", database.string()}, "no database");
  CHECK_FALSE(std::filesystem::exists(database));

  Arguments nowhere = sweep(workspace, {});
  nowhere[4] = (workspace.root() / "missing" / "x.db").string();
  refuses(workspace, nowhere, "no such directory");
}

TEST_CASE("a table is emitted whole or not at all") {
  const Workspace workspace(2);
  REQUIRE(workspace.sweep().exit == 0);
  const std::string database = workspace.database().string(), json = (workspace.root() / "t.json").string();
  const std::string header = (workspace.root() / "t.h").string();
  const Arguments templates = {"--templates", workspace.templates().string()};
  const auto emit = [&](Arguments extra) {
    Arguments all = {"emit"};
    all.insert(all.end(), extra.begin(), extra.end());
    all.insert(all.end(), templates.begin(), templates.end());
    return all;
  };
  REQUIRE(workspace.tool(emit({"--from", database, "--format", "json", "-o", json})).exit == 0);
  REQUIRE(workspace.tool(emit({"--from", json, "-o", header})).exit == 0);

  SECTION("the header from the database and from the table are the same bytes") {
    const std::string from_table = bytes(header);
    REQUIRE(workspace.tool(emit({"--from", database, "-o", header})).exit == 0);
    CHECK(bytes(header) == from_table);
    CHECK_THAT(from_table, ContainsSubstring("inline constexpr TableRow verify_shared_kv[]"));
  }
  SECTION("a table edited by hand") {
    std::string text = bytes(json);
    text.at(text.find("\"median_us\":") + 12) = '9';
    write(json, text);
    refuses(workspace, emit({"--from", json}), "t.json");
    CHECK(bytes(json) == text);
  }
  SECTION("an empty cell") {
    refuses(workspace, emit({"--from", database, "--require", "64,128,576/512@32k"}), "no row for 128, 576/512@32k");
  }
  SECTION("a file that cannot be written") {
    refuses(workspace, emit({"--from", database, "-o", "/proc/none/t.h"}), "cannot write");
  }
  SECTION("an unknown format") { refuses(workspace, emit({"--from", database, "--format", "xml"}), "xml"); }
  SECTION("templates that have changed since") {
    std::ofstream(workspace.templates() / "headtune/verify_shared_kv/stage1.h", std::ios::app) << "\n";
    refuses(workspace, emit({"--from", database}), "rows are stale");
    const Ended marked = workspace.tool(emit({"--from", database, "--allow-stale"}));
    CHECK(marked.exit == 0);
    CHECK_THAT(marked.output, ContainsSubstring("// STALE."));
  }
}
