#include "tuner/sim/elf_file.h"

#include <algorithm>

namespace headtune::sim {
namespace {

constexpr std::uint16_t machine_amdgpu = 224;
constexpr std::size_t most_symbols = 1 << 20;

template <class T>
std::vector<T> table(std::span<const std::byte> file, std::uint64_t offset, std::uint16_t count, std::uint16_t entry,
                     const char* what) {
  if (count != 0 && entry != sizeof(T)) throw BadCode(std::string("code object: wrong entry size of the ") + what);
  std::vector<T> rows;
  rows.reserve(count);
  for (std::uint64_t n = 0; n < count; ++n) {
    if (offset > file.size()) throw BadCode(std::string("code object: truncated ") + what);
    rows.push_back(ElfFile::read<T>(file, offset + n * sizeof(T), what));
  }
  return rows;
}

}  // namespace

ElfFile::ElfFile(std::span<const std::byte> file) : file_(file) {
  if (file.size() < sizeof header_ || std::memcmp(file.data(), ELFMAG, SELFMAG) != 0)
    throw BadCode("not a code object: no ELF header");
  header_ = read<Elf64_Ehdr>(file, 0, "ELF header");
  if (header_.e_ident[EI_CLASS] != ELFCLASS64 || header_.e_ident[EI_DATA] != ELFDATA2LSB)
    throw BadCode("not a code object: not a 64-bit little-endian ELF");
  if (header_.e_machine != machine_amdgpu)
    throw BadCode("not an AMD GPU code object: ELF machine " + std::to_string(header_.e_machine));
  segments_ = table<Elf64_Phdr>(file, header_.e_phoff, header_.e_phnum, header_.e_phentsize, "program headers");
  sections_ = table<Elf64_Shdr>(file, header_.e_shoff, header_.e_shnum, header_.e_shentsize, "section headers");
}

std::span<const std::byte> ElfFile::slice(std::uint64_t offset, std::uint64_t size, const char* what) const {
  if (offset > file_.size() || file_.size() - offset < size)
    throw BadCode(std::string("code object: ") + what + " lies outside the file");
  return file_.subspan(offset, size);
}

std::string_view ElfFile::text_at(std::span<const std::byte> strings, std::uint64_t offset) const {
  if (offset >= strings.size()) return {};
  const auto* begin = reinterpret_cast<const char*>(strings.data()) + offset;
  const auto* end = reinterpret_cast<const char*>(strings.data()) + strings.size();
  return {begin, static_cast<std::size_t>(std::find(begin, end, '\0') - begin)};
}

std::string_view ElfFile::section_name(const Elf64_Shdr& section) const {
  if (header_.e_shstrndx >= sections_.size()) return {};
  const Elf64_Shdr& names = sections_[header_.e_shstrndx];
  return text_at(slice(names.sh_offset, names.sh_size, "section names"), section.sh_name);
}

std::vector<ElfFile::Symbol> ElfFile::symbols(const Elf64_Shdr& section) const {
  if (section.sh_link >= sections_.size()) throw BadCode("code object: symbol table without strings");
  const Elf64_Shdr& names = sections_[section.sh_link];
  const auto strings = slice(names.sh_offset, names.sh_size, "symbol names");
  const auto rows = slice(section.sh_offset, section.sh_size, "symbol table");
  if (rows.size() / sizeof(Elf64_Sym) > most_symbols) throw BadCode("code object: too many symbols");
  std::vector<Symbol> result;
  for (std::uint64_t offset = 0; offset + sizeof(Elf64_Sym) <= rows.size(); offset += sizeof(Elf64_Sym)) {
    const auto symbol = read<Elf64_Sym>(rows, offset, "symbol table");
    result.push_back({text_at(strings, symbol.st_name), symbol.st_value, symbol.st_shndx != SHN_UNDEF});
  }
  return result;
}

}  // namespace headtune::sim
