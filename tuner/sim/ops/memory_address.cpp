#include "tuner/sim/ops/memory_address.h"

#include <algorithm>

namespace headtune::sim::HEADTUNE_SIM_ISA {
namespace {

void record(Wave& wave, Space space, const Request& request) {
  Access& access = wave.access;
  access.space = space;
  access.load = request.use != Use::store;
  access.store = request.use != Use::load;
  access.bytes = request.bytes;
  access.parts = 1;
  access.part_stride = 0;
  access.to_lds = false;
  access.lanes = wave.exec();
  ++wave.vector_memory_issued;
}

void require_aligned(const Access& access, std::uint32_t align) {
  for_lanes(access.lanes, [&](int lane) {
    if (access.address[lane] % align) throw Fault("misaligned atomic", lane, access.address[lane]);
  });
}

/// Host pointers of global addresses in wave.access.
void resolve_global(Wave& wave, const Request& request, Pointers& to) {
  const Access& access = wave.access;
  const Memory& memory = *wave.memory;
  to.active = access.lanes;
  if (to.active == 0) return;
  std::uint64_t first = ~std::uint64_t{0}, last = 0;
  for (int lane = 0; lane < kLanes; ++lane) {
    const std::uint64_t on = -(to.active >> lane & 1);
    first = std::min(first, access.address[lane] | ~on);
    last = std::max(last, access.address[lane] & on);
  }
  if (request.align > 1) require_aligned(access, request.align);
  Block* block = memory.block_at(first);
  const bool load = request.use == Use::load;
  const bool unchecked = block && (memory.in_trial() ? load  // a trial's stores are kept for its roll-back
                                                     : block->all_written || (load && !memory.checks_uninitialised()));
  if (block && unchecked && block->covers(first, last, request.bytes)) {
    for (int lane = 0; lane < kLanes; ++lane) to.lane[lane] = block->host + (access.address[lane] - block->base);
    return;
  }
  for_lanes(to.active,
            [&](int lane) { to.lane[lane] = memory.access(access.address[lane], request.bytes, request.use, lane); });
}

std::byte* scratch_at(const Wave& wave, std::uint64_t offset, std::uint32_t bytes, int lane) {
  if (offset + bytes > wave.scratch_per_lane || offset + bytes < offset)
    throw Fault("access outside the lane's private memory", lane, offset);
  return wave.scratch + std::uint64_t{wave.scratch_per_lane} * lane + offset;
}

void resolve_scratch(Wave& wave, const Request& request, Pointers& to) {
  to.active = wave.access.lanes;
  for_lanes(to.active,
            [&](int lane) { to.lane[lane] = scratch_at(wave, wave.access.address[lane], request.bytes, lane); });
}

bool is_private(std::uint64_t address) { return address >> 32 == kPrivateAperture >> 32; }
bool is_shared(std::uint64_t address) { return address >> 32 == kSharedAperture >> 32; }

std::byte* flat_at(Wave& wave, std::uint64_t address, const Request& request, int lane) {
  const auto offset = static_cast<std::uint32_t>(address);
  if (is_private(address)) return scratch_at(wave, offset, request.bytes, lane);
  if (!is_shared(address)) return wave.memory->access(address, request.bytes, request.use, lane);
  wave.lds->require(offset, request.bytes, std::min(request.bytes, 4u), lane);
  wave.lds->note(offset, request.bytes, request.use, wave.wave_in_group, lane);
  return wave.lds->data() + offset;
}

/// Offset of each lane and, for structured buffers, its index.
struct BufferOffsets {
  std::uint32_t offset[kLanes];
  std::uint32_t index[kLanes];
};

void buffer_offsets(const Wave& wave, const Inst& inst, int first, const Buffer& buffer, BufferOffsets& to) {
  const Operand& vaddr = inst.op[first];
  for (int lane = 0; lane < kLanes; ++lane) {
    to.index[lane] = (inst.idxen ? wave.v[vaddr.index][lane] : 0) + (buffer.add_tid ? lane : 0);
    to.offset[lane] =
        (inst.offen ? wave.v[vaddr.index + inst.idxen][lane] : 0) + static_cast<std::uint32_t>(inst.offset);
  }
}

/// gfx90a's scratch: the scalar offset counts bytes of the whole wave, the vector offset those of one lane.
void point_scratch_buffer(Wave& wave, const BufferOffsets& offsets, std::uint32_t scalar, const Request& request,
                          Pointers& to) {
  record(wave, Space::scratch, request);
  for (int lane = 0; lane < kLanes; ++lane) wave.access.address[lane] = offsets.offset[lane] + scalar / kLanes;
  resolve_scratch(wave, request, to);
}

/// Bytes of the access, from its start, that the descriptor lets through. Raw: each dword is checked, without the
/// scalar offset. Structured: the index alone decides.
std::uint32_t bytes_in_range(const Buffer& buffer, bool structured, std::uint32_t index, std::uint32_t offset,
                             std::uint32_t bytes) {
  if (structured) return index < buffer.records ? bytes : 0;
  if (offset >= buffer.records) return 0;
  const std::uint32_t left = buffer.records - offset;
  return left >= bytes ? bytes : left / 4 * 4;
}

/// A lane that the descriptor excludes, wholly or from `good` bytes on.
void pad_lane(Wave& wave, const Request& request, std::uint32_t good, int lane, Pointers& to) {
  if (request.use == Use::atomic) good = 0;  // all or nothing
  std::memset(to.pad[lane], 0, sizeof to.pad[lane]);
  to.lane[lane] = to.pad[lane];
  to.padded |= std::uint64_t{1} << lane;
  for (std::uint32_t part = 0; part < 4; ++part) {
    to.part[lane][part] = nullptr;
    if (part * 4 >= good) continue;
    to.part[lane][part] = wave.memory->access(wave.access.address[lane] + part * 4, 4, request.use, lane);
    if (request.use == Use::load) std::memcpy(to.pad[lane] + part * 4, to.part[lane][part], 4);
  }
}

}  // namespace

void point_global(Wave& wave, const Inst& inst, const Request& request, Pointers& to) {
  record(wave, Space::global, request);
  const Operand& vaddr = inst.op[request.first];
  const Operand& saddr = inst.op[inst.count - 1];
  std::uint64_t* address = wave.access.address;
  const std::uint32_t* low = wave.v[vaddr.index];
  if (vaddr.words == 1) {
    const std::uint64_t base = wave.pair(saddr.index) + inst.offset;
    for (int lane = 0; lane < kLanes; ++lane) address[lane] = base + low[lane];
  } else {
    const std::uint32_t* high = wave.v[vaddr.index + 1];
    for (int lane = 0; lane < kLanes; ++lane)
      address[lane] = (std::uint64_t{high[lane]} << 32 | low[lane]) + inst.offset;
  }
  resolve_global(wave, request, to);
}

void point_flat(Wave& wave, const Inst& inst, const Request& request, Pointers& to) {
  record(wave, Space::global, request);
  const std::uint32_t* low = wave.v[inst.op[request.first].index];
  const std::uint32_t* high = wave.v[inst.op[request.first].index + 1];
  std::uint64_t* address = wave.access.address;
  bool apertures = false;
  for (int lane = 0; lane < kLanes; ++lane) {
    address[lane] = (std::uint64_t{high[lane]} << 32 | low[lane]) + inst.offset;
    apertures |= (wave.access.lanes >> lane & 1) && (is_private(address[lane]) || is_shared(address[lane]));
  }
  if (!apertures) return resolve_global(wave, request, to);
  to.active = wave.access.lanes;
  if (request.align > 1) require_aligned(wave.access, request.align);
  for_lanes(to.active, [&](int lane) { to.lane[lane] = flat_at(wave, address[lane], request, lane); });
  const int lane = __builtin_ctzll(to.active);
  wave.access.space = is_private(address[lane])  ? Space::scratch
                      : is_shared(address[lane]) ? Space::lds
                                                 : Space::global;
}

void point_scratch(Wave& wave, const Inst& inst, const Request& request, Pointers& to) {
  record(wave, Space::scratch, request);
  const Operand& vaddr = inst.op[request.first];
  const Operand& saddr = inst.op[inst.count - 1];
  const std::uint32_t scalar = saddr.kind == Kind::scalar ? wave.s[saddr.index] : 0;
  for (int lane = 0; lane < kLanes; ++lane) {
    const std::uint32_t vector = vaddr.kind == Kind::vector ? wave.v[vaddr.index][lane] : 0;
    wave.access.address[lane] = std::uint32_t{vector + scalar + static_cast<std::uint32_t>(inst.offset)};
  }
  resolve_scratch(wave, request, to);
}

void point_buffer(Wave& wave, const Inst& inst, const Request& request, Pointers& to) {
  // Without an address register LLVM may leave the operand out (the LDS forms).
  const int resource = inst.op[request.first].words == 4 ? request.first : request.first + 1;
  const Buffer buffer = Buffer::of(wave, inst.op[resource]);
  const std::uint32_t scalar = scalar_word(wave, inst.op[resource + 1]);
  BufferOffsets offsets;
  buffer_offsets(wave, inst, request.first, buffer, offsets);
  if (buffer.base >= kScratchDescriptorBase) return point_scratch_buffer(wave, offsets, scalar, request, to);
  if (buffer.swizzle) throw Fault("swizzled buffer descriptors are not simulated");
  record(wave, Space::global, request);
  std::uint64_t inside = 0, partly = 0;
  std::uint32_t good[kLanes];
  for_lanes(wave.exec(), [&](int lane) {
    const std::uint64_t bit = std::uint64_t{1} << lane;
    wave.access.address[lane] =
        buffer.base + scalar + std::uint64_t{buffer.stride} * offsets.index[lane] + offsets.offset[lane];
    good[lane] = bytes_in_range(buffer, inst.idxen, offsets.index[lane], offsets.offset[lane], request.bytes);
    (good[lane] == request.bytes ? inside : partly) |= bit;
  });
  wave.access.lanes = inside;
  resolve_global(wave, request, to);
  for_lanes(partly, [&](int lane) { pad_lane(wave, request, good[lane], lane, to); });
  to.active = inside | partly;
}

void finish_store(const Pointers& pointers, std::uint32_t bytes) {
  for_lanes(pointers.padded, [&](int lane) {
    for (std::uint32_t part = 0; part * 4 < bytes; ++part)
      if (pointers.part[lane][part]) std::memcpy(pointers.part[lane][part], pointers.pad[lane] + part * 4, 4);
  });
}

}  // namespace headtune::sim::HEADTUNE_SIM_ISA
