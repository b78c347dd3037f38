// What the compile process offers for one family of devices: hipRTC with comgr (AMD) or NVRTC (NVIDIA).
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "tuner/toolchain.h"

namespace headtune::toolchain {

/// One compiler, loaded at run time. Everything throws std::runtime_error (or UnavailableError) with one line.
class Compiler {
 public:
  virtual ~Compiler() = default;
  virtual std::string version() const = 0;
  /// Fills status (ok or error), code, log, kernels.
  virtual Binary compile(const CompileJob& job) = 0;
  virtual std::map<std::string, Resources> metadata(std::span<const std::byte> code) const = 0;
  virtual std::vector<Instruction> disassemble(std::span<const std::byte> code, const std::string& arch) = 0;
};

std::unique_ptr<Compiler> load_amd_compiler(const std::vector<std::string>& library_directories);
std::unique_ptr<Compiler> load_nvidia_compiler(const std::vector<std::string>& library_directories);

/// "gfx942" of "gfx942:sramecc+:xnack-".
std::string base_arch(const std::string& arch);

}  // namespace headtune::toolchain
