#include "tuner/sim/timing_sharing.h"

#include <algorithm>
#include <vector>

#include "tuner/sim/engine.h"
#include "tuner/sim/timing_memory.h"

namespace headtune::sim {
namespace {

constexpr std::uint64_t neighbours = 16;  ///< workgroups looked at
/// Instructions of each wave: past the prologue and some rounds into the main loop.
constexpr std::uint64_t beginning = 1200;

class Reader {
 public:
  Reader(Workgroup& workgroup, std::uint32_t line_bytes) : workgroup_(workgroup), line_bytes_(line_bytes) {}

  /// Distinct lines that the workgroup's vector loads touch, ascending.
  std::vector<std::uint64_t> lines() {
    while (run_to_barrier()) workgroup_.lds().pass_barrier();
    std::sort(lines_.begin(), lines_.end());
    lines_.erase(std::unique(lines_.begin(), lines_.end()), lines_.end());
    return std::move(lines_);
  }

 private:
  /// True when waves wait at a barrier that all have reached.
  bool run_to_barrier() {
    bool waiting = false, cut = false;
    for (Wave* wave : workgroup_.waves()) {
      if (wave->stop == Stop::ended) continue;
      do note(*wave, step(*wave));
      while (wave->stop == Stop::running && wave->instructions < beginning);
      waiting |= wave->stop == Stop::barrier;
      cut |= wave->stop == Stop::running;
    }
    return waiting && !cut;
  }

  void note(const Wave& wave, const Inst& inst) {
    if (inst.klass != Class::vmem_load || wave.access.space != Space::global) return;
    touched_lines(wave.access, line_bytes_, touched_);
    lines_.insert(lines_.end(), touched_.begin(), touched_.end());
  }

  Workgroup& workgroup_;
  std::uint32_t line_bytes_;
  std::vector<std::uint64_t> touched_, lines_;
};

}  // namespace

std::uint32_t sharing_percent(const PlacedLaunch& placed, std::uint32_t line_bytes) {
  Workgroup workgroup(placed, WorkgroupOptions{});
  std::vector<std::uint64_t> all;
  for (std::uint64_t i = 0; i < std::min(neighbours, placed.launch().workgroups()); ++i) {
    workgroup.start(i);
    const auto lines = Reader(workgroup, line_bytes).lines();
    all.insert(all.end(), lines.begin(), lines.end());
  }
  const std::size_t reads = all.size();
  std::sort(all.begin(), all.end());
  const auto distinct = static_cast<std::size_t>(std::unique(all.begin(), all.end()) - all.begin());
  return distinct == 0 ? 100 : static_cast<std::uint32_t>(100 * reads / distinct);
}

}  // namespace headtune::sim
