// The templates' headers that this tool is itself compiled from (launch geometry, layouts, configuration). Kernels are
// compiled from the templates as they are when a sweep runs: with other headers the two would disagree silently.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace headtune {

struct HostHeader {
  std::string name;    ///< "headtune/config.h"
  std::string sha256;  ///< when this tool was built
};
const std::vector<HostHeader>& host_headers();

/// Throws UsageError naming the first of these headers that differs or is missing in `templates`.
void require_same_headers(const std::filesystem::path& templates);

}  // namespace headtune
