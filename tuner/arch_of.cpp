#include <fmt/format.h>

#include "tuner/error.h"
#include "tuner/verify.h"

namespace headtune {
namespace {

/// The device's own figure where it reports one.
void refine(const hip::Device& device, int attribute, int& figure) {
  int value = 0;
  if (device.api->device_get_attribute(&value, attribute, device.ordinal) == hip::success && value > 0) figure = value;
}

}  // namespace

Arch arch_of(const hip::Device& device) {
  const Arch* known = find_arch(device.target.c_str());
  if (!known) throw UnavailableError(fmt::format("{}: no kernels for architecture {}", device.spec, device.target));
  Arch arch = *known;
  refine(device, hip::attribute::multiprocessor_count, arch.cu_count);
  refine(device, hip::attribute::warp_size, arch.wave_size);
  if (arch.family == Family::nvidia) {
    refine(device, hip::attribute::max_lds_per_workgroup_optin, arch.lds_bytes);
    int l2 = 0;
    refine(device, hip::attribute::l2_cache_size, l2);
    if (l2 > 0) arch.l2_bytes = arch.llc_bytes = l2;
  }
  return arch;
}

}  // namespace headtune
