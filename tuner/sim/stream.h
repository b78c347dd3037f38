// Work in streams and graphs, and its simulated time.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "tuner/sim/device.h"
#include "tuner/sim/grid.h"
#include "tuner/sim/timing.h"

namespace headtune::sim {

struct Copy {
  void* to = nullptr;
  const void* from = nullptr;
  std::uint64_t bytes = 0;
  int kind = 0;  ///< hipMemcpyKind: which of the two are simulated addresses
};

struct Fill {
  std::uint64_t to = 0;
  int byte = 0;
  std::uint64_t bytes = 0;
};

using Operation = std::variant<Launch, Copy, Fill>;

/// One simulated device: its memory and what is known about the time of launches.
class SimDevice {
 public:
  explicit SimDevice(const DeviceModel& model) : model_(model) {}

  const DeviceModel& model() const { return model_; }
  Memory& memory() { return memory_; }

  /// Throws Fault. Host writes change what the timing of later launches depends on.
  void execute(const Operation& operation, const GridOptions& options);
  /// Simulated duration. Launches that differ only in which equally large allocations they use share one estimate.
  double microseconds(const Operation& operation);

  const Estimate& last_estimate() const { return last_estimate_; }
  /// Of the launches timed since it was last asked for, by name.
  std::map<std::string, long long> take_counters() { return std::exchange(counters_, {}); }

 private:
  void copy(const Copy& copy);
  double launch_microseconds(const Launch& launch);
  std::string key_of(const Launch& launch) const;

  const DeviceModel& model_;
  Memory memory_;
  std::uint64_t host_writes_ = 0;
  std::map<std::string, Estimate> estimates_;
  Estimate last_estimate_;
  std::map<std::string, long long> counters_;
};

/// An in-order queue. Work before the first event is never timed: nothing can ask for it.
class SimStream {
 public:
  /// Executes, or records when the stream is capturing. With `compute` off a launch only takes time.
  void submit(SimDevice& device, Operation operation, const GridOptions& options, bool compute);
  /// Simulated time after all work so far.
  double time(SimDevice& device);

  void begin_capture() { captured_.emplace(); }
  bool capturing() const { return captured_.has_value(); }
  std::vector<Operation> end_capture();

 private:
  double microseconds_ = 0;
  bool timed_ = false;
  std::vector<Operation> untimed_;
  std::optional<std::vector<Operation>> captured_;
};

}  // namespace headtune::sim
