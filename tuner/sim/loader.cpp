#include "tuner/sim/loader.h"

#include <algorithm>

#include "tuner/sim/elf_file.h"
#include "tuner/sim/metadata.h"

namespace headtune::sim {
namespace {

constexpr std::uint64_t most_image_bytes = 256u << 20;
constexpr std::uint32_t note_amdgpu_metadata = 32;
/// What HIP adds for calls of unknown depth (the default of hipLimitStackSize), bytes per lane.
constexpr std::uint32_t dynamic_stack_bytes = 1024;

/// EF_AMDGPU_MACH of the processors that are simulated.
Arch arch_of(std::uint32_t flags) {
  switch (flags & 0xff) {
    case 0x3f:
      return Arch::gfx90a;
    case 0x4c:
      return Arch::gfx942;
    case 0x4f:
      return Arch::gfx950;
    default:
      throw BadCode("code object for a processor that is not simulated (gfx90a, gfx942 and gfx950 are)");
  }
}

std::vector<std::byte> make_image(const ElfFile& elf) {
  std::uint64_t end = 0;
  for (const Elf64_Phdr& segment : elf.segments()) {
    if (segment.p_type != PT_LOAD) continue;
    if (segment.p_vaddr > most_image_bytes || segment.p_memsz > most_image_bytes || segment.p_filesz > segment.p_memsz)
      throw BadCode("code object: a loadable segment has an impossible size or address");
    end = std::max(end, segment.p_vaddr + segment.p_memsz);
  }
  if (end == 0) throw BadCode("code object: nothing to load");
  std::vector<std::byte> image(end);
  for (const Elf64_Phdr& segment : elf.segments()) {
    if (segment.p_type != PT_LOAD) continue;
    const auto bytes = elf.slice(segment.p_offset, segment.p_filesz, "a loadable segment");
    std::copy(bytes.begin(), bytes.end(), image.begin() + static_cast<std::ptrdiff_t>(segment.p_vaddr));
  }
  return image;
}

/// The description of the metadata note, or an empty span.
std::span<const std::byte> find_metadata(const ElfFile& elf) {
  for (const Elf64_Phdr& segment : elf.segments()) {
    if (segment.p_type != PT_NOTE) continue;
    const auto notes = elf.slice(segment.p_offset, segment.p_filesz, "the notes");
    for (std::uint64_t at = 0; at + sizeof(Elf64_Nhdr) <= notes.size();) {
      const auto note = ElfFile::read<Elf64_Nhdr>(notes, at, "note");
      const std::uint64_t name_bytes = (std::uint64_t{note.n_namesz} + 3) & ~3ull, bytes = note.n_descsz;
      const std::uint64_t body = at + sizeof note + name_bytes;
      if (body > notes.size() || bytes > notes.size() - body) throw BadCode("code object: a note is truncated");
      if (note.n_type == note_amdgpu_metadata) return notes.subspan(body, bytes);
      at = body + ((bytes + 3) & ~3ull);
    }
  }
  return {};
}

/// Fields of the 64-byte kernel descriptor at image address `at`.
void read_descriptor(Kernel& kernel, std::span<const std::byte> image, std::uint64_t at) {
  constexpr const char* what = "kernel descriptor";
  ElfFile::read<std::array<std::byte, 64>>(image, at, what);
  kernel.lds_bytes = ElfFile::read<std::uint32_t>(image, at, what);
  kernel.scratch_bytes = ElfFile::read<std::uint32_t>(image, at + 4, what);
  kernel.kernarg_bytes = ElfFile::read<std::uint32_t>(image, at + 8, what);
  kernel.entry = at + ElfFile::read<std::uint64_t>(image, at + 16, what);
  kernel.rsrc3 = ElfFile::read<std::uint32_t>(image, at + 44, what);
  kernel.rsrc1 = ElfFile::read<std::uint32_t>(image, at + 48, what);
  kernel.rsrc2 = ElfFile::read<std::uint32_t>(image, at + 52, what);
  kernel.properties = ElfFile::read<std::uint16_t>(image, at + 56, what);
  kernel.kernarg_preload = ElfFile::read<std::uint16_t>(image, at + 58, what);
}

const Elf64_Shdr* find_text(const ElfFile& elf) {
  for (const Elf64_Shdr& section : elf.sections())
    if (section.sh_type == SHT_PROGBITS && elf.section_name(section) == ".text") return &section;
  return nullptr;
}

void read_descriptors(CodeObject& object, const ElfFile& elf) {
  std::map<std::string, bool> found;
  for (const Elf64_Shdr& section : elf.sections()) {
    if (section.sh_type != SHT_DYNSYM && section.sh_type != SHT_SYMTAB) continue;
    for (const ElfFile::Symbol& symbol : elf.symbols(section)) {
      if (!symbol.defined || !symbol.name.ends_with(".kd")) continue;
      const auto kernel = object.kernels.find(std::string(symbol.name.substr(0, symbol.name.size() - 3)));
      if (kernel == object.kernels.end()) continue;
      read_descriptor(kernel->second, object.image, symbol.value);
      if (kernel->second.uses_dynamic_stack) kernel->second.scratch_bytes += dynamic_stack_bytes;
      found[kernel->first] = true;
    }
  }
  for (const auto& [name, kernel] : object.kernels)
    if (!found[name]) throw BadCode("code object: kernel " + name + " has no descriptor symbol");
}

/// Relocations that only need the load address; anything else would have to be linked first.
void read_relocations(CodeObject& object, const ElfFile& elf) {
  constexpr std::uint32_t absolute64 = 3, relative64 = 13;
  for (const Elf64_Shdr& section : elf.sections()) {
    if (section.sh_type != SHT_RELA || section.sh_link >= elf.sections().size()) continue;
    const auto rows = elf.slice(section.sh_offset, section.sh_size, "relocations");
    const auto symbols = elf.symbols(elf.sections()[section.sh_link]);
    for (std::uint64_t at = 0; at + sizeof(Elf64_Rela) <= rows.size(); at += sizeof(Elf64_Rela)) {
      const auto row = ElfFile::read<Elf64_Rela>(rows, at, "relocation");
      const std::uint64_t type = ELF64_R_TYPE(row.r_info), symbol = ELF64_R_SYM(row.r_info);
      const bool absolute = type == absolute64 && symbol < symbols.size() && symbols[symbol].defined;
      if (type != relative64 && !absolute) throw BadCode("code object: a relocation needs a linker");
      if (row.r_offset > object.image.size() || object.image.size() - row.r_offset < 8)
        throw BadCode("code object: a relocation lies outside the image");
      const auto addend = static_cast<std::uint64_t>(row.r_addend);
      object.relocations.push_back({row.r_offset, absolute ? symbols[symbol].value + addend : addend});
    }
  }
}

}  // namespace

CodeObject load(std::span<const std::byte> file) {
  const ElfFile elf(file);
  CodeObject object;
  object.arch = arch_of(elf.header().e_flags);
  object.image = make_image(elf);
  const Elf64_Shdr* text = find_text(elf);
  if (text == nullptr) throw BadCode("code object: no .text section");
  if (text->sh_addr > object.image.size() || text->sh_size > object.image.size() - text->sh_addr)
    throw BadCode("code object: .text is not loaded");
  object.text_begin = text->sh_addr;
  object.text_end = text->sh_addr + text->sh_size;
  const auto metadata = find_metadata(elf);
  if (metadata.empty()) throw BadCode("code object: no kernel metadata");
  object.kernels = read_metadata(metadata);
  read_descriptors(object, elf);
  read_relocations(object, elf);
  return object;
}

}  // namespace headtune::sim
