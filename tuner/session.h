// What a sweep works with: device or none, compiler, environment. Opens them in the order that fails cheapest.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tuner/runner.h"
#include "tuner/sweep.h"
#include "tuner/toolchain.h"

namespace headtune {

struct SessionOptions {
  std::string device = "auto";  ///< "none": compile only, for `arch`
  std::string arch;
  std::filesystem::path rocm;
  int jobs = 0;
  double timeout_seconds = 120;  ///< per compile and per step on the device
};

class Session {
 public:
  /// Throws UnavailableError, UsageError.
  explicit Session(const SessionOptions& options);
  ~Session();

  const StoredEnvironment& environment() const { return environment_; }
  const Arch& arch() const { return arch_; }
  const std::string& target() const { return target_; }
  CompileAll compile() const;
  Runner* runner() const { return runner_.get(); }  ///< none when compiling only
  /// None for the scripted device.
  Toolchain* toolchain() const { return toolchain_.get(); }

 private:
  void open_device(const SessionOptions& options);
  void open_compiler(const SessionOptions& options);

  std::string target_;
  Arch arch_;
  StoredEnvironment environment_;
  std::unique_ptr<Toolchain> toolchain_;
  CompileAll scripted_;
  std::unique_ptr<Runner> runner_;
};

}  // namespace headtune
