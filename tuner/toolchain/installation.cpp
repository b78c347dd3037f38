#include "tuner/toolchain/installation.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <optional>

#include "tuner/error.h"

namespace headtune::toolchain {
namespace {

namespace fs = std::filesystem;

constexpr const char* private_library_dir = "usr/lib/x86_64-linux-gnu";
constexpr const char* loader_name = "ld-linux-x86-64.so.2";

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

bool has_hiprtc(const fs::path& directory) {
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(directory, error)) {
    if (entry.path().filename().string().rfind("libhiprtc.so", 0) == 0) return true;
  }
  return false;
}

std::optional<Installation> installation_at(const fs::path& root) {
  std::error_code error;
  const fs::path absolute = fs::absolute(root, error);
  const fs::path libraries = absolute / private_library_dir;
  if (has_hiprtc(libraries)) {
    const bool own_loader = fs::exists(libraries / loader_name, error);
    return Installation{own_loader ? libraries / loader_name : fs::path(), {libraries}};
  }
  for (const char* name : {"lib", "lib64"}) {
    if (has_hiprtc(absolute / name)) return Installation{{}, {absolute / name}};
  }
  return std::nullopt;
}

Installation named_installation(const fs::path& root, const char* who) {
  if (auto found = installation_at(root)) return *found;
  throw UsageError(std::string(who) + ": no libhiprtc under " + root.string() + " (looked in lib, lib64, " +
                   private_library_dir + ")");
}

/// Digits compare as numbers, so that rocm-6.10 is newer than rocm-6.9.
bool older(const fs::path& a, const fs::path& b) { return strverscmp(a.c_str(), b.c_str()) < 0; }

std::vector<fs::path> roots_to_search() {
  std::vector<fs::path> roots;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator("/opt", error)) {
    if (entry.path().filename().string().rfind("rocm-", 0) == 0) roots.push_back(entry.path());
  }
  std::sort(roots.begin(), roots.end(), older);
  roots.emplace_back("/opt/rocm");
  std::reverse(roots.begin(), roots.end());
  const std::string data = environment("XDG_DATA_HOME");
  roots.push_back((data.empty() ? fs::path(environment("HOME")) / ".local/share" : fs::path(data)) / "headtune/hiprtc");
  return roots;
}

}  // namespace

std::vector<std::string> Installation::command(const fs::path& program) const {
  std::vector<std::string> arguments;
  if (!loader.empty()) arguments = {loader, "--library-path", library_dirs.front()};
  arguments.push_back(program);
  for (const fs::path& directory : library_dirs) {
    arguments.emplace_back("--lib-dir");
    arguments.push_back(directory);
  }
  return arguments;
}

Installation find_amd_installation(const fs::path& rocm) {
  if (!rocm.empty()) return named_installation(rocm, "--rocm");
  if (const std::string named = environment("HEADTUNE_ROCM"); !named.empty()) {
    return named_installation(named, "HEADTUNE_ROCM");
  }
  for (const fs::path& root : roots_to_search()) {
    if (auto found = installation_at(root)) return *found;
  }
  return {};
}

Installation find_nvidia_installation() {
  Installation installation;
  std::error_code error;
  for (const std::string& root : {environment("CUDA_HOME"), std::string("/usr/local/cuda")}) {
    if (!root.empty() && fs::is_directory(root + "/lib64", error)) installation.library_dirs.push_back(root + "/lib64");
  }
  return installation;
}

}  // namespace headtune::toolchain
