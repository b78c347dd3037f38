#include "tuner/toolchain/elf_image.h"

#include <cstring>
#include <stdexcept>

namespace headtune::toolchain {
namespace {

[[noreturn]] void malformed(const char* what) { throw std::runtime_error(std::string("malformed ELF image: ") + what); }

std::span<const std::byte> slice(std::span<const std::byte> bytes, std::uint64_t offset, std::uint64_t size) {
  if (offset > bytes.size() || size > bytes.size() - offset) malformed("offset past the end");
  return bytes.subspan(offset, size);
}

template <class T>
T read(std::span<const std::byte> bytes, std::uint64_t offset) {
  T value;
  std::memcpy(&value, slice(bytes, offset, sizeof value).data(), sizeof value);
  return value;
}

std::string text_at(std::span<const std::byte> table, std::uint64_t offset) {
  if (offset >= table.size()) malformed("name past its table");
  const char* begin = reinterpret_cast<const char*>(table.data()) + offset;
  return std::string(begin, strnlen(begin, table.size() - offset));
}

std::uint64_t round_up_4(std::uint64_t value) { return (value + 3) & ~std::uint64_t{3}; }

}  // namespace

ElfImage::ElfImage(std::span<const std::byte> image) {
  const auto header = read<Elf64_Ehdr>(image, 0);
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) malformed("no ELF magic");
  if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB) malformed("not 64-bit");
  if (header.e_shentsize != sizeof(Elf64_Shdr)) malformed("section header size");
  for (unsigned i = 0; i < header.e_shnum; ++i) {
    Section section;
    section.header = read<Elf64_Shdr>(image, header.e_shoff + std::uint64_t{i} * sizeof(Elf64_Shdr));
    if (section.header.sh_type != SHT_NOBITS && section.header.sh_type != SHT_NULL) {
      section.bytes = slice(image, section.header.sh_offset, section.header.sh_size);
    }
    sections_.push_back(std::move(section));
  }
  if (header.e_shstrndx >= sections_.size()) malformed("no section names");
  const auto names = sections_[header.e_shstrndx].bytes;
  for (Section& section : sections_) section.name = text_at(names, section.header.sh_name);
}

const ElfImage::Section* ElfImage::find(std::string_view name) const {
  for (const Section& section : sections_) {
    if (section.name == name) return &section;
  }
  return nullptr;
}

std::vector<ElfImage::Symbol> ElfImage::symbols() const {
  std::vector<Symbol> result;
  for (const Section& section : sections_) {
    if (section.header.sh_type != SHT_SYMTAB) continue;
    if (section.header.sh_link >= sections_.size()) malformed("symbol names");
    const auto names = sections_[section.header.sh_link].bytes;
    for (std::size_t at = 0; at + sizeof(Elf64_Sym) <= section.bytes.size(); at += sizeof(Elf64_Sym)) {
      const auto entry = read<Elf64_Sym>(section.bytes, at);
      result.push_back({text_at(names, entry.st_name), entry});
    }
  }
  return result;
}

std::span<const std::byte> ElfImage::at_address(std::uint64_t address, std::size_t size) const {
  for (const Section& section : sections_) {
    if (section.header.sh_addr == 0 || address < section.header.sh_addr) continue;
    const std::uint64_t offset = address - section.header.sh_addr;
    if (offset <= section.bytes.size() && size <= section.bytes.size() - offset) {
      return section.bytes.subspan(offset, size);
    }
  }
  return {};
}

std::optional<std::span<const std::byte>> ElfImage::note(std::string_view owner, std::uint32_t type) const {
  for (const Section& section : sections_) {
    if (section.header.sh_type != SHT_NOTE) continue;
    for (std::uint64_t at = 0; at + sizeof(Elf64_Nhdr) <= section.bytes.size();) {
      const auto header = read<Elf64_Nhdr>(section.bytes, at);
      const auto name = slice(section.bytes, at + sizeof header, header.n_namesz);
      const std::uint64_t description_at = at + sizeof header + round_up_4(header.n_namesz);
      const auto description = slice(section.bytes, description_at, header.n_descsz);
      const auto* text = reinterpret_cast<const char*>(name.data());
      if (header.n_type == type && owner == std::string_view(text, strnlen(text, name.size()))) return description;
      at = description_at + round_up_4(header.n_descsz);
    }
  }
  return std::nullopt;
}

}  // namespace headtune::toolchain
