// Simulated memory: global allocations with a checker on every access, and the local memory (LDS) of a workgroup.
//
// Device addresses are private to the simulator: an allocation starts just below a multiple of 4 GiB, so that address
// arithmetic must carry into the high word as it does on a card, and every allocation has its 4 GiB windows for itself,
// so that a wild or truncated address meets no other allocation.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tuner/sim/fault.h"

namespace headtune::sim {

/// Base address in the private segment's buffer descriptor (gfx90a reaches scratch through s[0:3]). Buffer instructions
/// whose descriptor holds it go to the wave's scratch.
inline constexpr std::uint64_t kScratchDescriptorBase = 0xf000'0000'0000;

enum class Use : std::uint8_t { load, store, atomic };

/// One allocation. The bytes are mapped lazily, so a pool of many GiB costs only what is touched.
struct Block {
  std::uint64_t base = 0;
  std::uint64_t bytes = 0;
  std::byte* host = nullptr;
  std::uint8_t* written = nullptr;   ///< one byte per 4 bytes of data; bits 0..3 say which of them were ever written
  std::uint64_t written_prefix = 0;  ///< all bytes below are known to be written
  bool all_written = false;          ///< nothing to check and nothing to mark any more
  bool freed = false;
  std::string label;

  /// [first, last + size) lies inside and is alive.
  bool covers(std::uint64_t first, std::uint64_t last, std::uint64_t size) const {
    return !freed && first >= base && last + size - base <= bytes && last >= first;
  }
  std::byte* at(std::uint64_t address) const { return host + (address - base); }
  bool is_written(std::uint64_t address, std::uint64_t size) const;
  void mark_written(std::uint64_t address, std::uint64_t size);
};

/// Global memory of one device. Kernels of several host threads may access it at once; allocation and host copies may
/// not run beside them.
class Memory {
 public:
  Memory();
  ~Memory();
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  /// Switches the report of reads of never-written bytes.
  void check_uninitialised(bool on) { check_uninitialised_ = on; }
  bool checks_uninitialised() const { return check_uninitialised_; }

  /// From here to roll_back() kernels' stores and atomics are undone at the end, and never-written bytes may be read:
  /// for the cycle model, which executes a sample only. One host thread.
  void begin_trial();
  void roll_back();
  bool in_trial() const { return in_trial_; }

  /// Address of `bytes` new bytes (at least 1), never written. `label` names them in faults. Throws std::bad_alloc.
  std::uint64_t allocate(std::uint64_t bytes, std::string label = "allocation");
  /// Later accesses are reported as use after free. Throws Fault when no live allocation starts at `address`.
  void release(std::uint64_t address);
  std::uint64_t bytes_in_use() const { return bytes_in_use_; }

  // Host side; throw Fault when a range is not inside one live allocation.
  void write(std::uint64_t to, const void* from, std::uint64_t bytes);
  void read(void* to, std::uint64_t from, std::uint64_t bytes) const;
  /// Bytes never written stay so in the copy. Ranges may overlap.
  void copy(std::uint64_t to, std::uint64_t from, std::uint64_t bytes);
  void fill(std::uint64_t to, int byte, std::uint64_t bytes);

  /// The allocation, alive or freed, whose window holds `address`; null when none.
  Block* block_at(std::uint64_t address) const { return address >> 48 ? nullptr : slots_[address >> 32]; }
  /// Host address of one checked access of a kernel. Throws Fault.
  std::byte* access(std::uint64_t address, std::uint32_t bytes, Use use, int lane) const;
  /// The fault for an access that does not lie inside one live allocation.
  [[noreturn]] void fault_outside(std::uint64_t address, std::uint64_t bytes, Use use, int lane) const;

 private:
  Block& live(std::uint64_t address, std::uint64_t bytes, Use use) const;
  std::byte* trial_access(std::byte* at, std::uint32_t bytes, Use use) const;
  std::uint32_t take_slots(std::uint32_t count);

  std::vector<Block*> slots_;  ///< by address >> 32
  std::vector<std::unique_ptr<Block>> blocks_;
  std::uint32_t next_slot_ = 1;
  std::uint64_t bytes_in_use_ = 0;
  bool check_uninitialised_ = true;

  /// What a store of a trial overwrote.
  struct Overwritten {
    std::byte* at;
    std::uint32_t bytes;
    std::byte old[16];
  };
  bool in_trial_ = false;
  mutable std::vector<Overwritten> journal_;
};

/// Local memory of one workgroup. Out of range and misaligned accesses always fault; the optional checks find reads of
/// never-written bytes and races between waves.
class Lds {
 public:
  explicit Lds(std::uint32_t bytes, bool check_races = false);

  std::byte* data() { return data_.data(); }
  std::uint32_t size() const { return size_; }
  bool checks_races() const { return !records_.empty(); }

  /// Throws Fault unless `offset` is in range and a multiple of `alignment`.
  void require(std::uint64_t offset, std::uint32_t bytes, std::uint32_t alignment, int lane) const {
    if (offset + bytes > size_ || offset % alignment) fault(offset, bytes, alignment, lane);
  }
  /// Records an access by a wave; throws Fault on a race. No-op unless races are checked. `value`: what a store is
  /// about to write; waves that write the same bytes do not race with each other.
  void note(std::uint64_t offset, std::uint32_t bytes, Use use, std::uint32_t wave, int lane,
            const void* value = nullptr) {
    if (!records_.empty()) check(offset, bytes, use, wave, lane, static_cast<const std::byte*>(value));
  }
  /// The whole workgroup passed a barrier: what came before is ordered with what comes after.
  void pass_barrier() { ++epoch_; }
  /// As new, for the next workgroup.
  void reset();

 private:
  struct Record {  ///< of one byte; epoch 0: never
    std::uint32_t write_epoch = 0, read_epoch = 0, atomic_epoch = 0;
    std::uint16_t writer = 0, reader = 0, atomic = 0;
    bool many_readers = false, many_atomics = false;
    bool written = false;
  };
  [[noreturn]] void fault(std::uint64_t offset, std::uint32_t bytes, std::uint32_t alignment, int lane) const;
  void check(std::uint64_t offset, std::uint32_t bytes, Use use, std::uint32_t wave, int lane, const std::byte* value);
  void check_byte(std::uint64_t offset, Use use, std::uint16_t wave, int lane, bool same);

  std::vector<std::byte> data_;
  std::uint32_t size_;
  std::vector<Record> records_;
  std::uint32_t epoch_ = 1;
};

}  // namespace headtune::sim
