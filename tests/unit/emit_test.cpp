// Emitted tables: the same bytes from the same rows, harmless strings, and files that tell when they were edited.
#include "codegen/emit.h"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/generators/catch_generators_range.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <clocale>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>

#include "tables/tables.h"
#include "tests/golden/sm_89.h"
#include "tuner/error.h"
#include "tuner/table_file.h"

namespace headtune {
namespace {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;

TunedRow row(int head_dim, int context, int block_n) {
  TunedRow tuned;
  TableRow& r = tuned.row;
  r.cu_count = 256, r.wave_size = 32, r.head_dim = r.v_head_dim = head_dim;
  r.kv_group_num = r.num_kv_heads = 4, r.extend_len = 8, r.has_kv_heads = true;
  r.context_min = r.context_max = context;
  // Every knob by name: a changed default must not change golden files.
  Config& c = r.config;
  c.block_h = 4, c.block_n = block_n, c.num_warps = 4, c.row_warps = 1, c.load_path = 0, c.num_stages = 1;
  c.waves_per_eu = 2, c.workgroups_per_cu = 2, c.min_keys_per_split = 128, c.max_splits = 64;
  c.stage2_warps = 4, c.stage2_rows = 1, c.fuse_combine = 0;
  Evidence& e = tuned.evidence;
  e.provider = "cuda", e.device_name = "NVIDIA L40S", e.driver = "6.14", e.runtime = "HIP 7.0";
  e.compiler = "nvrtc 13.0", e.template_hash = std::string(64, 'c'), e.method = "graph of 20 launches, cold";
  e.verify_error = 1.25e-3, e.verify_tolerance = 5e-3, e.candidates = 12, e.ratio = 1.004, e.max_regret = 0.011;
  e.reason = "best";
  for (int batch : {8, 1}) e.times.push_back({context, batch, 20.5, 20.4, 20.6, 12, 20.4, 61.2, 4194304});
  return tuned;
}

TunedTable table() {
  TunedTable table{"sm_89", {row(64, 8192, 256), row(64, 32768, 128), row(128, 8192, 64)}};
  table.rows[2].evidence.extend_below = {{1, 512}, {8, 256}};
  table.rows[2].row.extend_below = extend_below(table.rows[2].evidence);
  return table;
}

std::string emit(const TunedTable& table, Format format) {
  switch (format) {
    case Format::header:
      return emit_header(table);
    case Format::json:
      return table_json(table);
    case Format::python:
      return emit_python(table);
    default:
      return emit_csv(table);
  }
}

/// HEADTUNE_UPDATE_GOLDEN=1 writes the files anew; look at the difference before committing it.
void check_golden(const std::string& name, const std::string& text) {
  const std::filesystem::path file = std::filesystem::path(HEADTUNE_GOLDEN) / name;
  if (std::getenv("HEADTUNE_UPDATE_GOLDEN") != nullptr) write_file(file, text);
  CHECK(read_file(file) == text);
}

TEST_CASE("every format is what it was") {
  check_golden("sm_89.h", emit_header(table()));
  check_golden("sm_89.json", table_json(table()));
  check_golden("block_config.py", emit_python(table()));
  check_golden("tuned.csv", emit_csv(table()));
}

TEST_CASE("a look-up says below which context extend_attention is faster at every batch") {
  const auto compiled = tables::rows("sm_89", tables::sm_89::verify_shared_kv);
  const DeviceKey device{"sm_89", 256, 32};
  CHECK(tables::lookup(compiled, {128, 128, 16, 4, 8, false}, device, 8192).extend_below == 256);
  CHECK(tables::lookup(compiled, {64, 64, 16, 4, 8, false}, device, 8192).extend_below == 0);
  CHECK(parse_table(table_json(table()), "again").rows[2].row.extend_below == 256);
}

TEST_CASE("a table keeps what the simulator counted") {
  TunedTable counted = table();
  counted.rows[0].evidence.times[0].counters = {{"instructions", 5701}, {"memory_lines", 12}};
  CHECK(parse_table(table_json(counted), "again").rows[0].evidence.times[1].counters.at("instructions") == 5701);
}

TEST_CASE("the compiled header answers as the rows that it was made from") {
  constexpr Problem problem{64, 64, 16, 4, 8, false};
  const auto compiled = tables::rows("sm_89", tables::sm_89::verify_shared_kv);
  REQUIRE(compiled.count == static_cast<int>(table().rows.size()));
  for (const int cu_count : {256, 128})
    for (const int context : {2048, 8192, 20000, 32768, 200000}) {
      std::vector<TableRow> rows;
      for (const TunedRow& tuned : table().rows) rows.push_back(tuned.row);
      const DeviceKey device{"sm_89", cu_count, 32};
      const Match a = tables::lookup(compiled, problem, device, context);
      const Match b = tables::lookup({"sm_89", rows.data(), static_cast<int>(rows.size())}, problem, device, context);
      CHECK(a.config == b.config);
      CHECK(a.level == b.level);
    }
  CHECK(tables::lookup(compiled, problem, {"sm_89", 256, 32}, 8192).config.block_n == 256);
}

TEST_CASE("the order of rows and times and the locale do not show in any format") {
  const Format format = GENERATE(Format::header, Format::json, Format::python, Format::csv);
  TunedTable shuffled = table();
  const std::string expected = emit(shuffled, format);
  std::mt19937 random(3);
  for (int i = 0; i < 20; ++i) {
    std::shuffle(shuffled.rows.begin(), shuffled.rows.end(), random);
    for (TunedRow& r : shuffled.rows) std::shuffle(r.evidence.times.begin(), r.evidence.times.end(), random);
    CHECK(emit(shuffled, format) == expected);
  }
  if (std::setlocale(LC_ALL, "de_DE.UTF-8") != nullptr) CHECK(emit(table(), format) == expected);
  std::setlocale(LC_ALL, "C");
}

TEST_CASE("a decimal comma cannot enter a table") {
  struct Comma : std::numpunct<char> {
    char do_decimal_point() const override { return ','; }
    char do_thousands_sep() const override { return '.'; }
    std::string do_grouping() const override { return "\3"; }
  };
  const std::string expected = emit_header(table()) + table_json(table()) + emit_csv(table());
  const std::locale before = std::locale::global(std::locale(std::locale::classic(), new Comma));
  const std::string found = emit_header(table()) + table_json(table()) + emit_csv(table());
  std::locale::global(before);
  CHECK(found == expected);
}

TEST_CASE("a table survives writing and reading") {
  const std::string text = table_json(table());
  CHECK(table_json(parse_table(text, "t.json")) == text);
  CHECK(emit_header(parse_table(text, "t.json")) == emit_header(table()));
}

/// What devices, drivers and databases may hold: ends of comments and literals, line ends, a line splice (also spelled
/// as a trigraph), formulas, bytes that are no text.
const std::vector<std::string> hostile_texts = {"*/ int main(){system(\"rm\");} /*",
                                                "x\nint evil;\n#define DType",
                                                "carriage\rreturn\vtab\t\x1b[2J",
                                                "back\\",
                                                "trigraph ?\?/",
                                                "quote\" ' \"\"\" + __import__('os') + \"\"\"",
                                                "=cmd|' /C calc'!A0,1,2\r\n3",
                                                "+1,2",
                                                "-1;2",
                                                "@SUM(A1)",
                                                std::string("nul\0byte", 8),
                                                "\xff\xfe bad utf8 \xc3",
                                                "\xe2\x80\xa8 line separator \xe2\x80\xae",
                                                "${x} %n {0} `id` $(id)",
                                                std::string(5000, '/')};

TunedTable with_text(const std::string& text) {
  TunedTable bad = table();
  for (TunedRow& r : bad.rows)
    for (std::string Evidence::*field :
         {&Evidence::provider, &Evidence::device_name, &Evidence::features, &Evidence::driver, &Evidence::runtime,
          &Evidence::compiler, &Evidence::template_hash, &Evidence::method, &Evidence::reason})
      r.evidence.*field = text;
  return bad;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

/// Code without comments: what a compiler or interpreter sees.
std::string without_comments(const std::string& text, const std::string& sign) {
  std::string code;
  for (const std::string& line : lines_of(text)) code += line.substr(0, line.find(sign)) + "\n";
  return code;
}

TEST_CASE("no string from a device or a database leaves its comment, literal or field") {
  const std::string hostile = GENERATE(from_range(hostile_texts));
  const TunedTable bad = with_text(hostile);
  for (const Format format : {Format::header, Format::python, Format::csv}) {
    const std::string text = emit(bad, format);
    CHECK(lines_of(text).size() == lines_of(emit(table(), format)).size());
    CHECK_THAT(text, !ContainsSubstring("*/") && !ContainsSubstring("\\") && !ContainsSubstring("?\?"));
    CHECK(std::all_of(text.begin(), text.end(), [](unsigned char c) { return c == '\n' || (c >= 32 && c < 127); }));
    for (const std::string& line : lines_of(text)) CHECK(line.size() < 500);
  }
  CHECK(without_comments(emit(bad, Format::header), "//") == without_comments(emit(table(), Format::header), "//"));
  CHECK(without_comments(emit(bad, Format::python), "#") == without_comments(emit(table(), Format::python), "#"));
}

TEST_CASE("a hostile string keeps the fields of CSV and is no formula") {
  const std::string hostile = GENERATE(from_range(hostile_texts));
  TunedTable bad = with_text(hostile);
  bad.arch = hostile;
  const auto commas = [](const std::string& line) { return std::count(line.begin(), line.end(), ','); };
  for (const std::string& line : lines_of(emit(bad, Format::csv))) {
    CHECK(commas(line) == commas(lines_of(emit(table(), Format::csv)).front()));
    CHECK_THAT("," + line, !ContainsSubstring(",=") && !ContainsSubstring(",+") && !ContainsSubstring(",@"));
    CHECK_THAT("," + line, !ContainsSubstring(",-") && !ContainsSubstring("\""));
  }
}

TEST_CASE("a hostile string stays inside its JSON literal") {
  const std::string hostile = GENERATE(from_range(hostile_texts));
  const std::string text = table_json(with_text(hostile));
  CHECK(lines_of(text).size() == lines_of(table_json(table())).size());
  CHECK(std::all_of(text.begin(), text.end(), [](unsigned char c) { return c == '\n' || c >= 32; }));
  const auto document = nlohmann::json::parse(text);
  const std::string found = document["rows"][0]["evidence"]["device"]["name"];
  const bool is_text = hostile.find('\xff') == std::string::npos;
  CHECK((found == hostile) == is_text);  // bytes that are no UTF-8 are replaced
  CHECK(document["rows"].size() == table().rows.size());
}

TEST_CASE("an architecture's name from a database is an identifier in the header") {
  TunedTable bad = table();
  bad.arch = GENERATE(from_range(hostile_texts));
  const std::string text = emit_header(bad);
  const std::string opening = "namespace headtune::tables::";
  const auto at = text.find(opening) + opening.size();
  const std::string name = text.substr(at, text.find(" {", at) - at);
  CHECK(name.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") == std::string::npos);
  CHECK(lines_of(text).size() == lines_of(emit_header(table())).size());
}

TEST_CASE("an edit by hand is noticed") {
  const std::string text = table_json(table());
  const auto edited = [&](const std::string& from, const std::string& to) {
    std::string copy = text;
    const auto at = copy.find(from);
    REQUIRE(at != std::string::npos);
    return copy.replace(at, from.size(), to);
  };
  CHECK_THROWS_MATCHES(parse_table(edited("\"BLOCK_N\":256", "\"BLOCK_N\":512"), "t.json"), UsageError,
                       MessageMatches(ContainsSubstring("t.json: edited by hand")));
  CHECK_THROWS_MATCHES(
      parse_table(edited("\"BLOCK_N\":256", "\"BLOCK_N\":\"big\""), "t.json"), UsageError,
      MessageMatches(ContainsSubstring("rows[0].config.BLOCK_N: expected a whole number, found \"big\"")));
  CHECK_THROWS_MATCHES(
      parse_table(edited("\"BLOCK_N\":256,", ""), "t.json"), UsageError,
      MessageMatches(ContainsSubstring("rows[0].config.BLOCK_N: expected a whole number, found nothing")));
  CHECK_THROWS_MATCHES(parse_table(edited("headtune-table/1", "headtune-table/9"), "t.json"), UsageError,
                       MessageMatches(ContainsSubstring("expected headtune-table/1, found headtune-table/9")));
  CHECK_THROWS_MATCHES(parse_table(edited("sm_89", "sm_9000"), "t.json"), UsageError,
                       MessageMatches(ContainsSubstring("known architecture")));
  CHECK_THROWS_MATCHES(parse_table(text.substr(0, text.size() / 2), "t.json"), UsageError,
                       MessageMatches(ContainsSubstring("not JSON")));
}

TEST_CASE("a row without evidence is refused, naming what is missing") {
  const auto refusal = [](auto change) {
    TunedRow tuned = row(64, 8192, 256);
    change(tuned.evidence);
    return missing_evidence(tuned);
  };
  CHECK(refusal([](Evidence&) {}).empty());
  CHECK_THAT(refusal([](Evidence& e) { e.compiler.clear(); }), ContainsSubstring("compiler"));
  CHECK_THAT(refusal([](Evidence& e) { e.template_hash = "abc"; }), ContainsSubstring("template_hash"));
  CHECK_THAT(refusal([](Evidence& e) { e.verify_error = 0.1; }), ContainsSubstring("verify_error"));
  CHECK_THAT(refusal([](Evidence& e) { e.verify_error = NAN; }), ContainsSubstring("verify_error"));
  CHECK_THAT(refusal([](Evidence& e) { e.times.clear(); }), ContainsSubstring("times"));
  CHECK_THAT(refusal([](Evidence& e) { e.times[0].median_us = 0; }), ContainsSubstring("times"));
  CHECK_THAT(refusal([](Evidence& e) { e.times[0].samples = 0; }), ContainsSubstring("times"));
  CHECK_THAT(refusal([](Evidence& e) { e.times[0].low_us = 30; }), ContainsSubstring("times"));
}

TEST_CASE("estimated and stale rows say so in the header") {
  TunedTable t = table();
  t.rows[0].row.estimated = true;
  t.rows[1].stale = true;
  const std::string text = emit_header(t);
  CHECK_THAT(text, ContainsSubstring("// Estimated, not measured."));
  CHECK_THAT(text, ContainsSubstring("// STALE."));
}

TEST_CASE("python keys one configuration per head_dim and lists the others") {
  const std::string text = emit_python(table());
  CHECK_THAT(text, ContainsSubstring("    64: (4, 256, 4),\n"));
  CHECK_THAT(text, ContainsSubstring("    128: (4, 64, 4),\n"));
  CHECK_THAT(text, ContainsSubstring("context 32768..32768_ (4, 128, 4)") || ContainsSubstring("32768: (4, 128, 4)"));
}

TEST_CASE("a written file is complete or absent") {
  const auto folder = std::filesystem::temp_directory_path() / "headtune-emit-test";
  std::filesystem::create_directories(folder);
  write_file(folder / "a.h", "one");
  write_file(folder / "a.h", "two");
  CHECK(read_file(folder / "a.h") == "two");
  CHECK_THROWS_MATCHES(write_file(folder / "none" / "a.h", "x"), UsageError,
                       MessageMatches(ContainsSubstring("cannot write")));
  if (std::filesystem::exists("/dev/full")) CHECK_THROWS_AS(write_file("/dev/full/a.h", "x"), UsageError);
  CHECK(std::distance(std::filesystem::directory_iterator(folder), {}) == 1);
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace headtune
