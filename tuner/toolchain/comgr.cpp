#include "tuner/toolchain/comgr.h"

#include <algorithm>
#include <cstring>
#include <stdexcept>

#include "tuner/toolchain/elf_image.h"

namespace headtune::toolchain {
namespace {

constexpr const char* names[] = {"libamd_comgr.so.3", "libamd_comgr.so.2", "libamd_comgr.so"};
constexpr const char* triple = "amdgcn-amd-amdhsa--";

/// amd_comgr_disassembly_info_t
struct DisassemblyInfo {
  std::uint64_t handle;
};

using ReadMemory = std::uint64_t (*)(std::uint64_t from, char* to, std::uint64_t size, void* user);
using PrintInstruction = void (*)(const char* text, void* user);
using PrintAddress = void (*)(std::uint64_t address, void* user);
using Create = int (*)(const char* isa, ReadMemory, PrintInstruction, PrintAddress, DisassemblyInfo*);
using Destroy = int (*)(DisassemblyInfo);
using Disassemble = int (*)(DisassemblyInfo, std::uint64_t pc, void* user, std::uint64_t* size);

/// What comgr's callbacks see: addresses are the ELF's virtual addresses.
struct Cursor {
  std::span<const std::byte> text;
  std::uint64_t base = 0;
  std::string line;
};

std::uint64_t read_memory(std::uint64_t from, char* to, std::uint64_t size, void* user) {
  const auto& cursor = *static_cast<Cursor*>(user);
  if (from < cursor.base || from - cursor.base >= cursor.text.size()) return 0;
  const std::uint64_t offset = from - cursor.base;
  const std::uint64_t count = std::min<std::uint64_t>(size, cursor.text.size() - offset);
  std::memcpy(to, cursor.text.data() + offset, count);
  return count;
}

void print_instruction(const char* text, void* user) { static_cast<Cursor*>(user)->line += text; }

/// Targets are computed from the immediate in the text; comgr's comment is not needed.
void print_address(std::uint64_t, void*) {}

std::string trimmed(const std::string& text) {
  const auto comment = text.find("//");
  const auto first = text.find_first_not_of(" \t");
  if (first == std::string::npos || first == comment) return {};
  const auto last = text.find_last_not_of(" \t\n", comment == std::string::npos ? comment : comment - 1);
  return text.substr(first, last - first + 1);
}

}  // namespace

Comgr::Comgr(const std::vector<std::string>& library_directories)
    : library_("AMD comgr (libamd_comgr)", library_directories, names) {}

std::string Comgr::version() const {
  std::size_t major = 0, minor = 0;
  library_.symbol<void (*)(std::size_t*, std::size_t*)>("amd_comgr_get_version")(&major, &minor);
  return std::to_string(major) + "." + std::to_string(minor);
}

std::vector<std::string> Comgr::targets() const {
  std::size_t count = 0;
  library_.symbol<int (*)(std::size_t*)>("amd_comgr_get_isa_count")(&count);
  const auto name_of = library_.symbol<int (*)(std::size_t, const char**)>("amd_comgr_get_isa_name");
  std::vector<std::string> targets;
  for (std::size_t i = 0; i < count; ++i) {
    const char* name = nullptr;
    if (name_of(i, &name) == 0 && std::strncmp(name, triple, std::strlen(triple)) == 0) {
      targets.emplace_back(name + std::strlen(triple));
    }
  }
  return targets;
}

std::vector<Instruction> Comgr::disassemble(std::span<const std::byte> code, const std::string& target) const {
  const ElfImage image(code);
  const auto* text = image.find(".text");
  if (!text) throw std::runtime_error("code object has no .text");
  DisassemblyInfo info{};
  if (library_.symbol<Create>("amd_comgr_create_disassembly_info")((triple + target).c_str(), read_memory,
                                                                   print_instruction, print_address, &info) != 0) {
    throw std::runtime_error("comgr cannot disassemble for " + target);
  }
  const auto disassemble_one = library_.symbol<Disassemble>("amd_comgr_disassemble_instruction");
  std::vector<Instruction> instructions;
  Cursor cursor{text->bytes, text->header.sh_addr, {}};
  for (std::uint64_t pc = cursor.base, end = cursor.base + cursor.text.size(); pc < end;) {
    std::uint64_t size = 0;
    cursor.line.clear();
    const bool ok = disassemble_one(info, pc, &cursor, &size) == 0 && size != 0;
    if (!ok) size = 4;
    instructions.push_back({pc, static_cast<std::uint32_t>(size), ok ? trimmed(cursor.line) : "??"});
    pc += size;
  }
  library_.symbol<Destroy>("amd_comgr_destroy_disassembly_info")(info);
  return instructions;
}

}  // namespace headtune::toolchain
