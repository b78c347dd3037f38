#include "tuner/sim/timing_last.h"

#include <algorithm>
#include <vector>

#include "tuner/sim/engine.h"

namespace headtune::sim {
namespace {

/// What one workgroup did.
struct Work {
  std::uint64_t index = 0, instructions = 0;
  bool counts = false;  ///< updated global memory atomically
};

Work work_of(Workgroup& workgroup, std::uint64_t index) {
  Work work{index};
  workgroup.start(index);
  workgroup.run([&](const Wave& wave, const Inst& inst) {
    ++work.instructions;
    work.counts |= inst.klass == Class::vmem_atomic && wave.access.lanes != 0;
  });
  return work;
}

/// The median: a workgroup that found itself last does more than the usual, a short split less.
std::uint64_t usual(std::vector<Work> counting) {
  const auto middle = counting.begin() + static_cast<std::ptrdiff_t>(counting.size() / 2);
  std::nth_element(counting.begin(), middle, counting.end(),
                   [](const Work& a, const Work& b) { return a.instructions < b.instructions; });
  return middle->instructions;
}

}  // namespace

std::optional<std::uint64_t> last_counting_workgroup(const PlacedLaunch& placed, std::uint64_t cu_count,
                                                     std::uint64_t budget) {
  Workgroup workgroup(placed, WorkgroupOptions{});
  std::vector<Work> counting;  // latest first
  std::uint64_t executed = 0;
  for (std::uint64_t i = placed.launch().workgroups(); i-- > 0 && counting.size() < cu_count && executed < budget;) {
    const Work work = work_of(workgroup, i);
    executed += work.instructions;
    if (work.counts) counting.push_back(work);
  }
  if (counting.empty()) return std::nullopt;
  const std::uint64_t least = usual(counting);
  return std::find_if(counting.begin(), counting.end(), [&](const Work& w) { return w.instructions >= least; })->index;
}

}  // namespace headtune::sim
