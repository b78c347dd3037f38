#include "tuner/hip/library.h"

#include <dlfcn.h>

namespace headtune::hip {
namespace {

/// The loader's text when the file itself is absent; it names another file when a dependency is.
bool says_absent(const std::string& text, const std::string& name) {
  return text.starts_with(name + ": cannot open shared object file: No such file");
}

}  // namespace

Library::Library(const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    handle_ = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle_) {
      name_ = name;
      error_.clear();
      return;
    }
    const std::string text = dlerror();
    if (error_.empty() && !says_absent(text, name)) error_ = text;
  }
}

void* Library::symbol(const char* name) const { return handle_ ? dlsym(handle_, name) : nullptr; }

}  // namespace headtune::hip
