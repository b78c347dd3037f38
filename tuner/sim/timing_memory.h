// The memory side of one CU in the cycle model: coalescing, caches as tag arrays, bandwidth as queues, LDS banks.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "tuner/sim/device.h"
#include "tuner/sim/timing.h"
#include "tuner/sim/timing_table.h"

namespace headtune::sim {

/// A server with a bandwidth: requests queue, time is kept in 1/256 of a cycle so that no rounding accumulates.
class Pipe {
 public:
  explicit Pipe(std::uint64_t ticks_per_line) : ticks_per_line_(ticks_per_line) {}
  /// Cycle at which the line has passed when it arrives at `now`.
  std::uint64_t pass(std::uint64_t now);

 private:
  std::uint64_t ticks_per_line_;
  std::uint64_t free_at_ = 0;
};

/// Direct-mapped tags with the cycle at which each line's data is there.
class Tags {
 public:
  explicit Tags(std::uint32_t lines) : entries_(lines) {}
  struct Entry {
    std::uint64_t line = ~std::uint64_t{0};
    std::uint64_t ready = 0;
  };
  Entry& slot(std::uint64_t line) { return entries_[line % entries_.size()]; }

 private:
  std::vector<Entry> entries_;
};

class CuMemory {
 public:
  /// `active_cus` share the HBM bandwidth; a line is read by `sharing_percent` / 100 of them.
  CuMemory(const DeviceModel& device, const CostTable& table, std::uint64_t active_cus,
           std::uint32_t sharing_percent = 100);

  struct Result {
    std::uint64_t busy = 0;   ///< cycles that the unit is taken
    std::uint64_t ready = 0;  ///< cycle at which the counter may be decremented
  };
  /// A vector memory instruction (global or scratch) issued at `now`.
  Result vector_access(const Access& access, std::uint64_t now);
  /// An LDS instruction; `instruction` identifies it, so that a repeated address pattern is worked out once.
  Result lds_access(const Access& access, std::uint32_t instruction, std::uint64_t now);
  /// Cycles that LDS is taken by the data of a load straight into it: neighbouring lanes, so no conflicts.
  std::uint64_t lds_fill_cycles(const Access& access) const;
  std::uint64_t scalar_access(const Access& access, std::uint64_t now);

  void count_into(Estimate& estimate) const;

 private:
  std::uint64_t load_line(std::uint64_t line, std::uint64_t now);
  std::uint64_t store_line(std::uint64_t line, std::uint64_t now);
  std::uint64_t fetch(std::uint64_t line, std::uint64_t now);
  std::uint32_t bank_cycles(const Access& access) const;

  struct Pattern {
    std::uint64_t lanes = 0;
    std::array<std::uint32_t, kLanes> relative;
    std::uint32_t cycles = 0;  ///< 0: not worked out yet
  };

  const CostTable& table_;
  std::uint32_t banks_;
  Tags l1_, l2_, scalar_;
  Pipe l2_pipe_, memory_pipe_;
  std::vector<Pattern> patterns_;  ///< by instruction
  std::vector<std::uint64_t> lines_;
  std::uint64_t memory_lines_ = 0, l2_lines_ = 0, conflict_cycles_ = 0;
};

/// The distinct cache lines that the lanes touch, ascending, into `lines` (kept by the caller: this runs per
/// instruction).
void touched_lines(const Access& access, std::uint32_t line_bytes, std::vector<std::uint64_t>& lines);

}  // namespace headtune::sim
