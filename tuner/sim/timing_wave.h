// A wave in the cycle model: what its next instruction has to wait for.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>

#include "tuner/sim/inst.h"
#include "tuner/sim/timing_table.h"

namespace headtune::sim {

/// Outstanding memory instructions that return in order (vmcnt, lgkmcnt).
class InOrderCounter {
 public:
  explicit InOrderCounter(std::size_t most) : most_(most) {}
  /// Adds one that is done at `ready`; a full counter first makes the wave wait, until the returned cycle.
  std::uint64_t add(std::uint64_t ready, std::uint64_t now);
  /// Cycle at which at most `count` are outstanding.
  std::uint64_t wait(std::size_t count, std::uint64_t now);

 private:
  std::size_t most_;
  std::uint64_t last_ = 0;
  std::deque<std::uint64_t> done_at_;
};

class WaveTiming {
 public:
  void start(std::uint64_t now) { *this = WaveTiming(), next_issue_ = now; }

  /// Earliest cycle at which `inst` may issue as far as this wave is concerned.
  std::uint64_t earliest(const Inst& inst, const Cost& cost) const;
  /// Notes that it issued at `now`.
  void issued(const Inst& inst, const Cost& cost, std::uint64_t now);
  void delay_until(std::uint64_t cycle) { next_issue_ = std::max(next_issue_, cycle); }

  InOrderCounter vector_memory{63};
  InOrderCounter lgkm{15};  ///< LDS and scalar loads; scalar loads are taken to return in order here

 private:
  std::uint64_t next_issue_ = 0;
  std::array<std::uint64_t, kScalarRegister + sreg::count> ready_{};
  /// For registers that the last MFMA wrote: when an MFMA may accumulate into the same ones.
  std::array<std::uint64_t, kScalarRegister> accumulate_ready_{};
};

}  // namespace headtune::sim
