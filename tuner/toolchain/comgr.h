// AMD's code object manager: which targets the installation knows, and disassembly.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "tuner/toolchain.h"
#include "tuner/toolchain/shared_library.h"

namespace headtune::toolchain {

class Comgr {
 public:
  explicit Comgr(const std::vector<std::string>& library_directories);

  std::string version() const;  ///< "3.0"
  /// Base names of the targets that this comgr was built with: "gfx90a", "gfx942", ...
  std::vector<std::string> targets() const;
  /// Every instruction of .text; bytes that are no instruction become one entry of four bytes with the text "??".
  std::vector<Instruction> disassemble(std::span<const std::byte> code, const std::string& target) const;

 private:
  SharedLibrary library_;
};

}  // namespace headtune::toolchain
