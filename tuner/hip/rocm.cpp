#include "tuner/hip/rocm.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <grp.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <optional>

#include "tuner/hip/entries.h"
#include "tuner/hip/library.h"

namespace headtune::hip {
namespace {

namespace fs = std::filesystem;

std::string group_name(gid_t group) {
  const struct group* entry = getgrgid(group);
  return entry ? entry->gr_name : std::to_string(group);
}

/// Binds every entry; returns the first name that the library lacks.
std::optional<std::string> bind_entries(const Library& library, Api& api) {
  std::optional<std::string> missing;
  visit_entries(api, [&](const char* name, auto& entry) {
    if (!library.bind(entry, name) && !missing) missing = name;
  });
  return missing;
}

std::string version_text(const Api& api, const Library& library) {
  int version = 0;
  api.runtime_get_version(&version);  // major * 10^7 + minor * 10^5 + patch
  return fmt::format("HIP {}.{}.{} from {}", version / 10000000, version / 100000 % 100, version % 100000,
                     library.name());
}

Provider unavailable(std::string reason) { return {.name = "rocm", .reason = std::move(reason)}; }

std::string not_loaded(const fs::path& rocm, const Library& library) {
  if (!library.error().empty()) return "libamdhip64.so does not load: " + library.error();
  return fmt::format("no libamdhip64.so in {}; install ROCm 5.2 or newer, or give its root with --rocm",
                     rocm.empty() ? "/opt/rocm or the library path" : rocm.string());
}

Provider load(const ProviderOptions& options) {
  static Api api;  // one ROCm per process: two copies of its runtime do not share a device
  const Library library(rocm_libraries(options.rocm));
  if (!library) return unavailable(not_loaded(options.rocm, library));
  if (auto name = bind_entries(library, api))
    return unavailable(fmt::format("{} lacks {}: ROCm 5.2 or newer is needed", library.name(), *name));
  if (const std::string problem = kfd_problem(options.dev); !problem.empty()) return unavailable(problem);
  if (const Error error = api.init(0)) return unavailable(fmt::format("hipInit: {}", api.get_error_string(error)));
  int count = 0;
  if (api.get_device_count(&count) != success || count == 0) return unavailable("no AMD GPU that ROCm supports");
  return {.name = "rocm", .api = &api, .version = version_text(api, library)};
}

}  // namespace

std::vector<std::string> rocm_libraries(const fs::path& rocm) {
  // Versioned names first: the plain .so belongs to the -dev package and may be absent.
  static constexpr const char* names[] = {"libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so.5", "libamdhip64.so"};
  static constexpr const char* folders[] = {"lib", "lib64", "lib/x86_64-linux-gnu", "usr/lib/x86_64-linux-gnu"};
  std::vector<std::string> paths;
  if (!rocm.empty()) {
    for (const char* folder : folders)
      for (const char* name : names)
        if (fs::exists(rocm / folder / name)) paths.push_back(rocm / folder / name);
    if (paths.empty()) paths.push_back(rocm / "lib" / names[3]);  // its error text names the path
    return paths;
  }
  // AMD's own installation before a distribution's, as headtune-toolchain searches.
  for (const char* name : names) paths.push_back(std::string("/opt/rocm/lib/") + name);
  for (const char* name : names) paths.push_back(name);
  return paths;
}

std::string kfd_problem(const fs::path& dev) {
  const fs::path kfd = dev / "kfd";
  const int file = open(kfd.c_str(), O_RDWR | O_CLOEXEC);
  if (file >= 0) return close(file), "";
  const int reason = errno;
  if (reason == ENOENT)
    return fmt::format(
        "no AMD GPU: {} does not exist (amdgpu kernel driver not loaded, or device not passed into this container)",
        kfd.string());
  struct stat info {};
  if (reason != EACCES || stat(kfd.c_str(), &info) != 0)
    return fmt::format("{}: {}", kfd.string(), std::strerror(reason));
  return kfd_permission_text(kfd, info.st_gid);
}

std::string kfd_permission_text(const fs::path& kfd, unsigned group) {
  const std::string name = group_name(group);
  return fmt::format("no permission on {}: it belongs to group {}; run `sudo usermod -aG {} $USER` and log in again",
                     kfd.string(), name, name);
}

Provider rocm_provider(const ProviderOptions& options) { return load(options); }

}  // namespace headtune::hip
