#include "tuner/sim/grid.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <optional>
#include <thread>

namespace headtune::sim {
namespace {

/// Workgroups are claimed in ascending order, so the failing one with the lowest index is always reached and reported.
class Runner {
 public:
  Runner(const PlacedLaunch& placed, const GridOptions& options) : placed_(placed), options_(options) {}

  void work(std::optional<Fault>& fault, std::uint64_t& failed) {
    Workgroup workgroup(placed_, options_);
    for (std::uint64_t index; (index = next_.fetch_add(1)) < end_.load();) {
      try {
        workgroup.start(index);
        workgroup.run();
      } catch (const Fault& caught) {
        fault = caught;
        failed = index;
        end_.store(0);  // workgroups already begun elsewhere still finish, so the lowest failing one is known
        return;
      } catch (const BadCode& bad) {
        fault = Fault(bad.what());
        failed = index;
        end_.store(0);
        return;
      }
    }
  }

 private:
  const PlacedLaunch& placed_;
  const GridOptions& options_;
  std::atomic<std::uint64_t> next_{0}, end_{placed_.launch().workgroups()};
};

[[noreturn]] void rethrow(const Fault& fault, const Launch& launch, std::uint64_t index) {
  const Extent at = launch.workgroup(index);
  Fault located(fmt::format("{} (workgroup {},{},{})", fault.what(), at[0], at[1], at[2]), fault.lane, fault.address);
  located.pc = fault.pc;
  located.text = fault.text;
  throw located;
}

}  // namespace

bool has_global_atomics(const Program& program) {
  const auto instructions = program.instructions();
  return std::any_of(instructions.begin(), instructions.end(),
                     [](const Inst& inst) { return inst.klass == Class::vmem_atomic; });
}

void run_grid(const Launch& launch, Memory& memory, const GridOptions& options) {
  const PlacedLaunch placed(launch, memory);
  const int wanted = has_global_atomics(*launch.program) ? 1 : options.threads;
  const auto count = static_cast<std::size_t>(std::clamp<std::uint64_t>(launch.workgroups(), 1, std::max(1, wanted)));
  Runner runner(placed, options);
  std::vector<std::optional<Fault>> faults(count);
  std::vector<std::uint64_t> failed(count);
  std::vector<std::thread> threads;
  for (std::size_t i = 1; i < count; ++i) threads.emplace_back([&, i] { runner.work(faults[i], failed[i]); });
  runner.work(faults[0], failed[0]);
  for (std::thread& thread : threads) thread.join();
  std::size_t first = count;
  for (std::size_t i = 0; i < count; ++i) {
    if (faults[i] && (first == count || failed[i] < failed[first])) first = i;
  }
  if (first != count) rethrow(*faults[first], launch, failed[first]);
}

}  // namespace headtune::sim
