#include "tuner/space.h"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/generators/catch_generators_range.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include "codegen/render.h"
#include "tuner/error.h"
#include "tuner/op.h"

using namespace headtune;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;

namespace {

Problem problem(int q, int kv, int head_dim, int extend_len, int v_head_dim = 0) {
  Problem p;
  p.num_q_heads = q, p.num_kv_heads = kv, p.head_dim = head_dim, p.extend_len = extend_len;
  p.v_head_dim = v_head_dim ? v_head_dim : head_dim;
  return p;
}

const Arch& arch(const char* name) { return *find_arch(name); }

Space shipped(const std::string& op) { return read_space(templates_dir() / "headtune" / op / "space.json"); }

Space small(const std::string& constraints) {
  return parse_space(R"({"op": "verify_shared_kv",
    "parameters": [{"name": "BLOCK_H", "values": [4, 3]}, {"name": "NUM_WARPS", "values": [8, 4]}],
    "derived": [{"name": "ROWS", "value": "BLOCK_H * EXTEND_LEN"}],
    "constraints": [)" + constraints +
                         "]}",
                     "small.json");
}

}  // namespace

TEST_CASE("space: configurations come in the order of the file, the last parameter fastest") {
  const Candidates found = enumerate(small(""), problem(16, 4, 64, 8), arch("gfx942"));
  std::vector<std::pair<int, int>> order;
  for (const Config& config : found.legal) order.emplace_back(config.block_h, config.num_warps);
  CHECK(order == std::vector<std::pair<int, int>>{{4, 8}, {4, 4}, {3, 8}, {3, 4}});
  CHECK(found.pruned.empty());
}

TEST_CASE("space: a pruned configuration carries the reason with its numbers") {
  const Space space = small(R"({"require": "ROWS <= 24", "reason": "{ROWS} rows, {ROWS - 24} too many on {ARCH}"})");
  const Candidates found = enumerate(space, problem(16, 4, 64, 8), arch("gfx942"));
  REQUIRE(found.pruned.size() == 2);
  CHECK(found.pruned[0].reason == "32 rows, 8 too many on gfx942");
  CHECK(found.legal.size() == 2);
}

TEST_CASE("space: a derived value with a knob's name sets the knob, but not in a configuration that is given") {
  const Space space = parse_space(R"({"op": "verify_shared_kv",
    "parameters": [{"name": "NUM_WARPS", "values": [8, 4]}],
    "derived": [{"name": "WORKGROUPS_PER_CU", "value": "16 / NUM_WARPS"}],
    "constraints": [{"require": "WORKGROUPS_PER_CU < 7", "reason": "{WORKGROUPS_PER_CU}"}]})",
                                  "derived.json");
  const std::vector<Config> legal = enumerate(space, problem(16, 4, 64, 8), arch("gfx942")).legal;
  REQUIRE(legal.size() == 2);
  CHECK(legal[0].workgroups_per_cu == 2);
  CHECK(legal[1].workgroups_per_cu == 4);
  Config given;
  given.workgroups_per_cu = 7;
  CHECK(prune_reason(space, problem(16, 4, 64, 8), given, arch("gfx942")) == "7");
}

TEST_CASE("space: a workgroup that does not fit LDS is pruned before compiling, with both sizes") {  // T20
  const Space space = shipped("verify_shared_kv");
  const Problem mla = problem(128, 1, 576, 4, 512);
  Config config;
  config.load_path = 1, config.block_h = 8, config.block_n = 128, config.num_warps = 8, config.num_stages = 1;
  const int needed = find_op(space.op).lds_bytes(mla, config, arch("gfx942"));
  REQUIRE(needed > 65536);
  CHECK(prune_reason(space, mla, config, arch("gfx942")) ==
        "needs " + std::to_string(needed) + " B of LDS, gfx942 has 65536 B");
}

TEST_CASE("space: no legal configuration straddles KV heads") {
  const Space space = shipped("verify_shared_kv");
  for (const auto& [q, kv] : {std::pair{16, 4}, {8, 2}, {12, 4}, {24, 4}, {6, 2}, {32, 8}})
    for (const Config& config : enumerate(space, problem(q, kv, 64, 4), arch("gfx950")).legal)
      CHECK(q / kv % config.block_h == 0);
}

