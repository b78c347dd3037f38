#include "tuner/toolchain/shared_library.h"

#include <dlfcn.h>

#include <filesystem>

#include "tuner/error.h"

namespace headtune::toolchain {
namespace {

void* open_first(const std::vector<std::string>& directories, std::span<const char* const> names) {
  for (const std::string& directory : directories) {
    for (const char* name : names) {
      const std::string path = directory + "/" + name;
      if (void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)) return handle;
    }
  }
  for (const char* name : names) {
    if (void* handle = dlopen(name, RTLD_NOW | RTLD_LOCAL)) return handle;
  }
  return nullptr;
}

}  // namespace

SharedLibrary::SharedLibrary(const std::string& what, const std::vector<std::string>& directories,
                             std::span<const char* const> names)
    : handle_(open_first(directories, names)) {
  if (handle_) return;
  std::string tried;
  for (const char* name : names) tried += std::string(tried.empty() ? "" : ", ") + name;
  for (const std::string& directory : directories) tried += "; in " + directory;
  throw UnavailableError(what + " not found (tried " + tried + ")");
}

void* SharedLibrary::address(const char* name) const {
  if (void* found = dlsym(handle_, name)) return found;
  throw UnavailableError(std::string("the compiler library lacks ") + name);
}

std::string SharedLibrary::path(const char* a_symbol) const {
  Dl_info info{};
  if (!dladdr(address(a_symbol), &info) || !info.dli_fname) return {};
  std::error_code error;
  const auto resolved = std::filesystem::canonical(info.dli_fname, error);
  return error ? std::string(info.dli_fname) : resolved.string();
}

std::string version_suffix(const std::string& path) {
  const auto at = path.rfind(".so.");
  return at == std::string::npos ? std::string() : path.substr(at + 4);
}

}  // namespace headtune::toolchain
