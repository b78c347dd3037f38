// The simulated HIP entry points for the library, devices and memory.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "tuner/sim/runtime_calls.h"

namespace headtune::sim {
namespace {

using namespace hip;

// --- library and devices --------------------------------------------------------------------------------------------

constexpr int simulated_version = 60'400'000;  ///< the interface is that of HIP 6.4

Error init(unsigned) { return success; }
Error get_version(int* version) { return *version = simulated_version, success; }
Error get_device_count(int* count) { return *count = static_cast<int>(device_models().size()), success; }

Error set_device(int ordinal) {
  return guarded([&] {
    device(ordinal);
    set_current_ordinal(ordinal);
  });
}

Error get_device(int* ordinal) { return *ordinal = current_ordinal(), success; }

int attribute_value(const DeviceModel& model, int wanted) {
  const auto& facts = *model.facts;
  switch (wanted) {
    case attribute::clock_rate:
      return static_cast<int>(facts.clock_ghz * 1e6);
    case attribute::l2_cache_size:
      return static_cast<int>(facts.l2_bytes / facts.xcd_count);
    case attribute::max_threads_per_block:
      return 1024;
    case attribute::max_threads_per_multiprocessor:
      return facts.simds_per_cu * facts.waves_per_simd * facts.wave_size;
    case attribute::multiprocessor_count:
      return facts.cu_count;
    case attribute::max_registers_per_block:
      return facts.simds_per_cu * facts.registers * facts.wave_size;
    case attribute::max_lds_per_workgroup:
    case attribute::max_lds_per_cu:
    case attribute::amd_max_lds_per_cu:
      return facts.lds_bytes;
    case attribute::warp_size:
      return facts.wave_size;
    default:
      return 0;
  }
}

Error device_get_attribute(int* value, int wanted, int ordinal) {
  return guarded([&] { *value = attribute_value(device(ordinal).model(), wanted); });
}

void copy_text(char* to, int length, const std::string& text) {
  if (length <= 0) return;
  std::strncpy(to, text.c_str(), static_cast<std::size_t>(length));
  to[length - 1] = '\0';
}

Error device_get_name(char* name, int length, int ordinal) {
  return guarded([&] { copy_text(name, length, device(ordinal).model().product); });
}

Error device_get_pci_bus_id(char* bus_id, int length, int ordinal) {
  return guarded([&] {
    device(ordinal);
    copy_text(bus_id, length, fmt::format("ffff:{:02x}:00.0", ordinal));
  });
}

Error device_total_mem(std::size_t* bytes, int ordinal) {
  return guarded([&] { *bytes = device(ordinal).model().memory_bytes; });
}

Error device_synchronize() { return success; }

const char* get_error_string(Error error) { return error_text(error); }
Error get_last_error() { return take_last_error(); }

// --- memory ---------------------------------------------------------------------------------------------------------

Error mem_get_info(std::size_t* free_bytes, std::size_t* total) {
  return guarded([&] {
    *total = device().model().memory_bytes;
    *free_bytes = *total - std::min<std::size_t>(*total, device().memory().bytes_in_use());
  });
}

Error malloc(DevicePtr* pointer, std::size_t bytes) {
  return guarded([&] {
    const std::size_t in_use = device().memory().bytes_in_use();
    if (bytes > device().model().memory_bytes - in_use)
      throw Refused(error_out_of_memory, "simulated device memory is full");
    *pointer = reinterpret_cast<DevicePtr>(device().memory().allocate(bytes));
  });
}

Error free(DevicePtr pointer) {
  return guarded([&] {
    if (pointer) device().memory().release(address(pointer));
  });
}

constexpr int memcpy_default = 4;  ///< hipMemcpyDefault: the pointers tell

int copy_kind(const void* to, const void* from, int kind) {
  if (kind != memcpy_default) return kind;
  const bool to_device = device().memory().block_at(address(to)),
             from_device = device().memory().block_at(address(from));
  return (to_device ? 1 : 0) + (from_device ? 2 : 0);
}

Error memcpy_async(void* to, const void* from, std::size_t bytes, int kind, Stream stream) {
  return guarded([&] { submit(stream, Copy{to, from, bytes, copy_kind(to, from, kind)}); });
}

Error memcpy(void* to, const void* from, std::size_t bytes, int kind) {
  return memcpy_async(to, from, bytes, kind, nullptr);
}

Error memset_async(DevicePtr pointer, int byte, std::size_t bytes, Stream stream) {
  return guarded([&] { submit(stream, Fill{address(pointer), byte, bytes}); });
}

Error memset(DevicePtr pointer, int byte, std::size_t bytes) { return memset_async(pointer, byte, bytes, nullptr); }

}  // namespace

void add_device_calls(Api& api) {
  api.init = init, api.driver_get_version = get_version, api.runtime_get_version = get_version;
  api.get_device_count = get_device_count, api.set_device = set_device, api.get_device = get_device;
  api.device_get_attribute = device_get_attribute, api.device_get_name = device_get_name;
  api.device_get_pci_bus_id = device_get_pci_bus_id, api.device_total_mem = device_total_mem;
  api.device_synchronize = device_synchronize, api.get_error_string = get_error_string;
  api.get_last_error = get_last_error;
  api.mem_get_info = mem_get_info, api.malloc = malloc, api.free = free;
  api.memcpy = memcpy, api.memcpy_async = memcpy_async, api.memset = memset, api.memset_async = memset_async;
}

}  // namespace headtune::sim
