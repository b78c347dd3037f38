#include "tuner/sim/program.h"

#include <fmt/format.h>

#include "tuner/sim/decode.h"

namespace headtune::sim {
namespace {
constexpr std::uint32_t none = ~0u;
}

std::uint32_t Kernel::start_mode() const {
  const std::uint32_t dx10_clamp = rsrc1 >> 21 & 1, ieee = rsrc1 >> 23 & 1, f16_overflow = rsrc1 >> 26 & 1;
  return float_mode() | dx10_clamp << 8 | ieee << 9 | f16_overflow << 23;
}

Program::Program(CodeObject object, std::span<const Instruction> disassembly) : object_(std::move(object)) {
  instructions_ = decode(disassembly, object_.arch);
  index_by_word_.assign((object_.text_end - object_.text_begin) / 4 + 1, none);
  for (std::uint32_t index = 0; index < instructions_.size(); ++index) {
    const std::uint64_t pc = instructions_[index].pc;
    if (pc < object_.text_begin || pc >= object_.text_end)
      throw BadCode(fmt::format("instruction at {:#x} lies outside .text ({:#x} to {:#x})", pc, object_.text_begin,
                                object_.text_end));
    index_by_word_[(pc - object_.text_begin) / 4] = index;
  }
  for (auto& [name, kernel] : object_.kernels) {
    const std::uint64_t word = (kernel.entry - object_.text_begin) / 4;
    if (kernel.entry < object_.text_begin || word >= index_by_word_.size() || index_by_word_[word] == none)
      throw BadCode(fmt::format("kernel {} starts at {:#x}, where there is no instruction", name, kernel.entry));
    kernel.entry_index = index_by_word_[word];
  }
}

void Program::set_base(std::uint64_t base) {
  base_ = base;
  for (const Relocation& relocation : object_.relocations) {
    const std::uint64_t value = base + relocation.addend;
    std::memcpy(object_.image.data() + relocation.offset, &value, sizeof value);
  }
}

const Kernel& Program::kernel(const std::string& name) const {
  const auto found = object_.kernels.find(name);
  if (found == object_.kernels.end()) throw BadCode(fmt::format("the code object has no kernel named {}", name));
  return found->second;
}

std::uint32_t Program::index_of(std::uint64_t address) const {
  const std::uint64_t offset = address - base_ - object_.text_begin;
  if (offset % 4 != 0 || offset / 4 >= index_by_word_.size() || index_by_word_[offset / 4] == none)
    throw Fault("jump to an address where no instruction starts", -1, address);
  return index_by_word_[offset / 4];
}

}  // namespace headtune::sim
