// NVRTC.
#include <filesystem>
#include <stdexcept>

#include "tuner/toolchain/compiler.h"
#include "tuner/toolchain/ptxas_log.h"
#include "tuner/toolchain/rtc.h"

namespace headtune::toolchain {
namespace {

/// Cubins are for one device, so they may use what only its own architecture has: Hopper's wgmma needs sm_90a.
std::string exact_arch(const std::string& arch) { return arch == "sm_90" ? "sm_90a" : arch; }

constexpr const char* names[] = {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"};

class NvidiaCompiler : public Compiler {
 public:
  explicit NvidiaCompiler(const std::vector<std::string>& directories)
      : library_("NVRTC (libnvrtc)", directories, names), rtc_(library_, "nvrtc", "CUBIN") {}

  std::string version() const override {
    int major = 0, minor = 0;
    library_.symbol<int (*)(int*, int*)>("nvrtcVersion")(&major, &minor);
    return "nvrtc " + std::to_string(major) + "." + std::to_string(minor);
  }

  Binary compile(const CompileJob& job) override {
    std::vector<std::string> options = {"-arch=" + exact_arch(job.arch), "--ptxas-options=-v", "-default-device"};
    options.insert(options.end(), job.options.begin(), job.options.end());
    if (const std::string headers = cuda_headers(); !headers.empty()) options.push_back("-I" + headers);
    auto result = rtc_.compile(job.source, options);
    PtxasLog log = read_ptxas_log(result.log);
    Binary binary;
    binary.status = result.ok ? CompileStatus::ok : CompileStatus::error;
    binary.log = std::move(log.rest);
    binary.code = std::move(result.code);
    if (result.ok) binary.kernels = std::move(log.kernels);
    return binary;
  }

  std::map<std::string, Resources> metadata(std::span<const std::byte>) const override {
    throw std::runtime_error("resources of a cubin are known only from its compile");
  }

  std::vector<Instruction> disassemble(std::span<const std::byte>, const std::string&) override {
    throw std::runtime_error("NVRTC offers no disassembly");
  }

 private:
  /// cuda_fp16.h and its like lie beside the library: .../lib/libnvrtc.so.13 and .../include.
  std::string cuda_headers() const {
    const auto root = std::filesystem::path(library_.path("nvrtcVersion")).parent_path().parent_path();
    return std::filesystem::exists(root / "include" / "cuda_fp16.h") ? (root / "include").string() : std::string();
  }

  SharedLibrary library_;
  Rtc rtc_;
};

}  // namespace

std::unique_ptr<Compiler> load_nvidia_compiler(const std::vector<std::string>& library_directories) {
  return std::make_unique<NvidiaCompiler>(library_directories);
}

}  // namespace headtune::toolchain
