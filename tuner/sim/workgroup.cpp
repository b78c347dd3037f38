#include "tuner/sim/workgroup.h"

#include <fmt/format.h>

#include <algorithm>

#include "tuner/sim/engine.h"
#include "tuner/sim/wave_start.h"

namespace headtune::sim {
namespace {

constexpr std::uint64_t queue_bytes = 256;  ///< of amd_queue_t
/// Of the kernel argument segment. The compiler relies on it: a load of several arguments may run past the last one.
constexpr std::size_t kernarg_align = 16;
/// Instructions that a wave runs before the next gets its turn: waves may wait for each other through LDS.
constexpr std::uint64_t turn = 100'000;

/// hsa_kernel_dispatch_packet_t
struct DispatchPacket {
  std::uint16_t header = 0, setup = 3;
  std::uint16_t workgroup_size[3] = {};
  std::uint16_t reserved0 = 0;
  std::uint32_t grid_size[3] = {};  ///< work items
  std::uint32_t private_segment_size = 0, group_segment_size = 0;
  std::uint64_t kernel_object = 0, kernarg_address = 0, reserved2 = 0, completion_signal = 0;
};
static_assert(sizeof(DispatchPacket) == 64);

DispatchPacket packet_of(const Launch& launch, std::uint64_t kernarg) {
  DispatchPacket packet;
  for (int axis = 0; axis < 3; ++axis) {
    packet.workgroup_size[axis] = static_cast<std::uint16_t>(launch.block[axis]);
    packet.grid_size[axis] = launch.grid[axis] * launch.block[axis];
  }
  packet.private_segment_size = launch.kernel->scratch_bytes;
  packet.group_segment_size = launch.lds_bytes();
  packet.kernarg_address = kernarg;
  return packet;
}

}  // namespace

PlacedLaunch::PlacedLaunch(const Launch& launch, Memory& memory) : launch_(launch), memory_(memory) {
  std::vector<std::byte> kernarg = launch.kernarg;
  kernarg.resize((kernarg.size() + kernarg_align - 1) / kernarg_align * kernarg_align);
  at_.kernarg = memory.allocate(kernarg.size(), "kernel arguments");
  memory.write(at_.kernarg, kernarg.data(), kernarg.size());
  const DispatchPacket packet = packet_of(launch, at_.kernarg);
  at_.dispatch_packet = memory.allocate(sizeof packet, "dispatch packet");
  memory.write(at_.dispatch_packet, &packet, sizeof packet);
  at_.queue = memory.allocate(queue_bytes, "queue descriptor");
  memory.fill(at_.queue, 0, queue_bytes);
}

PlacedLaunch::~PlacedLaunch() {
  for (std::uint64_t address : {at_.kernarg, at_.dispatch_packet, at_.queue}) memory_.release(address);
}

Workgroup::Workgroup(const PlacedLaunch& launch, const WorkgroupOptions& options)
    : launch_(launch), options_(options), lds_(launch.launch().lds_bytes(), options.check_races) {
  const Launch& what = launch.launch();
  scratch_.resize(std::size_t{what.waves()} * kLanes * what.kernel->scratch_bytes);
  for (std::uint32_t i = 0; i < what.waves(); ++i) waves_.push_back(std::make_unique<Wave>());
}

void Workgroup::start(std::uint64_t linear_index) {
  lds_.reset();
  std::fill_n(lds_.data(), lds_.size(), std::byte{0xff});
  for (std::uint32_t i = 0; i < waves_.size(); ++i) start_wave(*waves_[i], i, linear_index);
}

void Workgroup::start_wave(Wave& wave, std::uint32_t index, std::uint64_t linear_index) {
  const Launch& launch = launch_.launch();
  const std::uint32_t per_lane = launch.kernel->scratch_bytes;
  wave.reset();
  wave.arch = launch.program->arch();
  wave.program = launch.program.get();
  wave.memory = &launch_.memory();
  wave.lds = &lds_;
  wave.wave_in_group = index;
  wave.workgroup = linear_index;
  wave.scratch = scratch_.data() + std::size_t{index} * kLanes * per_lane;
  wave.scratch_per_lane = per_lane;
  wave.random_state = static_cast<std::uint32_t>(linear_index * waves_.size() + index + 1);
  set_start_scalars(wave, launch_, launch.workgroup(linear_index));
  set_start_lanes(wave, launch);
}

void Workgroup::run() {
  while (run_to_barrier([](Wave& wave) { return sim::run(wave, turn); })) lds_.pass_barrier();
}

void Workgroup::run(const std::function<void(const Wave&, const Inst&)>& executed) {
  const auto take_turn = [&](Wave& wave) {
    std::uint64_t left = turn;
    do executed(wave, step(wave));
    while (wave.stop == Stop::running && --left != 0);
    return wave.stop;
  };
  while (run_to_barrier(take_turn)) lds_.pass_barrier();
}

template <class TakeTurn>
bool Workgroup::run_to_barrier(const TakeTurn& take_turn) {
  std::vector<Wave*> going;
  for (const auto& wave : waves_) {
    if (wave->stop != Stop::ended) going.push_back(wave.get());
  }
  bool at_barrier = false;
  while (!going.empty()) {
    std::erase_if(going, [&](Wave* wave) {
      const Stop stop = take_turn(*wave);
      if (wave->instructions > options_.max_instructions_per_wave) {
        throw Fault(fmt::format("wave still running after {} instructions", wave->instructions));
      }
      at_barrier |= stop == Stop::barrier;
      return stop != Stop::running;
    });
  }
  return at_barrier;
}

std::vector<Wave*> Workgroup::waves() const {
  std::vector<Wave*> result;
  for (const auto& wave : waves_) result.push_back(wave.get());
  return result;
}

}  // namespace headtune::sim
