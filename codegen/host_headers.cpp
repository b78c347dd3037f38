#include "codegen/host_headers.h"

#include <fmt/format.h>

#include <fstream>
#include <iterator>

#include "tuner/error.h"
#include "tuner/sha256.h"

namespace headtune {

const std::vector<HostHeader>& host_headers() {
  static const std::vector<HostHeader> headers = {
#include "host_headers.inc"
  };
  return headers;
}

void require_same_headers(const std::filesystem::path& templates) {
  for (const HostHeader& header : host_headers()) {
    std::ifstream in(templates / header.name, std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(in), {}};
    if (!in.is_open() || sha256_hex(text) != header.sha256)
      throw UsageError(
          fmt::format("{}: {} the one that this headtune was built with; rebuild headtune from these templates",
                      (templates / header.name).string(), in.is_open() ? "differs from" : "missing, unlike"));
  }
}

}  // namespace headtune
