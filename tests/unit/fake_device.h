// A scripted device for one test.
#pragma once

#include <unistd.h>

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "headtune/config.h"
#include "tuner/hip/buffer.h"
#include "tuner/hip/fake_script.h"
#include "tuner/hip/provider.h"

namespace headtune::test {

class FakeDeviceFixture {
 public:
  explicit FakeDeviceFixture(const std::string& script)
      : file_(std::filesystem::temp_directory_path() /
              ("headtune-fake-" + std::to_string(getpid()) + "-" + std::to_string(counter()++) + ".json")) {
    std::ofstream(file_) << script;
    device_ = hip::open_device("fake:" + file_.string());
  }
  ~FakeDeviceFixture() { std::filesystem::remove(file_); }
  FakeDeviceFixture(const FakeDeviceFixture&) = delete;
  FakeDeviceFixture& operator=(const FakeDeviceFixture&) = delete;

  const hip::Device& device() const { return device_; }
  const hip::Api& api() const { return *device_.api; }

 private:
  static int& counter() {
    static int value = 0;
    return value;
  }
  std::filesystem::path file_;
  hip::Device device_;
};

/// The module image of a rendered source.
inline std::vector<std::byte> image(const std::string& source) {
  const std::string text = std::string(hip::fake_magic) + source;
  const auto* bytes = reinterpret_cast<const std::byte*>(text.data());
  return {bytes, bytes + text.size()};
}

/// What render would write, as far as the scripted device reads it.
inline std::string fake_source(const Problem& problem, const Config& config) {
  std::string source;
  const auto define = [&](const std::string& name, int value) {
    source += "static constexpr int " + name + " = " + std::to_string(value) + ";\n";
  };
  define("HEAD_DIM", problem.head_dim);
  define("V_HEAD_DIM", problem.v_head_dim);
  define("NUM_Q_HEADS", problem.num_q_heads);
  define("KV_GROUP_NUM", problem.kv_group_num());
  define("IS_CAUSAL", problem.is_causal);
  define("EXTEND_LEN", problem.extend_len);
  define("DTYPE", static_cast<int>(problem.dtype));
  define("KV_DTYPE", static_cast<int>(problem.kv_dtype));
  define("INDEX_BITS", 32);
  for (const Knob& knob : knobs) define(knob.name, config.*knob.member);
  return source;
}

}  // namespace headtune::test
