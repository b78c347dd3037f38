// hipRTC with comgr.
#include <algorithm>
#include <regex>
#include <stdexcept>

#include "tuner/error.h"
#include "tuner/toolchain/amd_metadata.h"
#include "tuner/toolchain/comgr.h"
#include "tuner/toolchain/compiler.h"
#include "tuner/toolchain/rtc.h"

namespace headtune::toolchain {
namespace {

constexpr const char* names[] = {"libhiprtc.so.7", "libhiprtc.so.6", "libhiprtc.so.5", "libhiprtc.so"};

/// comgr compiles in a temporary folder and prints its random name; logs must not differ from run to run.
std::string without_temporary_folder(const std::string& log) {
  static const std::regex folder("/[^ \n]*/comgr-[0-9a-zA-Z]+/input/");
  return std::regex_replace(log, folder, "");
}

class AmdCompiler : public Compiler {
 public:
  explicit AmdCompiler(const std::vector<std::string>& directories)
      : library_("hipRTC (libhiprtc)", directories, names), rtc_(library_, "hiprtc", "Code"), comgr_(directories) {}

  std::string version() const override { return "hiprtc " + hiprtc_version() + " comgr " + comgr_.version(); }

  Binary compile(const CompileJob& job) override {
    require_target(base_arch(job.arch));
    std::vector<std::string> options = {"--offload-arch=" + job.arch};
    options.insert(options.end(), job.options.begin(), job.options.end());
    auto result = rtc_.compile(job.source, options);
    Binary binary;
    binary.status = result.ok ? CompileStatus::ok : CompileStatus::error;
    binary.log = without_temporary_folder(result.log);
    binary.code = std::move(result.code);
    if (result.ok) binary.kernels = amd_resources(binary.code);
    return binary;
  }

  std::map<std::string, Resources> metadata(std::span<const std::byte> code) const override {
    return amd_resources(code);
  }

  std::vector<Instruction> disassemble(std::span<const std::byte> code, const std::string& arch) override {
    return comgr_.disassemble(code, base_arch(arch));
  }

 private:
  /// The file name carries the full version ("6.4.43484"); hiprtcVersion() only knows two numbers.
  std::string hiprtc_version() const {
    const std::string suffix = version_suffix(library_.path("hiprtcVersion"));
    if (!suffix.empty()) return suffix;
    int major = 0, minor = 0;
    library_.symbol<int (*)(int*, int*)>("hiprtcVersion")(&major, &minor);
    return std::to_string(major) + "." + std::to_string(minor);
  }

  /// hipRTC 5.x corrupts its heap when it is asked for a target that its LLVM does not know.
  void require_target(const std::string& target) const {
    const std::string hiprtc = hiprtc_version();
    const bool too_old = hiprtc.rfind("5.", 0) == 0 && (target == "gfx942" || target == "gfx950");
    const auto known = comgr_.targets();
    if (!too_old && std::find(known.begin(), known.end(), target) != known.end()) return;
    throw std::runtime_error("hipRTC " + hiprtc + " cannot compile for " + target +
                             "; point --rocm at a newer ROCm (gfx950 needs 6.4 or later)");
  }

  SharedLibrary library_;
  Rtc rtc_;
  Comgr comgr_;
};

}  // namespace

std::string base_arch(const std::string& arch) { return arch.substr(0, arch.find(':')); }

std::unique_ptr<Compiler> load_amd_compiler(const std::vector<std::string>& library_directories) {
  return std::make_unique<AmdCompiler>(library_directories);
}

}  // namespace headtune::toolchain
