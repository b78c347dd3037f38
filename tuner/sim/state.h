// The architectural state of one wave, as the instruction handlers see it.
//
// Registers are plain words. A 64-bit operand is two consecutive words, low word first, in the scalar file and in the
// vector file alike. The named scalar registers live at their hardware numbers, so that every scalar operand is an
// index.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "tuner/sim/fault.h"

namespace headtune::sim {

class Memory;   // global memory and its checker (memory.h)
class Lds;      // local memory of one workgroup and its checker (memory.h)
class Program;  // the decoded code object (program.h)

inline constexpr int kLanes = 64;
inline constexpr int kVectorRegisters = 512;  ///< v0..v255, then a0..a255
inline constexpr int kFirstAccumulation = 256;

enum class Arch : std::uint8_t { gfx90a, gfx942, gfx950 };

/// Indices into Wave::s. 0..101 are s0..s101.
namespace sreg {
inline constexpr int flat_scratch = 102;  ///< and 103
inline constexpr int xnack_mask = 104;    ///< and 105
inline constexpr int vcc = 106;           ///< and 107
inline constexpr int ttmp = 108;          ///< ttmp0..ttmp15
inline constexpr int m0 = 124;
inline constexpr int exec = 126;  ///< and 127
// Read-only sources, kept here so that reading an operand never branches; pairs are 64-bit values.
inline constexpr int shared_base = 128;
inline constexpr int shared_limit = 130;
inline constexpr int private_base = 132;
inline constexpr int private_limit = 134;
inline constexpr int scc = 136;    ///< the word itself is the flag: 0 or 1
inline constexpr int vccz = 138;   ///< written by the operand reader
inline constexpr int execz = 140;  ///< written by the operand reader
inline constexpr int count = 144;
}  // namespace sreg

/// Flat addresses of local and private memory: the high word selects the aperture, the low word is the offset.
inline constexpr std::uint64_t kSharedAperture = 0x0001'0000'0000'0000;
inline constexpr std::uint64_t kPrivateAperture = 0x0002'0000'0000'0000;

/// The MODE register (read and written by s_getreg and s_setreg; its start value comes from the kernel descriptor).
namespace mode {
inline constexpr std::uint32_t round32 = 0x003;     ///< 0 nearest even, 1 up, 2 down, 3 to zero
inline constexpr std::uint32_t round64 = 0x00c;     ///< of f64 and f16
inline constexpr std::uint32_t denorm32 = 0x030;    ///< bit 0 keep denormal inputs, bit 1 keep denormal results
inline constexpr std::uint32_t denorm64 = 0x0c0;    ///< of f64 and f16
inline constexpr std::uint32_t dx10_clamp = 0x100;  ///< clamp turns NaN into 0
inline constexpr std::uint32_t ieee = 0x200;
inline constexpr std::uint32_t usual = denorm32 | denorm64 | dx10_clamp | ieee;
/// Rounding or denormal handling differs from "nearest even, denormals kept", which the host does by itself.
inline bool is_special(std::uint32_t value) { return (value & 0xff) != (denorm32 | denorm64); }
}  // namespace mode

enum class Space : std::uint8_t { none, global, lds, scratch, scalar };

/// What the last memory instruction touched; the timing model and the race checker read it after the instruction.
/// Handlers of memory instructions fill it; `count` is 0 for every other instruction.
struct Access {
  Space space = Space::none;
  bool load = false;
  bool store = false;       ///< both for atomics
  bool to_lds = false;      ///< a load that goes from global memory or scratch straight into LDS
  std::uint32_t bytes = 0;  ///< per lane and part
  std::uint32_t parts = 1;  ///< 2 for ds_read2 and the like: part 1 lies at address + part_stride
  std::int64_t part_stride = 0;
  std::uint64_t lanes = 0;  ///< lanes that took part; bit 0 only for scalar loads
  std::uint64_t
      address[kLanes];  ///< byte address; LDS: byte offset in the workgroup's LDS; scratch: lane-linear offset
};

/// Why a wave stopped executing.
enum class Stop : std::uint8_t {
  running,  ///< the instruction budget ended
  barrier,  ///< executed s_barrier; continue when the whole workgroup is there
  ended,    ///< executed s_endpgm
};

/// A load straight into LDS that the wave has not yet waited for: lane l's words go to `base` + l * 4 * words.
struct LdsLoad {
  std::uint64_t number = 0;  ///< as Wave::vector_memory_issued counts
  std::uint64_t lanes = 0;
  std::uint32_t base = 0, words = 0;
  std::uint32_t data[kLanes][4];
};

struct Wave {
  alignas(64) std::uint32_t v[kVectorRegisters][kLanes];
  alignas(64) std::uint32_t s[sreg::count];
  std::uint32_t mode = mode::usual;
  std::uint32_t pc = 0;  ///< index of the next instruction in program->instructions()
  Stop stop = Stop::running;
  Arch arch = Arch::gfx950;
  std::uint8_t index_mode = 0;  ///< s_set_gpr_idx: bits 0..2 index sources, bit 3 the destination, by m0's low byte

  const Program* program = nullptr;
  Memory* memory = nullptr;
  Lds* lds = nullptr;
  std::uint32_t wave_in_group = 0;     ///< index within its workgroup
  std::uint64_t workgroup = 0;         ///< linear workgroup index, for fault messages
  std::byte* scratch = nullptr;        ///< private memory of the wave, lane-linear: lane * scratch_per_lane + offset
  std::uint32_t scratch_per_lane = 0;  ///< bytes
  std::uint32_t hw_id = 0;             ///< what s_getreg_b32 reads from HW_ID
  std::uint32_t xcc_id = 0;
  std::uint64_t cycles = 0;        ///< clock for s_memtime; the engine counts instructions, the timing model overwrites
  std::uint64_t instructions = 0;  ///< executed by this wave
  std::uint32_t random_state = 1;  ///< of v_prng-like instructions; seeded per wave, so runs repeat
  Access access;
  std::uint64_t vector_memory_issued = 0;  ///< instructions that vmcnt counts, so far
  std::vector<LdsLoad> lds_loads;          ///< in order of issue

  std::uint64_t pair(int index) const {
    std::uint64_t value;
    std::memcpy(&value, &s[index], sizeof value);
    return value;
  }
  void set_pair(int index, std::uint64_t value) { std::memcpy(&s[index], &value, sizeof value); }

  std::uint64_t exec() const { return pair(sreg::exec); }
  void set_exec(std::uint64_t value) { set_pair(sreg::exec, value); }
  std::uint64_t vcc() const { return pair(sreg::vcc); }
  void set_vcc(std::uint64_t value) { set_pair(sreg::vcc, value); }
  bool scc() const { return s[sreg::scc] != 0; }
  void set_scc(bool value) { s[sreg::scc] = value; }

  /// Writes the loads into LDS that s_waitcnt with this vmcnt waits for. Not before: that is the last moment the
  /// hardware may choose, so a wait that is missing shows.
  void land_lds_loads(std::uint64_t vmcnt);

  /// Zeroes scalars, sets the apertures and the mode, leaves the vector file as it is (hardware does not clear it).
  void reset();
};

}  // namespace headtune::sim
