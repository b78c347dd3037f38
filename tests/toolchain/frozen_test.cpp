// Frozen paths with the real compiler: edits elsewhere leave their code objects alone, an edit in them is shown.
// Cases (a) and (b) compare with a record taken on the spot; the shipped record is of one compiler version only.
#include "tuner/frozen.h"

#include <stdlib.h>

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <filesystem>

#include "codegen/render.h"
#include "tuner/error.h"
#include "tuner/table_file.h"

using namespace headtune;
using Catch::Matchers::ContainsSubstring;

namespace {

namespace fs = std::filesystem;

Toolchain& toolchain() {
  static Toolchain client{ToolchainOptions{}};
  return client;
}

void skip_without_compiler() {
  try {
    toolchain().version("gfx950");
  } catch (const UnavailableError& error) {
    SKIP("no hipRTC on this machine: " << error.what());
  }
}

/// A copy of templates/ to edit, removed at the end.
class Templates {
 public:
  Templates() {
    std::string name = (fs::temp_directory_path() / "headtune-frozen-XXXXXX").string();
    REQUIRE(mkdtemp(name.data()) != nullptr);
    path_ = name;
    fs::copy(templates_dir() / "headtune", path_ / "headtune", fs::copy_options::recursive);
  }
  ~Templates() { fs::remove_all(path_); }

