// Where the compilers are: a ROCm root, a private prefix with its own loader, or the system's libraries.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace headtune::toolchain {

struct Installation {
  std::filesystem::path loader;                     ///< the prefix's own ld-linux; empty: the system's
  std::vector<std::filesystem::path> library_dirs;  ///< empty: the system's search path

  /// Command line that starts `program` under this installation.
  std::vector<std::string> command(const std::filesystem::path& program) const;
};

/// First of: `rocm` (--rocm), environment HEADTUNE_ROCM, /opt/rocm and the newest /opt/rocm-*, the private prefix
/// ${XDG_DATA_HOME:-~/.local/share}/headtune/hiprtc, the system's libraries. A place that was named but holds no hipRTC
/// is a UsageError; a place that was only searched is passed over.
Installation find_amd_installation(const std::filesystem::path& rocm);

/// $CUDA_HOME, /usr/local/cuda, then the system's libraries.
Installation find_nvidia_installation();

}  // namespace headtune::toolchain
