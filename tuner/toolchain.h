// The client of headtune-toolchain, the compile process: a pool of child processes, a timeout per job,
// typed outcomes and a content-addressed cache. The parent never loads a GPU compiler.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace headtune {

/// Static resources of one kernel, as the code object's metadata (AMD) or the driver's report (NVIDIA) states them.
struct Resources {
  int vgpr = 0;           ///< architected vector registers per lane (NVIDIA: registers per thread)
  int agpr = 0;           ///< accumulation registers per lane; 0 on NVIDIA
  int sgpr = 0;           ///< scalar registers per wave; 0 on NVIDIA
  int lds_bytes = 0;      ///< static LDS (shared memory) per workgroup
  int scratch_bytes = 0;  ///< private (local) memory per lane
  int vgpr_spills = 0;
  int sgpr_spills = 0;
  int waves_per_simd = 0;  ///< occupancy bound from registers alone; 0 when not known
  int max_workgroup_size = 0;
};

enum class CompileStatus { ok, error, crashed, timed_out };

struct CompileJob {
  std::string source;                ///< one translation unit
  std::string arch;                  ///< "gfx950", "gfx942:xnack-", "sm_90"
  std::vector<std::string> options;  ///< beyond the architecture: -I, -D, -O, ...
};

struct Binary {
  CompileStatus status = CompileStatus::error;
  std::vector<std::byte> code;               ///< code object (AMD) or cubin (NVIDIA)
  std::string log;                           ///< compiler output, or what ended the child
  int signal = 0;                            ///< when crashed
  std::map<std::string, Resources> kernels;  ///< by kernel name
  double seconds = 0;                        ///< compile time in the child; of the original compile when cached
  bool cached = false;
};

struct Instruction {
  std::uint64_t pc = 0;    ///< address in the ELF image
  std::uint32_t size = 0;  ///< bytes
  std::string text;        ///< as LLVM prints it, without comment
};

struct ToolchainOptions {
  std::filesystem::path program;  ///< headtune-toolchain; empty: beside this executable
  std::filesystem::path rocm;     ///< --rocm PATH: a ROCm root or a private prefix; empty: search
  std::filesystem::path cache;    ///< empty: XDG cache directory
  int jobs = 0;                   ///< parallel compile processes; 0: one per core
  double timeout_seconds = 120;   ///< per job
  bool use_cache = true;
};

class Toolchain {
 public:
  explicit Toolchain(ToolchainOptions options);
  ~Toolchain();
  Toolchain(Toolchain&&) noexcept;
  Toolchain& operator=(Toolchain&&) noexcept;

  /// "hiprtc 6.4.43484 comgr 3.0" or "nvrtc 13.0" for the compiler that serves `arch`.
  /// Throws UnavailableError when there is none.
  std::string version(const std::string& arch);

  Binary compile(const CompileJob& job);

  /// Compiles in parallel; `done(index, binary)` runs on the calling thread in completion order.
  void compile_all(std::span<const CompileJob> jobs, const std::function<void(std::size_t, Binary)>& done);

  /// Every instruction of the code object's .text in address order (AMD only).
  std::vector<Instruction> disassemble(std::span<const std::byte> code, const std::string& arch);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace headtune
