#include "tuner/hip/library.h"

#include <dlfcn.h>

namespace headtune::hip {

Library::Library(const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    handle_ = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle_) {
      name_ = name;
      error_.clear();
      return;
    }
    if (!error_.empty()) error_ += "; ";
    error_ += dlerror();
  }
}

void* Library::symbol(const char* name) const { return handle_ ? dlsym(handle_, name) : nullptr; }

}  // namespace headtune::hip
