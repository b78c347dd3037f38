#include "tuner/coverage.h"

#include <fmt/format.h>

#include <algorithm>

namespace headtune {

std::optional<Coverage> coverage(const std::optional<StoredSpace>& space, const std::vector<StoredVariant>& variants,
                                 const std::string& template_hash) {
  if (!space) return std::nullopt;
  const auto tried = std::count_if(variants.begin(), variants.end(), [&](const StoredVariant& v) {
    return v.template_hash == template_hash && v.status != Status::compiled;
  });
  // A space that has shrunk since leaves variants behind that it no longer holds.
  return Coverage{std::min(static_cast<int>(tried), space->legal), space->legal, space->search};
}

std::string describe(const Coverage& c) {
  return fmt::format("tried {} of {} legal configurations ({:.0f} %; {})", c.tried, c.legal, 100.0 * c.tried / c.legal,
                     c.search);
}

}  // namespace headtune
