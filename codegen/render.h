// Problem and Config -> a short translation unit that instantiates the shipped kernel headers. Kernel bodies are never
// built from strings.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "headtune/config.h"

namespace headtune {

/// The source of one variant. `index_bits` is the width of kv_indices, 32 or 64. Throws UsageError for an unknown
/// operator.
std::string render(const std::string& op, const Problem& problem, const Config& config, int index_bits = 32);

/// The folder that holds headtune/*.h: $HEADTUNE_TEMPLATES, else found from the executable or the working directory,
/// else where this build's sources are. Throws UnavailableError when there is none.
std::filesystem::path templates_dir();

/// Options for compiling an instance for `arch` ("gfx950", "sm_90"), beyond the architecture itself.
std::vector<std::string> compile_options(const std::string& arch, const std::filesystem::path& templates);

/// Files that an instance of `op` includes, directly or not, relative to `templates`, sorted.
std::vector<std::string> included_files(const std::string& op, const std::filesystem::path& templates);

/// SHA-256 over names and contents of those files: rows tuned with other templates are stale.
std::string template_hash(const std::string& op, const std::filesystem::path& templates);

}  // namespace headtune
