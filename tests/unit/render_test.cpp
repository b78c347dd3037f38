#include "codegen/render.h"

#include <unistd.h>

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <filesystem>
#include <fstream>

#include "tuner/error.h"

using namespace headtune;
namespace fs = std::filesystem;

namespace {

/// A copy of the templates that a test may change.
class Copy {
 public:
  Copy() : folder_(fs::temp_directory_path() / ("headtune-render-" + std::to_string(getpid()))) {
    fs::remove_all(folder_);
    fs::copy(templates_dir(), folder_, fs::copy_options::recursive);
  }
  ~Copy() { fs::remove_all(folder_); }
  Copy(const Copy&) = delete;
  Copy& operator=(const Copy&) = delete;

  const fs::path& path() const { return folder_; }
  void append(const std::string& file) const { std::ofstream(folder_ / file, std::ios::app) << "\n"; }

 private:
  fs::path folder_;
};

Problem draft64() {
  Problem p;
  p.head_dim = p.v_head_dim = 64;
  p.num_q_heads = 8, p.num_kv_heads = 2, p.extend_len = 7, p.is_causal = false;
  return p;
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("render: an instance states every constant and every knob once") {
  const std::string source = render("verify_shared_kv", draft64(), Config{}, 64);
  for (const char* line :
       {"HEAD_DIM = 64;", "V_HEAD_DIM = 64;", "NUM_Q_HEADS = 8;", "KV_GROUP_NUM = 4;", "HAS_KV_HEADS = 1;",
        "IS_CAUSAL = 0;", "EXTEND_LEN = 7;", "DTYPE = 0;", "KV_DTYPE = 0;", "INDEX_BITS = 64;"})
    CHECK(contains(source, std::string("static constexpr int ") + line));
  for (const Knob& knob : knobs)
    CHECK(contains(source, std::string(" ") + knob.name + " = " + std::to_string(Config{}.*knob.member) + ";"));
  CHECK(contains(source, "do not edit"));
}

TEST_CASE("render: each knob reaches the source") {
  const std::string plain = render("verify_shared_kv", draft64(), Config{});
  for (const Knob& knob : knobs) {
    Config changed;
    changed.*knob.member += 1;
    CHECK(render("verify_shared_kv", draft64(), changed) != plain);
  }
}

TEST_CASE("render: an unknown operator is refused") {
  CHECK_THROWS_AS(render("softmax", draft64(), Config{}), UsageError);
}

TEST_CASE("render: the template hash covers exactly the files an instance includes") {
  const std::string op = "verify_shared_kv";
  const Copy copy;
  const std::string before = template_hash(op, copy.path());
  CHECK(before == template_hash(op, templates_dir()));

  copy.append("headtune/verify_shared_kv/space.json");
  copy.append("headtune/table.h");
  std::ofstream(copy.path() / "headtune" / "unrelated.h") << "#pragma once\n";
  CHECK(before == template_hash(op, copy.path()));

  std::string last = before;
  for (const std::string& file : included_files(op, copy.path())) {
    copy.append(file);
    const std::string now = template_hash(op, copy.path());
    CHECK(now != last);
    last = now;
  }
}

TEST_CASE("render: includes are followed through headers") {
  const std::vector<std::string> files = included_files("verify_shared_kv", templates_dir());
  for (const char* file : {"headtune/verify_shared_kv/stage1.h", "headtune/verify_shared_kv/params.h",
                           "headtune/config.h", "headtune/arch.h", "headtune/tile/macros.h"})
    CHECK(std::find(files.begin(), files.end(), file) != files.end());
}
