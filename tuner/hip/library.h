// A shared library found at run time. It stays loaded: GPU runtimes start threads that outlive dlclose.
#pragma once

#include <string>
#include <vector>

namespace headtune::hip {

class Library {
 public:
  /// Opens the first of `names` that loads. On failure `error()` is what the loader said about a library that exists
  /// but cannot be used, or empty when there is none.
  explicit Library(const std::vector<std::string>& names);

  explicit operator bool() const { return handle_ != nullptr; }
  const std::string& name() const { return name_; }
  const std::string& error() const { return error_; }
  void* symbol(const char* name) const;

  /// Sets `function` to the symbol and says whether it exists.
  template <class Function>
  bool bind(Function*& function, const char* name) const {
    function = reinterpret_cast<Function*>(symbol(name));
    return function != nullptr;
  }

 private:
  void* handle_ = nullptr;
  std::string name_;
  std::string error_;
};

}  // namespace headtune::hip
