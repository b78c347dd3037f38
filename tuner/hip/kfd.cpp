#include "tuner/hip/kfd.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <map>

namespace headtune::hip {
namespace {

namespace fs = std::filesystem;
using Properties = std::map<std::string, long long>;

constexpr long long capability_sram_ecc = 0x04000000;  // HSA_CAP_SRAM_EDCSUPPORTED

Properties read_properties(const fs::path& file) {
  Properties properties;
  std::ifstream in(file);
  for (std::string name; in >> name;) {
    unsigned long long value = 0;  // capabilities and ids may use all 64 bits
    if (!(in >> value)) break;
    properties[name] = static_cast<long long>(value);
  }
  return properties;
}

long long value_of(const Properties& properties, const char* name) {
  const auto found = properties.find(name);
  return found == properties.end() ? 0 : found->second;
}

std::vector<fs::path> folders(const fs::path& parent) {
  std::vector<fs::path> result;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(parent, ignored))
    if (entry.is_directory(ignored)) result.push_back(entry.path());
  std::sort(result.begin(), result.end());
  return result;
}

/// Adds up level 2 (one per die) and takes level 3 (the MALL, listed once or once per die) as a whole.
void read_caches(const fs::path& node, KfdNode& result) {
  for (const fs::path& folder : folders(node / "caches")) {
    const Properties cache = read_properties(folder / "properties");
    const long long bytes = value_of(cache, "size") * 1024;
    if (value_of(cache, "level") == 2) result.l2_bytes += bytes;
    if (value_of(cache, "level") == 3) result.llc_bytes = std::max(result.llc_bytes, bytes);
  }
}

std::optional<KfdNode> read_node(const fs::path& folder) {
  const Properties node = read_properties(folder / "properties");
  const int version = static_cast<int>(value_of(node, "gfx_target_version"));
  if (version == 0) return std::nullopt;  // a CPU
  KfdNode result;
  result.domain = static_cast<unsigned>(value_of(node, "domain"));
  result.location_id = static_cast<unsigned>(value_of(node, "location_id"));
  result.target = gfx_name(version);
  if (value_of(node, "capability") & capability_sram_ecc) result.target += ":sramecc+";
  result.cu_count = static_cast<int>(value_of(node, "simd_count") / std::max(1LL, value_of(node, "simd_per_cu")));
  result.wave_size = static_cast<int>(value_of(node, "wave_front_size"));
  result.lds_bytes = value_of(node, "lds_size_in_kb") * 1024;
  read_caches(folder, result);
  return result;
}

}  // namespace

std::vector<KfdNode> kfd_nodes(const fs::path& sysfs) {
  std::vector<KfdNode> nodes;
  for (const fs::path& folder : folders(sysfs / "class/kfd/kfd/topology/nodes"))
    if (auto node = read_node(folder)) nodes.push_back(*node);
  return nodes;
}

std::optional<KfdNode> find_kfd_node(const fs::path& sysfs, std::string_view pci_bus_id) {
  unsigned domain = 0, bus = 0, device = 0, function = 0;
  if (std::sscanf(std::string(pci_bus_id).c_str(), "%x:%x:%x.%x", &domain, &bus, &device, &function) != 4)
    return std::nullopt;
  const unsigned location = bus << 8 | device << 3 | function;
  const auto nodes = kfd_nodes(sysfs);
  for (const unsigned mask : {~0u, ~7u})
    for (const KfdNode& node : nodes)
      if (node.domain == domain && (node.location_id & mask) == (location & mask)) return node;
  return std::nullopt;
}

std::string gfx_name(int version) {
  return fmt::format("gfx{}{}{:x}", version / 10000, version / 100 % 100, version % 100);
}

Target split_target(std::string_view target) {
  Target result;
  for (std::size_t begin = 0; begin <= target.size();) {
    const std::size_t end = std::min(target.find(':', begin), target.size());
    const std::string part(target.substr(begin, end - begin));
    if (begin == 0)
      result.base = part;
    else if (!part.empty())
      result.features.push_back(part);
    begin = end + 1;
  }
  std::sort(result.features.begin(), result.features.end());
  return result;
}

}  // namespace headtune::hip
