// Compiled binaries on disk, by what they were compiled from.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "tuner/toolchain.h"

namespace headtune::toolchain {

/// SHA-256 over source, architecture, options, compiler version and every file under `headtune/` of each -I folder (all
/// of a headtune kernel's includes are there; other includes must not change under one compiler version).
std::string cache_key(const CompileJob& job, const std::string& compiler_version);

class CompileCache {
 public:
  /// An empty folder means ${XDG_CACHE_HOME:-~/.cache}/headtune/compile.
  explicit CompileCache(std::filesystem::path folder);

  /// Nothing when there is no entry or it is damaged.
  std::optional<Binary> find(const std::string& key) const;
  /// Written under another name, then renamed: a reader sees all of it or nothing. Failure to write is not an error.
  void put(const std::string& key, const Binary& binary) const;

 private:
  std::filesystem::path path_of(const std::string& key) const;
  std::filesystem::path folder_;
};

}  // namespace headtune::toolchain
