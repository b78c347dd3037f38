#include "tuner/toolchain/compile_cache.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "tuner/resources_json.h"
#include "tuner/sha256.h"
#include "tuner/toolchain/wire.h"

namespace headtune::toolchain {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

/// Changes when the layout of an entry does.
constexpr int format_version = 1;

fs::path default_folder() {
  const char* cache = std::getenv("XDG_CACHE_HOME");
  const char* home = std::getenv("HOME");
  const fs::path base = cache && *cache ? fs::path(cache) : fs::path(home ? home : ".") / ".cache";
  return base / "headtune" / "compile";
}

/// Relative names and contents, so that a moved checkout keeps its entries.
void add_tree(Sha256& digest, const fs::path& include_folder) {
  std::error_code error;
  std::vector<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator(include_folder / "headtune", error)) {
    if (entry.is_regular_file(error)) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  for (const fs::path& file : files) {
    digest.field(file.lexically_relative(include_folder).string()).field(sha256_hex_of_file(file));
  }
}

/// Folders given as -IDIR or -I DIR; the other options are added as text.
std::vector<fs::path> split_includes(const std::vector<std::string>& options, Sha256& digest) {
  std::vector<fs::path> folders;
  for (std::size_t i = 0; i < options.size(); ++i) {
    const std::string& option = options[i];
    if (option.rfind("-I", 0) != 0) {
      digest.field(option);
    } else if (option.size() > 2) {
      folders.emplace_back(option.substr(2));
    } else if (i + 1 < options.size()) {
      folders.emplace_back(options[++i]);
    }
  }
  return folders;
}

}  // namespace

std::string cache_key(const CompileJob& job, const std::string& compiler_version) {
  Sha256 digest;
  digest.field(fmt::format("format {}", format_version)).field(compiler_version).field(job.arch).field(job.source);
  for (const fs::path& folder : split_includes(job.options, digest)) add_tree(digest.field("-I"), folder);
  return digest.hex();
}

CompileCache::CompileCache(fs::path folder) : folder_(folder.empty() ? default_folder() : std::move(folder)) {}

fs::path CompileCache::path_of(const std::string& key) const { return folder_ / key.substr(0, 2) / key; }

std::optional<Binary> CompileCache::find(const std::string& key) const {
  std::ifstream file(path_of(key), std::ios::binary);
  std::string header, code;
  if (!std::getline(file, header)) return std::nullopt;
  code.assign(std::istreambuf_iterator<char>(file), {});
  try {
    const json entry = json::parse(header);
    if (entry.at("code_sha256") != sha256_hex(code)) return std::nullopt;
    Binary binary;
    binary.status = CompileStatus::ok;
    const auto bytes = std::as_bytes(std::span(code));
    binary.code.assign(bytes.begin(), bytes.end());
    binary.log = entry.at("log");
    binary.kernels = resources_of(entry.at("kernels"), AbsentField::refused);
    binary.seconds = entry.at("seconds");
    binary.cached = true;
    return binary;
  } catch (const json::exception&) {
    return std::nullopt;
  }
}

void CompileCache::put(const std::string& key, const Binary& binary) const {
  const json header = {{"code_sha256", sha256_hex(binary.code)},
                       {"kernels", resources_json(binary.kernels)},
                       {"log", binary.log},
                       {"seconds", binary.seconds}};
  const fs::path path = path_of(key);
  const fs::path temporary = fmt::format("{}.{}", path.string(), getpid());
  std::error_code error;
  fs::create_directories(path.parent_path(), error);
  std::ofstream file(temporary, std::ios::binary);
  file << wire::to_line(header) << '\n';
  file.write(reinterpret_cast<const char*>(binary.code.data()), static_cast<std::streamsize>(binary.code.size()));
  file.close();
  if (file) {
    fs::rename(temporary, path, error);
  } else {
    fs::remove(temporary, error);
  }
}

}  // namespace headtune::toolchain
