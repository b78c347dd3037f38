#include "tuner/sim/timing.h"

#include <algorithm>
#include <array>
#include <optional>

#include "tuner/sim/engine.h"
#include "tuner/sim/grid.h"
#include "tuner/sim/timing_last.h"
#include "tuner/sim/timing_memory.h"
#include "tuner/sim/timing_sharing.h"
#include "tuner/sim/timing_table.h"
#include "tuner/sim/timing_wave.h"
#include "tuner/sim/workgroup.h"

namespace headtune::sim {
namespace {

constexpr std::uint64_t never = ~std::uint64_t{0};

/// Cycle at which each unit is free: those of one SIMD, and LDS and vector memory of the CU in SIMD 0's place.
struct Units {
  static constexpr int simds = 4;
  std::array<std::array<std::uint64_t, static_cast<int>(Unit::count)>, simds> free_at{};

  std::uint64_t& at(int simd, Unit unit) {
    const bool of_cu = unit == Unit::lds || unit == Unit::vmem;
    return free_at[of_cu ? 0 : simd][static_cast<int>(unit)];
  }
};

struct Slot;

struct RunningWave {
  Wave* wave = nullptr;
  WaveTiming timing;
  Slot* slot = nullptr;
  int simd = 0;
  bool at_barrier = false;
  std::uint64_t earliest = never;  ///< of the next instruction, without units; never: not running
};

/// Room for one resident workgroup.
struct Slot {
  std::unique_ptr<Workgroup> workgroup;
  std::vector<RunningWave> waves;
  std::uint32_t left = 0;     ///< waves not yet ended
  std::uint32_t waiting = 0;  ///< waves at the barrier
};

class Cu {
 public:
  /// `last` is a workgroup of the simulated CU, where it matters which one that is: the last that counts itself.
  Cu(const PlacedLaunch& placed, const DeviceModel& device, const TimingOptions& options, std::uint32_t sharing,
     std::optional<std::uint64_t> last)
      : placed_(placed),
        launch_(placed.launch()),
        table_(cost_table(device.arch)),
        device_(device),
        options_(options),
        sharing_(sharing),
        last_(last),
        memory_(device, table_, std::min(launch_.workgroups(), cu_count()), sharing) {
    for (const Inst& inst : launch_.program->instructions()) costs_.push_back(cost_of(inst, table_));
  }

  Estimate run() {
    if (last_) run_others();
    make_slots();
    for (Slot& slot : slots_) start_next(slot, 0);
    while (RunningWave* wave = pick()) issue(*wave);
    return finish();
  }

 private:
  std::uint64_t cu_count() const { return static_cast<std::uint64_t>(device_.facts->cu_count); }
  /// Workgroups are dealt out round robin over dies, then over the CUs of a die: CU 0 gets 0, n, 2n, ...
  std::uint64_t cu_workgroups() const { return (launch_.workgroups() - 1 - first()) / cu_count() + 1; }
  /// The `k`-th workgroup of the simulated CU.
  std::uint64_t workgroup_index(std::uint64_t k) const { return first() + k * cu_count(); }
  std::uint64_t first() const { return last_ ? *last_ % cu_count() : 0; }

  /// Whether `index` differs from the last workgroup in one dimension of the grid: those that share a counter with it
  /// do.
  bool in_line_with_last(std::uint64_t index) const {
    int differing = 0;
    std::uint64_t last = *last_;
    for (const std::uint64_t size : launch_.grid) {
      differing += index % size != last % size;
      index /= size, last /= size;
    }
    return differing == 1;
  }

  /// The workgroups in line with the last one but for this CU's own, latest first.
  void run_others() {
    Workgroup workgroup(placed_, WorkgroupOptions{});
    std::uint64_t executed = 0;
    for (std::uint64_t i = launch_.workgroups(); i-- > 0 && executed < options_.others_budget;) {
      if (i % cu_count() == first() || !in_line_with_last(i)) continue;
      workgroup.start(i);
      workgroup.run();
      for (const Wave* wave : workgroup.waves()) executed += wave->instructions;
    }
  }

  void make_slots() {
    const int resident = occupancy(device_, *launch_.kernel, launch_.threads(), launch_.dynamic_lds).workgroups;
    if (resident == 0) throw Fault("the workgroup does not fit a CU");
    result_.resident_workgroups = resident;
    slots_.resize(std::min<std::uint64_t>(static_cast<std::uint64_t>(resident), cu_workgroups()));
    for (Slot& slot : slots_) {
      slot.workgroup = std::make_unique<Workgroup>(placed_, WorkgroupOptions{});
      slot.waves.resize(launch_.waves());
      for (RunningWave& wave : slot.waves) order_.push_back(&wave);
    }
  }

