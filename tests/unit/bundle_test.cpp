// The bundle's file format: what is written comes back, and no damaged input gets past the reader or crashes it.
#include "tuner/bundle.h"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cmath>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>

#include "tuner/error.h"

namespace headtune {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

auto says(const std::string& text) { return Catch::Matchers::MessageMatches(Catch::Matchers::ContainsSubstring(text)); }

struct Folder {
  Folder() : path(fs::temp_directory_path() / ("headtune-bundle-" + std::to_string(std::random_device{}()))) {}
  ~Folder() { fs::remove_all(path); }
  fs::path path;
};

std::vector<std::byte> some_bytes(std::size_t count) {
  std::vector<std::byte> bytes(count);
  for (std::size_t n = 0; n < count; ++n) bytes[n] = static_cast<std::byte>(7 * n + 1);
  return bytes;
}

Bundle example() {
  Bundle bundle;
  bundle.arch = "gfx950";
  bundle.buffers["in"] = {64, "in.bin", 0};
  bundle.buffers["out"] = {32, "", 255};
  bundle.launches.push_back(
      {"code.bin", "k", {3, 2, 1}, {64, 1, 1}, 128, some_bytes(40), {{0, "in", 16}, {32, "out", 0}}});
  bundle.expect.push_back({"out", "out.f32", "bf16", 0.5});
  bundle.files["in.bin"] = some_bytes(64);
  bundle.files["code.bin"] = some_bytes(100);
  bundle.files["out.f32"] = some_bytes(64);
  return bundle;
}

json example_json() {
  return json::parse(R"({"format": "headtune-launch/1", "arch": "gfx950",
    "launches": [{"code_object": "code.bin", "kernel": "k", "grid": [3, 2, 1], "block": [64, 1, 1], "dynamic_lds": 128,
                  "kernarg_hex": "00112233445566778899aabbccddeeff", "pointers": [{"offset": 8, "buffer": "in", "byte_offset": 4}]}],
    "buffers": {"in": {"bytes": 64, "file": "in.bin"}, "out": {"bytes": 32, "fill": 255}},
    "expect": [{"buffer": "out", "file": "out.f32", "dtype": "bf16", "rel_l2": 0.5}]})");
}

template <class T>
std::vector<std::byte> bytes_of(std::initializer_list<T> values) {
  std::vector<std::byte> bytes(values.size() * sizeof(T));
  std::memcpy(bytes.data(), values.begin(), bytes.size());
  return bytes;
}

}  // namespace

TEST_CASE("a written bundle reads back the same") {
  const Folder folder;
  const Bundle before = example();
  write_bundle(before, folder.path);
  const Bundle after = read_bundle(folder.path);
  REQUIRE(after.arch == before.arch);
  REQUIRE(after.files == before.files);
  REQUIRE(after.buffers.at("in").file == "in.bin");
  REQUIRE(after.buffers.at("out").bytes == 32);
  REQUIRE(after.buffers.at("out").fill == 255);
  const BundleLaunch &a = after.launches.at(0), &b = before.launches.at(0);
  REQUIRE(a.kernel == b.kernel);
  REQUIRE(a.grid == b.grid);
  REQUIRE(a.block == b.block);
  REQUIRE(a.dynamic_lds == 128);
  REQUIRE(a.kernarg == b.kernarg);
  REQUIRE(a.pointers.at(1).buffer == "out");
  REQUIRE(a.pointers.at(0).byte_offset == 16);
  REQUIRE(after.expect.at(0).dtype == "bf16");
  REQUIRE(after.expect.at(0).rel_l2 == 0.5);
  REQUIRE_THROWS_MATCHES(write_bundle(before, folder.path), UsageError, says("holds a launch.json already"));
}

TEST_CASE("a file of another size, or none, is refused") {
  const Folder folder;
  write_bundle(example(), folder.path);
  fs::resize_file(folder.path / "in.bin", 63);
  REQUIRE_THROWS_MATCHES(read_bundle(folder.path), UsageError, says("63 bytes, expected 64"));
  fs::remove(folder.path / "in.bin");
  REQUIRE_THROWS_MATCHES(read_bundle(folder.path), UsageError, says("cannot be read"));
  REQUIRE_THROWS_MATCHES(read_bundle(folder.path / "nothing"), UsageError, says("cannot be read"));
}

