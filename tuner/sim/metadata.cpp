#include "tuner/sim/metadata.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <vector>

namespace headtune::sim {
namespace {

using nlohmann::json;

/// The reader recurses, so nesting is bounded before it runs. Counts nesting without decoding values.
class Nesting {
 public:
  explicit Nesting(std::span<const std::byte> bytes) : bytes_(bytes) {}

  bool within(std::size_t limit) {
    std::vector<std::uint64_t> open;  // values still to come in each open container
    do {
      while (!open.empty() && open.back() == 0) open.pop_back();
      if (!open.empty()) --open.back();
      const std::uint64_t inside = next();
      if (inside != 0) open.push_back(inside);
      if (failed_ || open.size() > limit) return false;
    } while (std::any_of(open.begin(), open.end(), [](std::uint64_t left) { return left != 0; }));
    return true;
  }

 private:
  /// Skips one value's header and payload; returns how many values it contains.
  std::uint64_t next() {
    const auto tag = static_cast<unsigned>(number(1));
    if (tag < 0x80 || tag >= 0xe0 || tag == 0xc0 || tag == 0xc2 || tag == 0xc3) return 0;
    if (tag < 0x90) return 2 * (tag & 15);
    if (tag < 0xa0) return tag & 15;
    if (tag < 0xc0) return skip(tag & 31);
    switch (tag) {
      case 0xc4:
      case 0xd9:
        return skip(number(1));
      case 0xc5:
      case 0xda:
        return skip(number(2));
      case 0xc6:
      case 0xdb:
        return skip(number(4));
      case 0xcc:
      case 0xd0:
        return skip(1);
      case 0xcd:
      case 0xd1:
        return skip(2);
      case 0xca:
      case 0xce:
      case 0xd2:
        return skip(4);
      case 0xcb:
      case 0xcf:
      case 0xd3:
        return skip(8);
      case 0xdc:
        return number(2);
      case 0xdd:
        return number(4);
      case 0xde:
        return 2 * number(2);
      case 0xdf:
        return 2 * number(4);
      default:
        failed_ = true;
        return 0;  // extensions, which this note never has
    }
  }

  std::uint64_t number(int size) {
    std::uint64_t value = 0;
    for (int n = 0; n < size; ++n) {
      if (at_ >= bytes_.size()) return failed_ = true, 0;
      value = value << 8 | static_cast<std::uint64_t>(bytes_[at_++]);
    }
    return value;
  }

  std::uint64_t skip(std::uint64_t size) {
    if (size > bytes_.size() - at_) return failed_ = true, 0;
    at_ += size;
    return 0;
  }

  std::span<const std::byte> bytes_;
  std::size_t at_ = 0;
  bool failed_ = false;
};

KernelArgument read_argument(const json& row) {
  return {row.value(".value_kind", std::string{}), row.value(".offset", 0u), row.value(".size", 0u)};
}

Resources read_resources(const json& row) {
  Resources resources;
  resources.agpr = row.value(".agpr_count", 0);
  resources.vgpr = row.value(".vgpr_count", 0);
  resources.sgpr = row.value(".sgpr_count", 0);
  resources.lds_bytes = row.value(".group_segment_fixed_size", 0);
  resources.scratch_bytes = row.value(".private_segment_fixed_size", 0);
  resources.vgpr_spills = row.value(".vgpr_spill_count", 0);
  resources.sgpr_spills = row.value(".sgpr_spill_count", 0);
  resources.max_workgroup_size = row.value(".max_flat_workgroup_size", 0);
  return resources;
}

Kernel read_kernel(const json& row) {
  Kernel kernel;
  kernel.name = row.at(".name").get<std::string>();
  kernel.max_workgroup_size = row.value(".max_flat_workgroup_size", 1024u);
  kernel.uses_dynamic_stack = row.value(".uses_dynamic_stack", false);
  kernel.resources = read_resources(row);
  if (row.contains(".args"))
    for (const json& argument : row.at(".args")) kernel.arguments.push_back(read_argument(argument));
  return kernel;
}

}  // namespace

std::map<std::string, Kernel> read_metadata(std::span<const std::byte> note) {
  if (!Nesting(note).within(32)) throw BadCode("code object: malformed metadata");
  const auto* begin = reinterpret_cast<const std::uint8_t*>(note.data());
  try {
    const json root = json::from_msgpack(begin, begin + note.size(), false, true);
    std::map<std::string, Kernel> kernels;
    for (const json& row : root.at("amdhsa.kernels")) {
      Kernel kernel = read_kernel(row);
      kernels.emplace(kernel.name, std::move(kernel));
    }
    return kernels;
  } catch (const json::exception& error) {
    throw BadCode(std::string("code object: malformed metadata: ") + error.what());
  }
}

}  // namespace headtune::sim