  bool over_budget() const { return result_.instructions > options_.instruction_budget; }

  void start_next(Slot& slot, std::uint64_t now) {
    if (started_ == cu_workgroups() || over_budget()) return;
    slot.workgroup->start(workgroup_index(started_++));
    dispatched_ = std::max(now, dispatched_ + table_.dispatch);
    const auto waves = slot.workgroup->waves();
    slot.left = launch_.waves();
    slot.waiting = 0;
    for (std::size_t i = 0; i < waves.size(); ++i) start_wave(slot, slot.waves[i], *waves[i]);
  }

  void start_wave(Slot& slot, RunningWave& running, Wave& wave) {
    running.wave = &wave;
    running.slot = &slot;
    running.at_barrier = false;
    running.simd = least_loaded_simd();
    ++load_[running.simd];
    running.timing.start(dispatched_ + table_.wave_start);
    refresh(running);
  }

  int least_loaded_simd() const {
    return static_cast<int>(std::min_element(load_.begin(), load_.end()) - load_.begin());
  }

  const Inst& next_inst(const RunningWave& running) const {
    const auto instructions = launch_.program->instructions();
    if (running.wave->pc >= instructions.size()) throw Fault("execution ran past the last instruction");
    return instructions[running.wave->pc];
  }

  void refresh(RunningWave& running) {
    running.earliest = running.timing.earliest(next_inst(running), costs_[running.wave->pc]);
  }

  /// The wave that may issue first; among equals the one that was placed first.
  RunningWave* pick() {
    RunningWave* best = nullptr;
    std::uint64_t best_at = never;
    for (RunningWave* wave : order_) {
      if (wave->earliest >= best_at) continue;
      const std::uint64_t at = std::max(wave->earliest, unit_free(*wave));
      if (at < best_at) best = wave, best_at = at;
    }
    now_ = best_at;
    return best;
  }

  /// An MFMA also takes the vector ALU's issue slot.
  std::uint64_t unit_free(const RunningWave& running) {
    const Cost& cost = costs_[running.wave->pc];
    if (cost.unit == Unit::none) return 0;
    const std::uint64_t free_at = units_.at(running.simd, cost.unit);
    return cost.unit == Unit::mfma ? std::max(free_at, units_.at(running.simd, Unit::valu)) : free_at;
  }

  void issue(RunningWave& running) {
    const std::uint32_t index = running.wave->pc;
    const Cost& cost = costs_[index];
    running.wave->cycles = now_;
    const Inst& inst = step(*running.wave);
    ++result_.instructions;
    running.timing.issued(inst, cost, now_);
    occupy(running, cost);
    memory_effects(running, inst, index);
    if (inst.klass == Class::branch && running.wave->pc != index + 1)
      running.timing.delay_until(now_ + table_.branch_taken);
    if (inst.klass == Class::wait) wait(running, inst.waits);
    if (running.wave->stop == Stop::ended) return end_wave(running);
    if (running.wave->stop == Stop::barrier) return reach_barrier(running);
    refresh(running);
  }

  void occupy(const RunningWave& running, const Cost& cost) {
    if (cost.unit == Unit::none) return;
    units_.at(running.simd, cost.unit) = now_ + cost.busy;
    if (cost.unit == Unit::valu) result_.valu_cycles += cost.busy;
    if (cost.unit == Unit::mfma) {
      result_.mfma_cycles += cost.busy;
      units_.at(running.simd, Unit::valu) = now_ + table_.issue;
    }
  }

  void memory_effects(RunningWave& running, const Inst& inst, std::uint32_t index) {
    const Access& access = running.wave->access;
    switch (inst.klass) {
      case Class::lds: {
        const auto result = memory_.lds_access(access, index, now_);
        units_.at(0, Unit::lds) = now_ + result.busy;
        running.timing.delay_until(running.timing.lgkm.add(result.ready, now_));
        break;
      }
      case Class::vmem_load:
      case Class::vmem_store:
      case Class::vmem_atomic: {
        const auto result = memory_.vector_access(access, now_);
        units_.at(0, Unit::vmem) = now_ + result.busy;
        units_.at(0, Unit::lds) = std::max(units_.at(0, Unit::lds), now_) + memory_.lds_fill_cycles(access);
        running.timing.delay_until(running.timing.vector_memory.add(result.ready, now_));
        break;
      }
      case Class::smem:
        running.timing.delay_until(running.timing.lgkm.add(memory_.scalar_access(access, now_), now_));
        break;
      default:
        break;
    }
  }

