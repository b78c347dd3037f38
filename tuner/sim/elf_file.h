// An ELF64 file with every offset checked before it is used.
#pragma once

#include <elf.h>

#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tuner/sim/fault.h"

namespace headtune::sim {

class ElfFile {
 public:
  /// Throws BadCode unless `file` is a little-endian 64-bit ELF for AMD GPUs.
  explicit ElfFile(std::span<const std::byte> file);

  const Elf64_Ehdr& header() const { return header_; }
  const std::vector<Elf64_Phdr>& segments() const { return segments_; }
  const std::vector<Elf64_Shdr>& sections() const { return sections_; }
  std::string_view section_name(const Elf64_Shdr& section) const;
  /// Bytes [offset, offset + size) of the file; throws BadCode naming `what` when they are not all there.
  std::span<const std::byte> slice(std::uint64_t offset, std::uint64_t size, const char* what) const;

  struct Symbol {
    std::string_view name;
    std::uint64_t value = 0;
    bool defined = false;
  };
  std::vector<Symbol> symbols(const Elf64_Shdr& table) const;

  /// A POD read from `bytes` at `offset`.
  template <class T>
  static T read(std::span<const std::byte> bytes, std::uint64_t offset, const char* what) {
    if (offset > bytes.size() || bytes.size() - offset < sizeof(T))
      throw BadCode(std::string("code object: truncated ") + what);
    T value;
    std::memcpy(&value, bytes.data() + offset, sizeof value);
    return value;
  }

 private:
  std::string_view text_at(std::span<const std::byte> strings, std::uint64_t offset) const;

  std::span<const std::byte> file_;
  Elf64_Ehdr header_{};
  std::vector<Elf64_Phdr> segments_;
  std::vector<Elf64_Shdr> sections_;
};

}  // namespace headtune::sim
