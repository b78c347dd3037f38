// A shared library found at run time.
#pragma once

#include <span>
#include <string>
#include <vector>

namespace headtune::toolchain {

class SharedLibrary {
 public:
  /// Tries every name in every directory, then every bare name through the system's search; the first that loads wins.
  /// Throws UnavailableError naming what was tried.
  SharedLibrary(const std::string& what, const std::vector<std::string>& directories,
                std::span<const char* const> names);

  template <class F>
  F symbol(const char* name) const {
    return reinterpret_cast<F>(address(name));
  }

  /// The file that was loaded, with symbolic links resolved: ".../libhiprtc.so.6.4.43484".
  std::string path(const char* a_symbol) const;

 private:
  void* address(const char* name) const;
  void* handle_ = nullptr;
};

/// Version suffix of a library's file name: "6.4.43484"; empty when there is none.
std::string version_suffix(const std::string& path);

}  // namespace headtune::toolchain
