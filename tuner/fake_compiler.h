// The compiler of the scripted device: "compiles" a rendered source as its script says.
#pragma once

#include <filesystem>

#include "tuner/compile_queue.h"

namespace headtune {

/// Throws UsageError for a malformed script.
CompileAll fake_compiler(const std::filesystem::path& script);

}  // namespace headtune
