// Bounds-checked view of a 64-bit little-endian ELF image (code objects and cubins).
#pragma once

#include <elf.h>

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace headtune::toolchain {

class ElfImage {
 public:
  struct Section {
    std::string name;
    Elf64_Shdr header{};
    std::span<const std::byte> bytes;  ///< empty for SHT_NOBITS
  };
  struct Symbol {
    std::string name;
    Elf64_Sym entry{};
  };

  /// Throws std::runtime_error when the image is malformed. The view does not own the bytes.
  explicit ElfImage(std::span<const std::byte> image);

  const std::vector<Section>& sections() const { return sections_; }
  const Section* find(std::string_view name) const;
  std::vector<Symbol> symbols() const;
  /// Contents at a virtual address of a section that has contents; empty when there are fewer than `size` bytes.
  std::span<const std::byte> at_address(std::uint64_t address, std::size_t size) const;
  /// Description of the first note of this owner and type.
  std::optional<std::span<const std::byte>> note(std::string_view owner, std::uint32_t type) const;

 private:
  std::vector<Section> sections_;
};

}  // namespace headtune::toolchain