  /// Puts `line` behind the only occurrence of `anchor` in a kernel header.
  void insert(const std::string& header, const std::string& anchor, const std::string& line) const {
    const fs::path file = path_ / "headtune/verify_shared_kv" / header;
    std::string text = read_file(file);
    const auto at = text.find(anchor);
    INFO(header << ": " << anchor);
    REQUIRE(at != std::string::npos);
    REQUIRE(text.find(anchor, at + 1) == std::string::npos);
    write_file(file, text.insert(at + anchor.size(), "\n" + line + "\n"));
  }

  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

/// Code that only several KV heads compile, and code that only non-causal problems compile.
void edit_other_paths(const Templates& copy) {
  copy.insert("key_rows.h", "keys += kv_head * p.k_cache_stride_head * bytes;", "keys += p.batch % 3;");
  copy.insert("combine.h", "bool visible(int row, int token) const {",
              "if constexpr (!Variant::IS_CAUSAL) { if (token == p.num_splits) return false; }");
}

void edit_single_head_path(const Templates& copy) {
  copy.insert("key_rows.h", "const char* values = static_cast<const char*>(p.v_cache);",
              "if constexpr (!Variant::HAS_KV_HEADS) keys += p.batch % 3;");
}

constexpr Problem multi_head{64, 64, 16, 4, 8, false};

std::vector<FrozenVariant> variants(const std::vector<Problem>& problems, const char* arch) {
  std::vector<FrozenVariant> all;
  for (const Problem& problem : problems)
    for (const Config& config : table_configs(problem, *find_arch(arch), {8192, 16384, 32768}))
      all.push_back({"verify_shared_kv", problem, config, {}});
  return all;
}

FrozenFile frozen(const std::vector<Problem>& problems, const char* arch) {
  FrozenFile file;
  freeze(file, arch, variants(problems, arch), toolchain(), templates_dir());
  return file;
}

std::string changes(const std::vector<FrozenFinding>& findings) {
  std::string text;
  for (const FrozenFinding& finding : findings)
    if (finding.verdict != Frozen::same) text += finding.kernel + "\n" + finding.detail;
  return text;
}

std::map<std::string, KernelCode> compiled(const std::string& source) {
  const Binary binary = toolchain().compile({source, "gfx950", {"-O3", "-std=c++17"}});
  REQUIRE(binary.status == CompileStatus::ok);
  return machine_code(binary.code, toolchain().disassemble(binary.code, "gfx950"));
}

/// Has a loop and a condition, so branches both ways.
std::string kernel(const std::string& name, const std::string& factor = "2.0f") {
  return "extern \"C\" __global__ void " + name +
         "(float* y, const float* x, int n) {\n"
         "#pragma nounroll\n"
         "  for (int i = threadIdx.x; i < n; i += 64) if (x[i] > 0) y[i] = x[i] * " +
         factor + ";\n}\n";
}

}  // namespace

TEST_CASE("frozen (a): code for several KV heads and for non-causal problems leaves the single-head paths alone") {
  skip_without_compiler();
  const auto arch = GENERATE("gfx950", "gfx942", "gfx90a");
  const FrozenFile single = frozen(frozen_problems(), arch), multi = frozen({multi_head}, arch);
  const Templates copy;
  edit_other_paths(copy);
  const auto unchanged = check_frozen(single, {}, toolchain(), copy.path());
  INFO(changes(unchanged));
  CHECK(unchanged.size() >= 4);
  CHECK(verdict(unchanged) == Exit::ok);
  const auto edited = check_frozen(multi, {}, toolchain(), copy.path());
  REQUIRE(edited.size() >= 1);
  for (const FrozenFinding& finding : edited) CHECK(finding.verdict == Frozen::changed);
  CHECK(verdict(edited) == Exit::regress);
}

TEST_CASE("frozen (b): a change in the single-head path is found and its instructions are shown") {
  skip_without_compiler();
  const auto arch = GENERATE("gfx950", "gfx942", "gfx90a");
  const FrozenFile single = frozen(frozen_problems(), arch), multi = frozen({multi_head}, arch);
  const Templates copy;
  edit_single_head_path(copy);
  const auto edited = check_frozen(single, {}, toolchain(), copy.path());
  CHECK(verdict(edited) == Exit::regress);
  for (const FrozenFinding& finding : edited) {
    CHECK((finding.verdict == Frozen::changed) == (finding.kernel == "verify_shared_kv_stage1"));
    if (finding.verdict == Frozen::same) continue;
    CHECK_THAT(finding.detail, ContainsSubstring("@@ line ") && ContainsSubstring("\n+"));
    CHECK_THAT(finding.detail, ContainsSubstring("s_mul_hi_"));  // of the division by 3
  }
  CHECK(verdict(check_frozen(multi, {}, toolchain(), copy.path())) == Exit::ok);
}

TEST_CASE("frozen: an edit in the combine changes its opcodes, and templates that do not compile count as changed") {
  skip_without_compiler();
  const FrozenFile single = frozen({frozen_problems().front()}, "gfx950");
  const Templates copy;
  copy.insert("combine.h", "bool visible(int row, int token) const {", "if (token == p.num_splits) return false;");
  const auto edited = check_frozen(single, {}, toolchain(), copy.path());
  CHECK_THAT(changes(edited), ContainsSubstring("verify_shared_kv_stage2") && ContainsSubstring(" -> "));
  copy.insert("combine.h", "bool visible(int row, int token) const {", "return no_such_name;");
  const auto broken = check_frozen(single, {}, toolchain(), copy.path());
  CHECK(verdict(broken) == Exit::regress);
  CHECK_THAT(changes(broken), ContainsSubstring("does not compile any more") && ContainsSubstring("no_such_name"));
}

TEST_CASE("frozen: the record that is shipped") {
  skip_without_compiler();
  const FrozenFile file = read_frozen(HEADTUNE_GOLDEN "/frozen.json");
  for (const char* arch : {"gfx950", "gfx942", "gfx90a"}) {
    const FrozenRecord* record = file.find(arch, toolchain().version(arch));
    if (record == nullptr) SKIP("no record of " << toolchain().version(arch) << " for " << arch << "; docs/frozen.md");
    INFO("out of date? headtune freeze -o tests/golden/frozen.json");
    const auto wanted = variants(frozen_problems(), arch);
    REQUIRE(record->variants.size() == wanted.size());
    for (std::size_t i = 0; i < wanted.size(); ++i) CHECK(record->variants[i].config == wanted[i].config);
  }
  const auto findings = check_frozen(file, {}, toolchain(), templates_dir());
  INFO(changes(findings));
  CHECK(verdict(findings) == Exit::ok);
}

TEST_CASE("frozen: another compiler has no record, and that is no verdict") {
  skip_without_compiler();
  FrozenFile file = frozen({multi_head}, "gfx950");
  file.records.front().compiler = "hiprtc 1.0";
  const auto findings = check_frozen(file, {}, toolchain(), templates_dir());
  CHECK(verdict(findings) == Exit::no_verdict);
  CHECK_THAT(changes(findings), ContainsSubstring("no record of " + toolchain().version("gfx950")) &&
                                    ContainsSubstring("recorded: hiprtc 1.0"));
  CHECK(verdict({}) == Exit::no_verdict);
}

TEST_CASE("machine code: place and name do not show, an operand does") {
  skip_without_compiler();
  const KernelCode alone = compiled(kernel("f")).at("f");
  CHECK(compiled(kernel("other", "3.0f") + kernel("f")).at("f") == alone);
  CHECK(digest(compiled(kernel("another_name")).at("another_name")) == digest(alone));
  const KernelCode changed = compiled(kernel("f", "3.0f")).at("f");
  CHECK(digest(changed) != digest(alone));
  CHECK(alone.front().starts_with(".vgprs "));
  CHECK(alone.back() != "s_nop 0");
}

TEST_CASE("machine code: branches name labels that stand in the text") {
  skip_without_compiler();
  const KernelCode code = compiled(kernel("f")).at("f");
  int branches = 0;
  for (const std::string& line : code) {
    if (!line.starts_with("s_branch ") && !line.starts_with("s_cbranch_")) continue;
    ++branches;
    CHECK(std::ranges::find(code, line.substr(line.rfind(' ') + 1) + ":") != code.end());
  }
  CHECK(branches >= 2);
}
