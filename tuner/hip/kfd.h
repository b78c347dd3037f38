// The AMD kernel driver's view of the GPUs (KFD topology in sysfs): the gfx name and counts of a device without
// hipDeviceProp_t. Source: Linux include/uapi/linux/kfd_sysfs.h.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace headtune::hip {

struct KfdNode {
  unsigned domain = 0;       ///< PCI domain
  unsigned location_id = 0;  ///< PCI bus << 8 | device << 3 | function
  std::string target;        ///< "gfx942:sramecc+"
  int cu_count = 0;
  int wave_size = 0;
  long long lds_bytes = 0;  ///< per CU
  long long l2_bytes = 0;   ///< of all dies
  long long llc_bytes = 0;  ///< MALL where the driver lists it, else 0
};

/// GPU nodes under `sysfs`/class/kfd/kfd/topology/nodes; empty when there is no driver.
std::vector<KfdNode> kfd_nodes(const std::filesystem::path& sysfs);

/// The node with HIP's bus id "0000:c1:00.0". Partitions of one GPU share everything but the function number.
std::optional<KfdNode> find_kfd_node(const std::filesystem::path& sysfs, std::string_view pci_bus_id);

/// "gfx90a" for 90010: major * 10000 + minor * 100 + stepping, which the name writes in hexadecimal.
std::string gfx_name(int gfx_target_version);

/// "gfx942" and {"sramecc+", "xnack-"} of "gfx942:sramecc+:xnack-".
struct Target {
  std::string base;
  std::vector<std::string> features;
};
Target split_target(std::string_view target);

}  // namespace headtune::hip
