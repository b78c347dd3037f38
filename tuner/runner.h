// The device work of a sweep in another process. A fault, crash or hang of one variant ends that process, becomes a
// typed outcome of that variant, and the next variant gets a fresh process.
//
// Protocol: one JSON object a line (runner_wire.h). The child answers a request with {"step": ...} before each step and
// ends with {"outcome": ...} or {"failed": text, "exit": code}.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "tuner/device_work.h"
#include "tuner/environment.h"

namespace headtune {

struct RunnerOptions {
  std::string device = "auto";   ///< as hip::open_device takes it
  std::filesystem::path rocm;    ///< --rocm PATH
  double timeout_seconds = 120;  ///< per step (verification, or timing at one shape), not per variant
  bool isolated = true;          ///< false: work in this process, for debuggers
  /// Starts the child; empty: this executable's hidden subcommand `runner`.
  std::vector<std::string> command;
};

class Runner {
 public:
  explicit Runner(RunnerOptions options);
  ~Runner();
  Runner(Runner&&) noexcept;
  Runner& operator=(Runner&&) noexcept;

  /// Of the device; `compiler` is filled in as given. Throws UnavailableError when the device cannot be opened.
  Environment environment(const std::string& compiler);

  /// A variant whose code crashed, hung or faulted before is quarantined: it gets that outcome again, without running.
  RunOutcome run(const VariantJob& job, const RunPlan& plan);

  /// As DeviceWork::race. When the process ends during a race, every outcome carries the status and no timing.
  std::vector<RunOutcome> race(std::span<const VariantJob> jobs, const TimedShape& shape,
                               const MeasureOptions& measure);

  /// Processes that a variant has ended so far.
  int restarts() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// The child's loop: serves standard input until its end. Returns the exit code.
int serve_runner(const std::string& device, const std::filesystem::path& rocm);

}  // namespace headtune