TEST_CASE("each wrong field is named") {
  REQUIRE_NOTHROW(parse_bundle(example_json().dump()));
  struct Damage {
    const char* pointer;
    json value;
    const char* message;
  };
  const Damage all[] = {
      {"/format", "headtune-launch/2", "the format is not headtune-launch/1"},
      {"/arch", 950, "'arch' of the file"},
      {"/launches", json::array(), "no launches"},
      {"/launches", 3, "'launches' of the file is not a list"},
      {"/launches/0", 3, "launch 0 is not an object"},
      {"/launches/0/grid", {1, 2}, "'grid' of launch 0 has not three numbers"},
      {"/launches/0/grid/1", 0, "'grid' of launch 0 has a zero"},
      {"/launches/0/block/0", -64, "'block' of launch 0"},
      {"/launches/0/block/0", 1e30, "'block' of launch 0"},
      {"/launches/0/dynamic_lds", 99999999, "'dynamic_lds' of launch 0"},
      {"/launches/0/kernarg_hex", "0", "'kernarg_hex' of launch 0"},
      {"/launches/0/kernarg_hex", "zz", "not hexadecimal"},
      {"/launches/0/code_object", "../../etc/passwd", "not a plain file name"},
      {"/launches/0/code_object", "/etc/passwd", "not a plain file name"},
      {"/launches/0/code_object", "..", "not a plain file name"},
      {"/launches/0/pointers/0/offset", 9, "outside the kernel arguments"},
      {"/launches/0/pointers/0/buffer", "nobody", "names the buffer 'nobody'"},
      {"/launches/0/pointers/0/byte_offset", 65, "'byte_offset' of pointer 0 of launch 0"},
      {"/buffers", json::array(), "'buffers' is not an object"},
      {"/buffers/in", {{"bytes", 4}}, "needs either 'file' or 'fill'"},
      {"/buffers/in/bytes", std::uint64_t{1} << 50, "'bytes' of buffer 'in'"},
      {"/buffers/out/fill", 256, "'fill' of buffer 'out'"},
      {"/expect/0/dtype", "fp8", "known are f32, bf16, fp16"},
      {"/expect/0/rel_l2", -1, "is not a bound"},
      {"/expect/0/rel_l2", nullptr, "is not a bound"},
      {"/expect/0/buffer", "q", "names the buffer 'q'"},
      {"/buffers/out/bytes", 31, "no whole number of elements"},
  };
  for (const Damage& damage : all) {
    json root = example_json();
    root[json::json_pointer(damage.pointer)] = damage.value;
    INFO(damage.pointer << " = " << damage.value.dump());
    REQUIRE_THROWS_MATCHES(parse_bundle(root.dump()), UsageError, says(damage.message));
  }
  for (const char* key : {"format", "arch", "launches", "buffers", "expect"}) {
    json root = example_json();
    root.erase(key);
    REQUIRE_THROWS_MATCHES(parse_bundle(root.dump()), UsageError, says(std::string("'") + key + "'"));
  }
}

TEST_CASE("damaged text never crashes the reader") {
  const std::string good = example_json().dump(1);
  std::mt19937 random(20261130);
  int accepted = 0;
  for (int round = 0; round < 20000; ++round) {
    std::string text = good;
    for (unsigned n = random() % 6 + 1; n-- > 0;) {
      const std::size_t at = random() % text.size();
      switch (random() % 4) {
        case 0:
          text[at] = static_cast<char>(random());
          break;
        case 1:
          text.erase(at, random() % 20 + 1);
          break;
        case 2:
          text.insert(at, text.substr(random() % text.size(), random() % 30));
          break;
        default:
          text.resize(at);
          break;
      }
      if (text.empty()) text.push_back('{');
    }
    try {
      parse_bundle(text);
      ++accepted;
    } catch (const UsageError& error) {
      REQUIRE(std::string(error.what()).starts_with("launch.json: "));
    }
  }
  REQUIRE(accepted < 10000);
  for (const char* text : {"", "null", "[]", "{}", "\"\"", "{\"format\":1}", "\xff\xfe"})
    REQUIRE_THROWS_AS(parse_bundle(text), UsageError);
  REQUIRE_THROWS_AS(parse_bundle(std::string(100000, '[')), UsageError);
}

TEST_CASE("values of the wrong kind anywhere never crash the reader") {
  const json wrong[] = {nullptr, true, -1, 1.5, "x", json::array(), json::object(), std::uint64_t{1} << 63};
  const json flat = example_json().flatten();
  for (const auto& [pointer, old] : flat.items())
    for (const json& value : wrong) {
      json root = example_json();
      root[json::json_pointer(pointer)] = value;
      try {
        parse_bundle(root.dump());
      } catch (const UsageError&) {
      }
    }
  SUCCEED();
}

TEST_CASE("distances are relative, skip NaN references and never pass a NaN") {
  const float nan = std::nanf("");
  const auto reference = bytes_of({3.0f, nan, 4.0f});
  REQUIRE(bundle_distance(bytes_of({3.0f, 99.0f, 4.0f}), "f32", reference).rel_l2 == 0);
  const BundleDistance off = bundle_distance(bytes_of({3.0f, nan, 4.5f}), "f32", reference);
  REQUIRE(off.rel_l2 == 0.1);
  REQUIRE(off.compared == 2);
  REQUIRE(off.worst == 2);
  REQUIRE(std::isinf(bundle_distance(bytes_of({nan, 0.0f, 4.0f}), "f32", reference).rel_l2));
  const std::uint16_t three = 0x4040, four = 0x4080;  // bf16
  REQUIRE(bundle_distance(bytes_of({three, four, four}), "bf16", reference).rel_l2 == 0);
  const float inf = INFINITY;
  REQUIRE(bundle_distance(bytes_of({-inf, 1.0f}), "f32", bytes_of({-inf, 1.0f})).rel_l2 == 0);
  REQUIRE(std::isinf(bundle_distance(bytes_of({0.0f, 1.0f}), "f32", bytes_of({-inf, 1.0f})).rel_l2));
  REQUIRE(std::isinf(bundle_distance(bytes_of({1.0f}), "f32", bytes_of({0.0f})).rel_l2));
}

}  // namespace headtune
