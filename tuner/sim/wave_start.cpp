#include "tuner/sim/wave_start.h"

#include <algorithm>

namespace headtune::sim {
namespace {

/// Kernel code properties: which user SGPRs are set up, in this order.
enum Properties : std::uint16_t {
  private_segment_buffer = 1 << 0,
  dispatch_pointer = 1 << 1,
  queue_pointer = 1 << 2,
  kernarg_pointer = 1 << 3,
  dispatch_id = 1 << 4,
  flat_scratch_init = 1 << 5,
  private_segment_size = 1 << 6,
};

/// Bits of COMPUTE_PGM_RSRC2.
constexpr std::uint32_t enable_private_segment = 1 << 0;
constexpr std::uint32_t enable_workgroup_id = 1 << 7;  ///< and the next two for y and z
constexpr std::uint32_t enable_workgroup_info = 1 << 10;
constexpr int work_item_id_shift = 11;  ///< 0: x, 1: x and y, 2: all

/// A processor that preloads kernel arguments starts behind the code that loads them for those that do not.
constexpr std::uint64_t preload_prologue_bytes = 256;
constexpr std::uint32_t register_pattern = 0xffc5'a5a5;  ///< NaN as f32 and as the high bf16

class Sgprs {
 public:
  explicit Sgprs(Wave& wave) : wave_(wave) {}
  void add(std::uint32_t word) { wave_.s[next_++] = word; }
  void add_pair(std::uint64_t value) {
    add(static_cast<std::uint32_t>(value));
    add(static_cast<std::uint32_t>(value >> 32));
  }
  int count() const { return next_; }

 private:
  Wave& wave_;
  int next_ = 0;
};

void add_private_segment_buffer(Sgprs& sgprs) {
  sgprs.add_pair(kScratchDescriptorBase);
  sgprs.add(0xffff'ffff);  // num_records
  sgprs.add(0);
}

void add_preloaded_arguments(Sgprs& sgprs, const Launch& launch) {
  const std::uint32_t words = launch.kernel->kernarg_preload & 0x7f, first = launch.kernel->kernarg_preload >> 7;
  for (std::uint32_t i = 0; i < words; ++i) {
    std::uint32_t word = 0;
    const std::size_t offset = 4 * std::size_t{first + i};
    if (offset + 4 <= launch.kernarg.size()) std::memcpy(&word, launch.kernarg.data() + offset, 4);
    sgprs.add(word);
  }
}

void add_user_sgprs(Sgprs& sgprs, const PlacedLaunch& placed) {
  const Kernel& kernel = *placed.launch().kernel;
  const auto wants = [&](Properties property) { return (kernel.properties & property) != 0; };
  if (wants(private_segment_buffer)) add_private_segment_buffer(sgprs);
  if (wants(dispatch_pointer)) sgprs.add_pair(placed.at().dispatch_packet);
  if (wants(queue_pointer)) sgprs.add_pair(placed.at().queue);
  if (wants(kernarg_pointer)) sgprs.add_pair(placed.at().kernarg);
  if (wants(dispatch_id)) sgprs.add_pair(0);
  if (wants(flat_scratch_init)) sgprs.add_pair(0);
  if (wants(private_segment_size)) sgprs.add(kernel.scratch_bytes);
  add_preloaded_arguments(sgprs, placed.launch());
}

void add_system_sgprs(Sgprs& sgprs, const Kernel& kernel, const Extent& workgroup, Arch arch) {
  for (int axis = 0; axis < 3; ++axis) {
    if (kernel.rsrc2 & (enable_workgroup_id << axis)) sgprs.add(workgroup[axis]);
  }
  if (kernel.rsrc2 & enable_workgroup_info) sgprs.add(0);
  // gfx942 and gfx950 set up flat scratch in hardware and take no offset register.
  if (arch == Arch::gfx90a && (kernel.rsrc2 & enable_private_segment)) sgprs.add(0);
}

/// Work item of the workgroup in this lane, packed 10 bits each.
std::uint32_t packed_ids(const Extent& block, std::uint32_t item, std::uint32_t axes) {
  const std::uint32_t x = item % block[0], y = item / block[0] % block[1], z = item / block[0] / block[1];
  return x | (axes > 0 ? y << 10 : 0) | (axes > 1 ? z << 20 : 0);
}

}  // namespace

void set_start_scalars(Wave& wave, const PlacedLaunch& placed, const Extent& workgroup) {
  const Launch& launch = placed.launch();
  const Kernel& kernel = *launch.kernel;
  wave.mode = kernel.start_mode();
  wave.pc = kernel.entry_index;
  if (kernel.kernarg_preload & 0x7f) {
    wave.pc = launch.program->index_of(launch.program->base() + kernel.entry + preload_prologue_bytes);
  }
  Sgprs sgprs(wave);
  add_user_sgprs(sgprs, placed);
  if (static_cast<std::uint32_t>(sgprs.count()) > kernel.user_sgprs()) {
    throw BadCode("kernel " + kernel.name + " asks for more user SGPRs than its descriptor counts");
  }
  while (static_cast<std::uint32_t>(sgprs.count()) < kernel.user_sgprs()) sgprs.add(0);
  add_system_sgprs(sgprs, kernel, workgroup, wave.arch);
}

void set_start_lanes(Wave& wave, const Launch& launch) {
  const Kernel& kernel = *launch.kernel;
  const auto fill = [&](int first, std::uint32_t count) {
    const std::uint32_t limited = std::min<std::uint32_t>(count, kFirstAccumulation);
    std::fill_n(&wave.v[first][0], std::size_t{limited} * kLanes, register_pattern);
  };
  const std::uint32_t architected = std::min(kernel.accum_offset(), kernel.vgprs());
  fill(0, architected);
  fill(kFirstAccumulation, kernel.vgprs() - architected);
  const std::uint32_t first = wave.wave_in_group * kLanes;
  const std::uint32_t items = std::min<std::uint32_t>(kLanes, launch.threads() - first);
  const std::uint32_t axes = kernel.rsrc2 >> work_item_id_shift & 3;
  for (std::uint32_t lane = 0; lane < items; ++lane) wave.v[0][lane] = packed_ids(launch.block, first + lane, axes);
  wave.set_exec(items == kLanes ? ~std::uint64_t{0} : (std::uint64_t{1} << items) - 1);
}

}  // namespace headtune::sim
