#include "tuner/sim/memory.h"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <new>

namespace headtune::sim {
namespace {

constexpr std::uint64_t kSlotBytes = std::uint64_t{1} << 32;
constexpr std::uint32_t kSlots = 0xf000;                    ///< the rest of the 48-bit space is kScratchDescriptorBase
constexpr std::uint64_t kStart = kSlotBytes - 0x2'0000;     ///< offset of an allocation in its first window
constexpr std::uint64_t kLargest = std::uint64_t{1} << 40;  ///< per allocation; more is a wrong size, not a need

void* map(std::uint64_t bytes) {
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  return memory;
}

void drop(Block& block) {
  munmap(block.host, block.bytes);
  munmap(block.written, (block.bytes + 3) / 4);
  block.host = nullptr;
  block.written = nullptr;
}

/// Bits of the mask of one dword for bytes [first, last) of it.
std::uint8_t dword_mask(std::uint64_t first, std::uint64_t last) {
  return static_cast<std::uint8_t>(((1u << last) - 1) & ~((1u << first) - 1));
}

/// Calls f(dword index, mask) for every dword that [offset, offset + size) touches.
template <class F>
void for_dwords(std::uint64_t offset, std::uint64_t size, F f) {
  for (std::uint64_t at = offset, end = offset + size; at < end;) {
    const std::uint64_t next = std::min(end, (at | 3) + 1);
    f(at / 4, dword_mask(at & 3, next - (at & ~std::uint64_t{3})));
    at = next;
  }
}

const char* verb(Use use) { return use == Use::load ? "read" : use == Use::store ? "write" : "atomic"; }

std::string where(const Block& block, std::uint64_t address) {
  if (block.freed) return fmt::format("{} of {} bytes, already freed", block.label, block.bytes);
  if (address < block.base)
    return fmt::format("{} bytes before {} of {} bytes", block.base - address, block.label, block.bytes);
  const std::uint64_t offset = address - block.base;
  if (offset >= block.bytes)
    return fmt::format("{} bytes past the end of {} of {} bytes", offset - block.bytes, block.label, block.bytes);
  return fmt::format("byte {} of {} of {} bytes", offset, block.label, block.bytes);
}

}  // namespace

bool Block::is_written(std::uint64_t address, std::uint64_t size) const {
  const std::uint64_t offset = address - base;
  if (all_written || offset + size <= written_prefix) return true;
  bool all = true;
  for_dwords(offset, size, [&](std::uint64_t dword, std::uint8_t mask) { all &= (written[dword] & mask) == mask; });
  return all;
}

void Block::mark_written(std::uint64_t address, std::uint64_t size) {
  if (all_written) return;
  const std::uint64_t offset = address - base;
  if (offset % 4 == 0 && size % 4 == 0) {
    std::memset(written + offset / 4, 15, size / 4);
    return;
  }
  // Neighbouring threads may write bytes of the same dword.
  for_dwords(offset, size, [&](std::uint64_t dword, std::uint8_t mask) {
    if (mask == 15)
      written[dword] = 15;
    else
      __atomic_fetch_or(&written[dword], mask, __ATOMIC_RELAXED);
  });
}

Memory::Memory() : slots_(std::size_t{1} << 16, nullptr) {}

Memory::~Memory() {
  for (const auto& block : blocks_)
    if (!block->freed) drop(*block);
}

std::uint32_t Memory::take_slots(std::uint32_t count) {
  const auto free_slot = [&](std::uint32_t slot) { return !slots_[slot] || slots_[slot]->freed; };
  // Round robin: a freed allocation's addresses come back as late as possible.
  for (std::uint32_t tried = 0, run = 0, slot = next_slot_; tried < 2 * kSlots; ++tried) {
    if (slot >= kSlots) slot = 1, run = 0;
    run = free_slot(slot++) ? run + 1 : 0;
    if (run == count) {
      next_slot_ = slot;
      return slot - count;
    }
  }
  throw std::bad_alloc();
}

std::uint64_t Memory::allocate(std::uint64_t bytes, std::string label) {
  bytes = std::max<std::uint64_t>(bytes, 1);
  if (bytes > kLargest) throw std::bad_alloc();
  const auto count = static_cast<std::uint32_t>((kStart + bytes - 1) / kSlotBytes + 1);
  const std::uint32_t slot = take_slots(count);
  auto block = std::make_unique<Block>();
  block->base = slot * kSlotBytes + kStart;
  block->bytes = bytes;
  block->label = std::move(label);
  block->host = static_cast<std::byte*>(map(bytes));
  block->written = static_cast<std::uint8_t*>(map((bytes + 3) / 4));
  std::fill_n(slots_.begin() + slot, count, block.get());
  bytes_in_use_ += bytes;
  blocks_.push_back(std::move(block));
  return blocks_.back()->base;
}

void Memory::release(std::uint64_t address) {
  Block* block = block_at(address);
  if (!block || block->base != address) throw Fault("free of an address that no allocation starts at", -1, address);
  if (block->freed) throw Fault(fmt::format("{} was already freed", block->label), -1, address);
  drop(*block);
  block->freed = true;
  bytes_in_use_ -= block->bytes;
}

void Memory::fault_outside(std::uint64_t address, std::uint64_t bytes, Use use, int lane) const {
  const Block* near = block_at(address);
  // An address short of the allocation of its window may be meant for the one below.
  const Block* below = address >= kSlotBytes ? block_at(address - kSlotBytes) : nullptr;
  if (below && (!near || (address < near->base && near->base - address > address - below->base - below->bytes)))
    near = below;
  throw Fault(fmt::format("{} of {} bytes outside every allocation, {}", verb(use), bytes,
                          near ? where(*near, address) : "at no known allocation"),
              lane, address);
}

Block& Memory::live(std::uint64_t address, std::uint64_t bytes, Use use) const {
  Block* block = block_at(address);
  if (block && block->freed)
    throw Fault(fmt::format("{} after free: {}", verb(use), where(*block, address)), -1, address);
  if (!block || !block->covers(address, address, bytes)) fault_outside(address, bytes, use, -1);
  return *block;
}

std::byte* Memory::access(std::uint64_t address, std::uint32_t bytes, Use use, int lane) const {
  Block* block = block_at(address);
  if (!block || !block->covers(address, address, bytes)) {
    if (block && block->freed)
      throw Fault(fmt::format("{} of {} bytes after free, {}", verb(use), bytes, where(*block, address)), lane,
                  address);
    fault_outside(address, bytes, use, lane);
  }
  if (in_trial_) return trial_access(block->at(address), bytes, use);
  if (block->all_written) return block->at(address);
  if (use != Use::store && check_uninitialised_ && !block->is_written(address, bytes))
    throw Fault(fmt::format("{} of {} never-written bytes, {}", verb(use), bytes, where(*block, address)), lane,
                address);
  if (use != Use::load) block->mark_written(address, bytes);
  return block->at(address);
}

void Memory::begin_trial() {
  in_trial_ = true;
  journal_.clear();
}

std::byte* Memory::trial_access(std::byte* at, std::uint32_t bytes, Use use) const {
  if (use == Use::load) return at;
  Overwritten& entry = journal_.emplace_back(Overwritten{at, bytes, {}});
  std::memcpy(entry.old, at, std::min<std::size_t>(bytes, sizeof entry.old));
  return at;
}

void Memory::roll_back() {
  for (auto entry = journal_.rbegin(); entry != journal_.rend(); ++entry)
    std::memcpy(entry->at, entry->old, std::min<std::size_t>(entry->bytes, sizeof entry->old));
  journal_.clear();
  in_trial_ = false;
}

void Memory::write(std::uint64_t to, const void* from, std::uint64_t bytes) {
  if (bytes == 0) return;
  Block& block = live(to, bytes, Use::store);
  std::memcpy(block.at(to), from, bytes);
  const std::uint64_t offset = to - block.base;
  if (offset <= block.written_prefix)
    block.written_prefix = std::max(block.written_prefix, offset + bytes);
  else
    block.mark_written(to, bytes);
  block.all_written |= block.written_prefix == block.bytes;
}

void Memory::read(void* to, std::uint64_t from, std::uint64_t bytes) const {
  if (bytes) std::memcpy(to, live(from, bytes, Use::load).at(from), bytes);
}

void Memory::copy(std::uint64_t to, std::uint64_t from, std::uint64_t bytes) {
  if (bytes == 0) return;
  Block& source = live(from, bytes, Use::load);
  if (source.is_written(from, bytes)) {
    Block& target = live(to, bytes, Use::store);
    if (&source != &target) return write(to, source.at(from), bytes);
  }
  Block& target = live(to, bytes, Use::store);
  std::vector<bool> known(bytes);
  for (std::uint64_t i = 0; i < bytes; ++i) known[i] = source.is_written(from + i, 1);
  std::memmove(target.at(to), source.at(from), bytes);
  for (std::uint64_t i = 0; i < bytes; ++i)
    if (known[i]) target.mark_written(to + i, 1);
}

void Memory::fill(std::uint64_t to, int byte, std::uint64_t bytes) {
  if (bytes == 0) return;
  Block& block = live(to, bytes, Use::store);
  if (byte == 0 && bytes == block.bytes)
    madvise(block.host, block.bytes, MADV_DONTNEED);  // reads as zeros and costs no memory
  else
    std::memset(block.at(to), byte, bytes);
  const std::uint64_t offset = to - block.base;
  if (offset <= block.written_prefix)
    block.written_prefix = std::max(block.written_prefix, offset + bytes);
  else
    block.mark_written(to, bytes);
  block.all_written |= block.written_prefix == block.bytes;
}

Lds::Lds(std::uint32_t bytes, bool check_races) : data_(bytes + 64), size_(bytes) {
  if (check_races) records_.resize(bytes);
}

void Lds::reset() {
  epoch_ = 1;
  std::fill(records_.begin(), records_.end(), Record{});
}

void Lds::fault(std::uint64_t offset, std::uint32_t bytes, std::uint32_t alignment, int lane) const {
  if (offset + bytes > size_)
    throw Fault(fmt::format("LDS access of {} bytes at {} outside the workgroup's {} bytes", bytes, offset, size_),
                lane, offset);
  throw Fault(
      fmt::format("misaligned LDS access of {} bytes at {}, which is no multiple of {}", bytes, offset, alignment),
      lane, offset);
}

void Lds::check(std::uint64_t offset, std::uint32_t bytes, Use use, std::uint32_t wave, int lane,
                const std::byte* value) {
  for (std::uint32_t n = 0; n < bytes; ++n)
    check_byte(offset + n, use, static_cast<std::uint16_t>(wave), lane, value && value[n] == data_[offset + n]);
}

void Lds::check_byte(std::uint64_t offset, Use use, std::uint16_t wave, int lane, bool same) {
  Record& record = records_[offset];
  const auto race = [&](const char* other, int who) {
    throw Fault(fmt::format("LDS race: {} of byte {} by wave {}, which wave {} {} with no barrier in between",
                            verb(use), offset, wave, who, other),
                lane, offset);
  };
  if (record.write_epoch == epoch_ && record.writer != wave && !same) race("wrote", record.writer);
  if (use != Use::load && record.read_epoch == epoch_ && (record.many_readers || record.reader != wave))
    race("read", record.reader);
  if (use != Use::atomic && record.atomic_epoch == epoch_ && (record.many_atomics || record.atomic != wave))
    race("updated", record.atomic);
  if (use == Use::load && !record.written)
    throw Fault(fmt::format("LDS read of the never-written byte {}", offset), lane, offset);
  switch (use) {
    case Use::load:
      record.many_readers = record.read_epoch == epoch_ && (record.many_readers || record.reader != wave);
      record.read_epoch = epoch_;
      record.reader = wave;
      break;
    case Use::store:
      record.write_epoch = epoch_;
      record.writer = wave;
      record.written = true;
      break;
    case Use::atomic:
      record.many_atomics = record.atomic_epoch == epoch_ && (record.many_atomics || record.atomic != wave);
      record.atomic_epoch = epoch_;
      record.atomic = wave;
      record.written = true;
      break;
  }
}

}  // namespace headtune::sim
