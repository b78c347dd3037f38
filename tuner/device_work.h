// Everything a sweep does on a device with one variant: prove it right, then time it. Runs in the runner process
// (tuner/runner.h); used directly, a fault or hang of the variant takes the caller with it.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tuner/measure.h"
#include "tuner/timing_inputs.h"
#include "tuner/verify.h"

namespace headtune {

/// One compiled variant.
struct VariantJob {
  std::string op;
  Problem problem;
  Config config;
  int index_bits = 32;  ///< of kv_indices, as rendered
  std::vector<std::byte> code;
  std::optional<Plan> plan = {};  ///< instead of the operator's own: timing a launch that a table decided
};

enum class RunStatus {
  ok,
  verify_failed,
  device_fault,  ///< the device reported a fault; its context is lost
  unavailable,   ///< out of memory, or code that the device refuses
  crashed,       ///< the runner process died
  timed_out      ///< the runner process was killed
};

const char* name(RunStatus status);
/// Throws std::invalid_argument.
RunStatus parse_run_status(const std::string& name);

struct ShapeTiming {
  TimedShape shape;
  Timing timing;
};

struct RunOutcome {
  RunStatus status = RunStatus::ok;
  std::string reason;  ///< one line; empty when ok
  VerifyResult verification;
  std::vector<ShapeTiming> timings;  ///< what was timed before the end, in the order asked for
  double verify_seconds = 0, measure_seconds = 0;
};

struct RunPlan {
  bool verify = true;
  std::vector<TimedShape> shapes;  ///< timed when verification passes; empty: verify only
  /// Inputs are made for these too. A shape's slots scatter over a pool as large as the largest shape needs, which
  /// shows in its time; a part of a sweep repeats the sweep's times only with the whole sweep's shapes here.
  std::vector<TimedShape> inputs_for = {};
  MeasureOptions measure;  ///< pools are set per shape
};

class DeviceWork {
 public:
  /// Called before each step with "verify" or "measure 8x32768".
  using Progress = std::function<void(const std::string& step)>;

  /// `llc_bytes` from Environment.
  DeviceWork(hip::Device device, long long llc_bytes);
  ~DeviceWork();

  /// Never throws for what the variant does wrong; after device_fault this object is useless.
  RunOutcome run(const VariantJob& job, const RunPlan& plan, const Progress& progress = {});

  /// Times verified variants of one problem against each other, interleaved. In the order of `jobs`; each outcome has
  /// one timing. A fault ends the race: its status is on every outcome.
  std::vector<RunOutcome> race(std::span<const VariantJob> jobs, const TimedShape& shape, const MeasureOptions& measure,
                               const Progress& progress = {});

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace headtune
