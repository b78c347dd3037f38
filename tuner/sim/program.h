// A decoded code object: what the loader and the decoder make once, and every launch executes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "tuner/sim/inst.h"
#include "tuner/toolchain.h"

namespace headtune::sim {

/// One kernel argument as NT_AMDGPU_METADATA lists it.
struct KernelArgument {
  std::string kind;  ///< "global_buffer", "by_value", "hidden_block_count_x", ...
  std::uint32_t offset = 0;
  std::uint32_t size = 0;
};

/// The kernel descriptor's fields and the metadata that belong to a launch.
struct Kernel {
  std::string name;
  std::uint64_t entry = 0;          ///< address of the first instruction in the ELF image
  std::uint32_t entry_index = 0;    ///< the same as an instruction index
  std::uint32_t lds_bytes = 0;      ///< static group segment
  std::uint32_t scratch_bytes = 0;  ///< private segment per lane
  std::uint32_t kernarg_bytes = 0;
  std::uint32_t rsrc1 = 0, rsrc2 = 0, rsrc3 = 0;
  std::uint16_t properties = 0;       ///< which user SGPRs are set up
  std::uint16_t kernarg_preload = 0;  ///< bits 0..6 length in words, 7..15 offset in words
  std::vector<KernelArgument> arguments;
  std::uint32_t max_workgroup_size = 1024;
  bool uses_dynamic_stack = false;
  Resources resources;  ///< as the metadata states them

  std::uint32_t vgprs() const { return ((rsrc1 & 0x3f) + 1) * 8; }         ///< allocated, unified file (granule 8)
  std::uint32_t accum_offset() const { return ((rsrc3 & 0x3f) + 1) * 4; }  ///< first accumulation register in that file
  std::uint32_t user_sgprs() const { return rsrc2 >> 1 & 0x1f; }
  std::uint32_t float_mode() const { return rsrc1 >> 12 & 0xff; }
  /// Start value of Wave::mode.
  std::uint32_t start_mode() const;
};

/// A 64-bit word of the image that is an address: load address + `addend`.
struct Relocation {
  std::uint64_t offset = 0;
  std::uint64_t addend = 0;
};

/// The parsed ELF file: an image laid out at its virtual addresses, and the kernels in it.
struct CodeObject {
  Arch arch = Arch::gfx950;
  std::vector<std::byte> image;  ///< all loadable segments from address 0
  std::uint64_t text_begin = 0, text_end = 0;
  std::map<std::string, Kernel> kernels;
  std::vector<Relocation> relocations;
};

class Program {
 public:
  Program(CodeObject object, std::span<const Instruction> disassembly);

  Arch arch() const { return object_.arch; }
  std::span<const Inst> instructions() const { return instructions_; }
  const std::map<std::string, Kernel>& kernels() const { return object_.kernels; }
  const Kernel& kernel(const std::string& name) const;  ///< throws BadCode
  std::span<const std::byte> image() const { return object_.image; }

  /// Where the image lies in simulated memory; set by whoever copies it there, before copying: the image's own
  /// addresses are adjusted. pc-relative addresses count from it.
  void set_base(std::uint64_t base);
  std::uint64_t base() const { return base_; }

  /// Address in simulated memory of instruction `index`, and back. `index_of` throws Fault when no instruction starts
  /// there.
  std::uint64_t address_of(std::uint32_t index) const { return base_ + instructions_[index].pc; }
  std::uint32_t index_of(std::uint64_t address) const;

 private:
  CodeObject object_;
  std::vector<Inst> instructions_;
  std::vector<std::uint32_t> index_by_word_;  ///< (pc - text_begin) / 4 -> index, or -1
  std::uint64_t base_ = 0;
};

}  // namespace headtune::sim
