// The table that a command looks rows up in: those compiled in, or a file's.
#pragma once

#include <functional>
#include <string>

#include "headtune/table.h"

namespace headtune::cli {

using Lookup = std::function<Match(const Problem& problem, const DeviceKey& device, int context)>;

/// `file`: tables/<arch>.json; empty: those compiled in. Throws UsageError.
Lookup lookup_of(const std::string& file);

}  // namespace headtune::cli
