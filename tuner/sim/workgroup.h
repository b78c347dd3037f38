// The waves of one workgroup: their start state and their functional execution.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "tuner/sim/launch.h"
#include "tuner/sim/memory.h"

namespace headtune::sim {

/// What a launch placed in simulated memory before its first wave.
struct LaunchMemory {
  std::uint64_t kernarg = 0;
  std::uint64_t dispatch_packet = 0;  ///< hsa_kernel_dispatch_packet_t
  std::uint64_t queue = 0;            ///< zeros in place of amd_queue_t
};

/// Owns the launch's blocks in simulated memory.
class PlacedLaunch {
 public:
  PlacedLaunch(const Launch& launch, Memory& memory);
  ~PlacedLaunch();
  PlacedLaunch(const PlacedLaunch&) = delete;
  PlacedLaunch& operator=(const PlacedLaunch&) = delete;

  const Launch& launch() const { return launch_; }
  Memory& memory() const { return memory_; }
  const LaunchMemory& at() const { return at_; }

 private:
  const Launch& launch_;
  Memory& memory_;
  LaunchMemory at_;
};

struct WorkgroupOptions {
  bool check_races = false;
  /// A wave that runs longer is taken for an endless loop.
  std::uint64_t max_instructions_per_wave = std::uint64_t{1} << 32;
};

/// Holds one workgroup at a time; reused for the next, since a wave's registers are large.
class Workgroup {
 public:
  Workgroup(const PlacedLaunch& launch, const WorkgroupOptions& options);

  /// Sets every wave to the state that the command processor gives it.
  void start(std::uint64_t linear_index);
  /// Runs all waves to their end, each up to its next barrier in turn. Throws Fault.
  void run();
  /// The same, slower, handing over each instruction behind its execution.
  void run(const std::function<void(const Wave&, const Inst&)>& executed);

  std::vector<Wave*> waves() const;
  Lds& lds() { return lds_; }

 private:
  void start_wave(Wave& wave, std::uint32_t index, std::uint64_t linear_index);
  /// Gives waves their turns, each by `take_turn`. True when those that are left stand at a barrier.
  template <class TakeTurn>
  bool run_to_barrier(const TakeTurn& take_turn);

  const PlacedLaunch& launch_;
  WorkgroupOptions options_;
  Lds lds_;
  std::vector<std::byte> scratch_;
  std::vector<std::unique_ptr<Wave>> waves_;
};

}  // namespace headtune::sim
