// One decoded instruction and the tables of handlers that execute them.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "tuner/sim/state.h"

namespace headtune::sim {

struct Inst;
using Handler = void (*)(Wave&, const Inst&);

/// Issue class for the timing model; finer distinctions (MFMA shape, bytes) come from Inst::name and the operands.
enum class Class : std::uint8_t {
  salu,
  branch,
  valu,
  valu_f64,
  trans,
  mfma,
  smem,
  lds,
  vmem_load,
  vmem_store,
  vmem_atomic,
  lane,
  barrier,
  wait,
  other,
  end
};

/// How a handler reads an operand; decides the bits of inline constants and literals.
enum class Type : std::uint8_t {
  b32,  ///< integers as 32 bits; "1.0" is f32's bits
  b64,  ///< integers sign-extended to 64 bits; 32-bit literals zero-extended; "1.0" is f64's bits
  i64,  ///< as b64, but 32-bit literals are sign-extended
  f32,
  f64,   ///< a 32-bit literal is the high word
  f16,   ///< "1.0" is 0x3c00
  bf16,  ///< "1.0" is 0x3f80
  pf32,  ///< pair of f32: the constant is in the low word, the high word is the same
};

enum class Kind : std::uint8_t {
  none,      ///< "off", "null", or no such operand
  scalar,    ///< words in Wave::s from `index`
  vector,    ///< words in Wave::v from `index`; accumulation register n is index 256 + n
  constant,  ///< `value`
};

/// An operand in the order of the text. Modifiers that LLVM writes around the operand live here.
struct Operand {
  Kind kind = Kind::none;
  std::uint8_t words = 1;  ///< 32-bit registers named: v[0:3] has 4
  std::uint16_t index = 0;
  bool neg = false;         ///< -x
  bool abs = false;         ///< |x|
  bool sext = false;        ///< sext(x), SDWA
  std::uint8_t select = 6;  ///< SDWA: 0..3 byte, 4..5 word, 6 dword
  std::uint64_t value = 0;  ///< constants, already as the handler's Type wants them

  bool plain() const { return !neg && !abs && !sext && select == 6; }
};

/// A DPP control resolved to lanes once, at decode.
struct LanePlan {
  std::array<std::int8_t, kLanes> from;  ///< source lane of each lane; -1: outside the row or wave
  std::uint64_t writable = 0;            ///< lanes that row_mask and bank_mask let write
  bool zero_invalid = false;             ///< bound_ctrl: a missing source reads 0; otherwise the lane is not written
};

/// s_waitcnt; a counter not named keeps its maximum, i.e. waits for nothing.
struct Waits {
  std::uint8_t vmcnt = 63;
  std::uint8_t expcnt = 7;
  std::uint8_t lgkmcnt = 15;
};

enum CacheBits : std::uint8_t { glc = 1, slc = 2, scc = 4, sc0 = 1, nt = 2, sc1 = 4 };

struct OpEntry;

struct Inst {
  Handler handler = nullptr;
  std::uint32_t target = 0;  ///< branches: index of the target instruction
  std::uint32_t count = 0;   ///< operands in `op`
  std::array<Operand, 6> op;
  bool simple = true;  ///< no modifier at all: the fast path

  bool clamp = false;
  std::int8_t omod = 0;  ///< power of two that multiplies the result: 1, 2 or -1
  // Bit n belongs to the n-th entry of the printed list. op_sel_hi is all ones when not printed and the instruction is
  // a packed one.
  // op_sel's entry for the destination, the last printed, is always bit 3.
  std::uint8_t op_sel = 0, op_sel_hi = 0, neg_lo = 0, neg_hi = 0;
  std::uint8_t op_sel_entries = 0;  ///< printed
  std::uint8_t dst_select = 6;      ///< SDWA, as Operand::select
  std::uint8_t dst_unused = 0;      ///< SDWA: 0 pad with 0, 1 sign-extend, 2 preserve
  std::uint8_t cbsz = 0, abid = 0, blgp = 0;
  std::uint16_t bitop3 = 0;  ///< truth table of v_bitop3
  std::uint8_t byte_sel = 0;
  std::int32_t offset = 0;  ///< offset:, offset0: of two, or the last immediate of scalar loads
  std::int32_t offset1 = 0;
  std::uint8_t cache = 0;  ///< CacheBits
  bool offen = false, idxen = false, lds = false, gds = false, tfe = false;
  Waits waits;
  std::shared_ptr<const LanePlan> dpp;

  // Cold part.
  const OpEntry* entry = nullptr;
  Class klass = Class::other;
  Arch arch = Arch::gfx950;
  std::uint64_t pc = 0;    ///< address in the ELF image
  std::uint32_t size = 0;  ///< bytes
  std::string name;        ///< mnemonic without _e32, _e64, _dpp, _sdwa
  std::string text;        ///< as LLVM prints it
  /// Registers for the scoreboard: 0..511 vector, 512 + index scalar (scc is 512 + sreg::scc).
  std::vector<std::uint16_t> reads, writes;
};

inline constexpr std::uint16_t kScalarRegister = 512;

/// What an instruction reads and writes besides its plain sources.
enum OpFlags : std::uint16_t {
  reads_dst = 1,  ///< accumulates into or merges with its first operand
  writes_scc = 2,
  reads_scc = 4,
  reads_vcc = 8,     ///< without naming it in the text
  writes_exec = 16,  ///< v_cmpx, saveexec
  packed = 32,       ///< op_sel_hi is all ones unless printed
  branches = 64,     ///< its operand is a branch target
  writes_vcc = 128,  ///< without naming it in the text
  reads_m0 = 256,
  keeps_high = 512,  ///< a 16-bit result leaves the other half of its register as it was
  saturates = 1024,  ///< handles the clamp bit of an integer result
};

/// One line of a family's table.
struct OpEntry {
  const char* name;  ///< mnemonic without encoding suffix
  Handler handler;
  Class klass;
  std::uint8_t destinations = 1;  ///< leading operands that are written: 0 for stores and branches, 2 with carry-out
  std::uint16_t flags = 0;        ///< OpFlags
  std::array<Type, 6> types{};    ///< of each operand in text order; b32 unless said
};

/// Each family defines this in every instruction-set build of ops/*.cpp; HEADTUNE_SIM_ISA is that build's namespace,
/// and everything in ops/ lives inside it, so that no vectorised inline function reaches the other builds.
#define HEADTUNE_SIM_FAMILIES(X)                                                                             \
  X(scalar_ops)                                                                                              \
  X(branch_ops) X(integer_ops) X(carry_ops) X(real_ops) X(real64_ops) X(half_ops) X(math_ops) X(compare_ops) \
      X(convert_ops) X(fp8_ops) X(packed_ops) X(dot_ops) X(mfma_ops) X(lds_ops) X(memory_ops) X(lane_ops)
#define HEADTUNE_SIM_TABLE(family) std::span<const OpEntry> family();
namespace generic {
HEADTUNE_SIM_FAMILIES(HEADTUNE_SIM_TABLE)
}
namespace avx2 {
HEADTUNE_SIM_FAMILIES(HEADTUNE_SIM_TABLE)
}
#undef HEADTUNE_SIM_TABLE

}  // namespace headtune::sim
