#include "tuner/toolchain/amd_metadata.h"

#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "tuner/toolchain/elf_image.h"

namespace headtune::toolchain {
namespace {

constexpr std::uint32_t nt_amdgpu_metadata = 32;
// gfx90a, gfx942, gfx950: one unified file of 512 registers per lane and SIMD, given out in granules of 8, at most 8
// waves.
constexpr int registers_per_simd = 512;
constexpr int register_granule = 8;
constexpr int max_waves_per_simd = 8;
constexpr std::size_t descriptor_bytes = 64;
constexpr std::size_t descriptor_rsrc3 = 44;

int waves_per_simd(int registers) {
  const int granted = std::max(1, (registers + register_granule - 1) / register_granule) * register_granule;
  return std::min(max_waves_per_simd, registers_per_simd / granted);
}

/// First accumulation register within the wave's unified allocation (rsrc3 bits 0-5: granules of four, less one).
int accumulation_offset(const ElfImage& image, const std::string& descriptor_name) {
  for (const auto& symbol : image.symbols()) {
    if (symbol.name != descriptor_name) continue;
    const auto descriptor = image.at_address(symbol.entry.st_value, descriptor_bytes);
    if (descriptor.empty()) break;
    std::uint32_t rsrc3;
    std::memcpy(&rsrc3, descriptor.data() + descriptor_rsrc3, sizeof rsrc3);
    return 4 * static_cast<int>((rsrc3 & 63) + 1);
  }
  throw std::runtime_error("code object has no kernel descriptor " + descriptor_name);
}

Resources read_kernel(const ElfImage& image, const nlohmann::json& kernel) {
  const auto number = [&](const char* key) { return kernel.value(key, 0); };
  // .vgpr_count is the whole unified allocation, accumulation registers included.
  const int unified = number(".vgpr_count");
  Resources resources;
  resources.agpr = number(".agpr_count");
  resources.vgpr = resources.agpr > 0 ? std::min(unified, accumulation_offset(image, kernel.at(".symbol"))) : unified;
  resources.sgpr = number(".sgpr_count");
  resources.lds_bytes = number(".group_segment_fixed_size");
  resources.scratch_bytes = number(".private_segment_fixed_size");
  resources.vgpr_spills = number(".vgpr_spill_count");
  resources.sgpr_spills = number(".sgpr_spill_count");
  resources.waves_per_simd = waves_per_simd(unified);
  resources.max_workgroup_size = number(".max_flat_workgroup_size");
  return resources;
}

}  // namespace

std::map<std::string, Resources> amd_resources(std::span<const std::byte> code) {
  const ElfImage image(code);
  const auto note = image.note("AMDGPU", nt_amdgpu_metadata);
  if (!note) throw std::runtime_error("code object has no AMDGPU metadata note");
  const auto* begin = reinterpret_cast<const std::uint8_t*>(note->data());
  const auto metadata = nlohmann::json::from_msgpack(begin, begin + note->size());
  std::map<std::string, Resources> kernels;
  for (const auto& kernel : metadata.at("amdhsa.kernels")) {
    kernels[kernel.at(".name").get<std::string>()] = read_kernel(image, kernel);
  }
  return kernels;
}

}  // namespace headtune::toolchain