  void wait(RunningWave& running, const Waits& waits) {
    const std::uint64_t vector_done = running.timing.vector_memory.wait(waits.vmcnt, now_);
    const std::uint64_t until = running.timing.lgkm.wait(waits.lgkmcnt, vector_done);
    result_.memory_wait_cycles += until - now_;
    running.timing.delay_until(until);
  }

  void reach_barrier(RunningWave& running) {
    running.at_barrier = true;
    running.earliest = never;
    ++running.slot->waiting;
    release_if_complete(*running.slot);
  }

  void release_if_complete(Slot& slot) {
    if (slot.waiting == 0 || slot.waiting != slot.left) return;
    slot.workgroup->lds().pass_barrier();
    slot.waiting = 0;
    for (RunningWave& wave : slot.waves) {
      if (!wave.at_barrier) continue;
      wave.at_barrier = false;
      wave.timing.delay_until(now_ + table_.barrier);
      refresh(wave);
    }
  }

  void end_wave(RunningWave& running) {
    running.earliest = never;
    --load_[running.simd];
    end_ = std::max(end_, now_);
    Slot& slot = *running.slot;
    if (--slot.left != 0) return release_if_complete(slot);
    ++result_.workgroups;
    start_next(slot, now_);
  }

  Estimate finish() {
    memory_.count_into(result_);
    result_.sharing_percent = sharing_;
    result_.cu_workgroups = cu_workgroups();
    // What the budget left out takes as long as what was run, per workgroup.
    result_.cycles = end_ * result_.cu_workgroups / std::max<std::uint64_t>(result_.workgroups, 1);
    result_.microseconds = table_.launch_us + static_cast<double>(result_.cycles) / (device_.facts->clock_ghz * 1e3);
    return result_;
  }

  const PlacedLaunch& placed_;
  const Launch& launch_;
  const CostTable& table_;
  const DeviceModel& device_;
  const TimingOptions& options_;
  std::uint32_t sharing_;
  std::optional<std::uint64_t> last_;
  CuMemory memory_;
  std::vector<Cost> costs_;
  std::vector<Slot> slots_;
  std::vector<RunningWave*> order_;
  Units units_;
  std::array<int, Units::simds> load_{};
  std::uint64_t started_ = 0;
  std::uint64_t dispatched_ = 0;
  std::uint64_t now_ = 0;
  std::uint64_t end_ = 0;
  Estimate result_;
};

/// Undoes the sample's stores, whatever happens.
class Trial {
 public:
  explicit Trial(Memory& memory) : memory_(memory) { memory_.begin_trial(); }
  ~Trial() { memory_.roll_back(); }
  Trial(const Trial&) = delete;
  Trial& operator=(const Trial&) = delete;

 private:
  Memory& memory_;
};

}  // namespace

Estimate estimate(const Launch& launch, Memory& memory, const DeviceModel& device, const TimingOptions& options) {
  const PlacedLaunch placed(launch, memory);
  std::uint32_t sharing = 100;
  std::optional<std::uint64_t> last;
  {
    const Trial trial(memory);
    sharing = sharing_percent(placed, cost_table(device.arch).line_bytes);
  }
  if (has_global_atomics(*launch.program)) {  // the workgroup that finds itself last may do more than the others
    const Trial trial(memory);
    last = last_counting_workgroup(placed, static_cast<std::uint64_t>(device.facts->cu_count), options.trailing_budget);
  }
  const Trial trial(memory);
  return Cu(placed, device, options, sharing, last).run();
}

std::map<std::string, long long> counters_of(const Estimate& e) {
  const auto count = [](std::uint64_t n) { return static_cast<long long>(n); };
  return {{"instructions", count(e.instructions)},
          {"memory_lines", count(e.memory_lines)},
          {"l2_lines", count(e.l2_lines)},
          {"lds_conflict_cycles", count(e.lds_conflict_cycles)},
          {"cycles", count(e.cycles)}};
}

}  // namespace headtune::sim