TEST_CASE("space: every benchmark shape has legal configurations on every architecture") {
  const std::string op = GENERATE(from_range(op_names()));
  const Space space = shipped(op);
  for (const Arch& one : archs)
    for (const Problem& p :
         {problem(16, 2, 256, 4), problem(12, 1, 576, 8, 512), problem(8, 2, 64, 7), problem(16, 4, 64, 8),
          problem(16, 1, 576, 7, 512), problem(8, 1, 256, 4), problem(4, 1, 256, 1), problem(16, 1, 128, 4),
          problem(16, 4, 128, 8), problem(128, 1, 576, 4, 512), problem(16, 1, 576, 1, 512)}) {
      CAPTURE(op, one.name, p.head_dim, p.num_q_heads, p.num_kv_heads, p.extend_len);
      CHECK_NOTHROW(require_legal(space, p, one));
    }
}

TEST_CASE("space: a problem without a legal variant says why") {
  CHECK_THROWS_MATCHES(require_legal(shipped("verify_shared_kv"), problem(16, 4, 65, 8), arch("gfx950")), UsageError,
                       MessageMatches(ContainsSubstring("head_dim 65") && ContainsSubstring("multiples of")));
}

TEST_CASE("space: an fp8 prefix of either encoding has kernels everywhere, its rows in whole 64 elements") {  // T9
  for (const DType type : {DType::fp8_e4m3fn, DType::fp8_e4m3fnuz})
    for (const std::string& op : op_names())
      for (const char* name : {"gfx90a", "gfx942", "gfx950", "sm_80", "sm_90"}) {
        Problem p = problem(16, 4, 64, 8);
        p.kv_dtype = type;
        CHECK_NOTHROW(require_legal(shipped(op), p, arch(name)));
        Problem mla = problem(12, 1, 576, 8, 512);
        mla.kv_dtype = type;
        CHECK_NOTHROW(require_legal(shipped(op), mla, arch(name)));
        p.head_dim = 96;
        CHECK_THROWS_MATCHES(require_legal(shipped(op), p, arch(name)), UsageError,
                             MessageMatches(ContainsSubstring("fp8") && ContainsSubstring("64 elements")));
      }
}

TEST_CASE("space: numbers that make no problem are refused") {
  CHECK_THROWS_MATCHES(validate(problem(12, 5, 64, 8)), UsageError, MessageMatches(ContainsSubstring("not divisible")));
  CHECK_THROWS_AS(validate(problem(16, 4, 64, 0)), UsageError);
  CHECK_THROWS_AS(validate(problem(16, 0, 64, 8)), UsageError);
  CHECK_THROWS_AS(validate(problem(16, 4, 64, 8, 128)), UsageError);
  Problem mixed = problem(16, 4, 64, 8);
  mixed.kv_dtype = DType::fp16;
  CHECK_THROWS_AS(validate(mixed), UsageError);
}

TEST_CASE("space: a faulty file is refused in one line with file and place") {
  const auto [text, place] = GENERATE(table<std::string, std::string>({
      {"{\n\n nonsense", "bad.json: line 3"},
      {"[]", "bad.json: top level: expected an object"},
      {R"({"op": 3})", "expected a string \"op\""},
      {R"({"op": "x", "constraints": []})", "bad.json: parameters: expected an array"},
      {R"({"op": "x", "parameters": [{"name": "BLOCK_X", "values": [1]}], "constraints": []})", "parameter BLOCK_X"},
      {R"({"op": "x", "parameters": [{"name": "BLOCK_H", "values": []}], "constraints": []})", "has no values"},
      {R"({"op": "x", "parameters": [{"name": "BLOCK_H", "values": [1, 1]}], "constraints": []})", "a value twice"},
      {R"({"op": "x", "parameters": [{"name": "BLOCK_H", "values": [1.5]}], "constraints": []})", "must be integers"},
      {R"({"op": "x", "parameters": [], "constraints": [{"require": "1 +", "reason": ""}]})", "column 4"},
      {R"({"op": "x", "parameters": [], "constraints": [{"require": "1"}]})", "expected a string \"reason\""},
      {R"({"op": "x", "parameters": [], "constraints": [], "extra": 1})", "unknown key \"extra\""},
  }));
  CHECK_THROWS_MATCHES(parse_space(text, "bad.json"), UsageError, MessageMatches(ContainsSubstring(place)));
}

TEST_CASE("space: a constraint over an unknown name is an error, not a silent pass") {
  const Space space = small(R"({"require": "BLOK_H < 4", "reason": ""})");
  CHECK_THROWS_MATCHES(enumerate(space, problem(16, 4, 64, 8), arch("gfx942")), UsageError,
                       MessageMatches(ContainsSubstring("unknown name 'BLOK_H'")));
}
