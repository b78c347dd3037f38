// The part that hipRTC and NVRTC share: both are the same C interface under two prefixes.
#pragma once

#include <string>
#include <vector>

#include "tuner/toolchain/shared_library.h"

namespace headtune::toolchain {

class Rtc {
 public:
  struct Result {
    bool ok = false;
    std::vector<std::byte> code;
    std::string log;
  };

  /// `prefix` is "hiprtc" or "nvrtc"; `code` names what to fetch: "Code" or "CUBIN".
  Rtc(const SharedLibrary& library, std::string prefix, std::string code);

  Result compile(const std::string& source, const std::vector<std::string>& options) const;

 private:
  using Program = void*;
  template <class F>
  F function(const std::string& name) const {
    return library_.symbol<F>((prefix_ + name).c_str());
  }
  std::string log_of(Program program) const;
  std::vector<std::byte> code_of(Program program) const;
  void require(int result, const char* call) const;

  const SharedLibrary& library_;
  std::string prefix_;
  std::string code_;
};

}  // namespace headtune::toolchain
