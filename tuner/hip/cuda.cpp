#include "tuner/hip/cuda.h"

#include <fmt/format.h>

#include <map>
#include <mutex>
#include <optional>

#include "tuner/hip/cuda_driver.h"
#include "tuner/hip/library.h"

namespace headtune::hip {
namespace {

using cuda::Address;
using cuda::Context;
using cuda::Driver;
using cuda::Handle;

Driver driver;
thread_local int current_device = 0;
thread_local Error last_error = success;

Error remember(Error error) {
  if (error) last_error = error;
  return error;
}

/// The primary context of a device; retained once and kept, as HIP's runtime does.
Error context_of(int device, Context* context) {
  static std::mutex mutex;
  static std::map<int, Context> retained;
  const std::lock_guard lock(mutex);
  if (!retained.contains(device)) {
    Context fresh = nullptr;
    if (const Error error = driver.primary_ctx_retain(&fresh, device)) return error;
    retained[device] = fresh;
  }
  *context = retained[device];
  return success;
}

/// Makes the thread's device current in the driver: HIP does so by itself, CUDA's driver API wants to be told. Asks
/// each time, since others in the process (PyTorch) switch contexts too.
Error make_current() {
  int present = -1;
  if (driver.ctx_get_device(&present) == success && present == current_device) return success;
  Context context = nullptr;
  if (const Error error = context_of(current_device, &context)) return error;
  return driver.ctx_set_current(context);
}

template <class Entry, class... Arguments>
Error call(Entry entry, Arguments... arguments) {
  if (const Error error = make_current()) return remember(error);
  return remember(entry(arguments...));
}

Address address(const void* pointer) { return reinterpret_cast<Address>(pointer); }

template <class Object>
Handle* out(Object** object) {
  return reinterpret_cast<Handle*>(object);
}

Error set_device(int device) {
  int count = 0;
  if (const Error error = driver.device_get_count(&count)) return remember(error);
  if (device < 0 || device >= count) return remember(error_invalid_device);
  current_device = device;
  return remember(make_current());
}

/// The one that whoever ran last on this thread made current.
Error get_device(int* device) {
  if (driver.ctx_get_device(device) != success) *device = current_device;
  return success;
}

Error device_get_attribute(int* value, int attribute, int device) {
  const int number = cuda::device_attribute(attribute);
  return remember(number < 0 ? error_invalid_value : driver.device_get_attribute(value, number, device));
}

const char* get_error_string(Error error) {
  const char* text = nullptr;
  return driver.get_error_string(error, &text) == success && text ? text : "unknown error";
}

Error get_last_error() {
  const Error error = last_error;
  last_error = success;
  return error;
}

Error memcpy(void* to, const void* from, std::size_t bytes, int kind) {
  if (kind == memcpy_host_to_device) return call(driver.memcpy_htod, address(to), from, bytes);
  if (kind == memcpy_device_to_host) return call(driver.memcpy_dtoh, to, address(from), bytes);
  if (kind == memcpy_device_to_device) return call(driver.memcpy_dtod, address(to), address(from), bytes);
  return remember(error_invalid_value);
}

Error memcpy_async(void* to, const void* from, std::size_t bytes, int kind, Stream stream) {
  if (kind == memcpy_host_to_device) return call(driver.memcpy_htod_async, address(to), from, bytes, stream);
  if (kind == memcpy_device_to_host) return call(driver.memcpy_dtoh_async, to, address(from), bytes, stream);
  if (kind == memcpy_device_to_device) return call(driver.memcpy_dtod_async, address(to), address(from), bytes, stream);
  return remember(error_invalid_value);
}

/// Beyond 48 KiB of static and dynamic shared memory NVIDIA wants a kernel to opt in; HIP has no such step.
Error allow_dynamic_lds(Function function, unsigned bytes) {
  if (bytes == 0) return success;
  int allowed = 0;
  if (const Error error =
          call(driver.func_get_attribute, &allowed, function_attribute::max_dynamic_lds_bytes, function))
    return error;
  if (static_cast<unsigned>(allowed) >= bytes) return success;
  return call(driver.func_set_attribute, function, function_attribute::max_dynamic_lds_bytes, static_cast<int>(bytes));
}

Error module_launch_kernel(Function function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                           unsigned block_y, unsigned block_z, unsigned dynamic_lds_bytes, Stream stream,
                           void** arguments, void** extra) {
  if (const Error error = allow_dynamic_lds(function, dynamic_lds_bytes)) return error;
  return call(driver.launch_kernel, function, grid_x, grid_y, grid_z, block_x, block_y, block_z, dynamic_lds_bytes,
              stream, arguments, extra);
}

/// Hopper can, and drivers from 12.3 on keep it in captured graphs.
bool can_launch_dependent() {
  constexpr int capability_major = 75, hopper = 9, graphs_keep_it = 12030;
  static const int version = [] {
    int number = 0;
    driver.driver_get_version(&number);
    return number;
  }();
  int major = 0;
  driver.device_get_attribute(&major, capability_major, current_device);
  return major >= hopper && version >= graphs_keep_it;
}

Error launch_dependent(Function function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                       unsigned dynamic_lds_bytes, Stream stream, void** arguments) {
  if (!can_launch_dependent())
    return module_launch_kernel(function, grid_x, grid_y, grid_z, block_x, 1, 1, dynamic_lds_bytes, stream, arguments,
                                nullptr);
  if (const Error error = allow_dynamic_lds(function, dynamic_lds_bytes)) return error;
  const cuda::LaunchAttribute early;
  const cuda::LaunchConfig config{grid_x, grid_y, grid_z, block_x, 1, 1, dynamic_lds_bytes, stream, &early, 1};
  return call(driver.launch_kernel_ex, &config, function, arguments, static_cast<void**>(nullptr));
}

void fill_device_entries(Api& api) {
  api.init = [](unsigned flags) { return remember(driver.init(flags)); };
  api.driver_get_version = [](int* version) { return remember(driver.driver_get_version(version)); };
  api.runtime_get_version = api.driver_get_version;
  api.get_device_count = [](int* count) { return remember(driver.device_get_count(count)); };
  api.set_device = set_device;
  api.get_device = get_device;
  api.device_get_attribute = device_get_attribute;
  api.device_get_name = [](char* name, int length, int device) {
    return remember(driver.device_get_name(name, length, device));
  };
  api.device_get_pci_bus_id = [](char* bus_id, int length, int device) {
    return remember(driver.device_get_pci_bus_id(bus_id, length, device));
  };
  api.device_total_mem = [](std::size_t* bytes, int device) {
    return remember(driver.device_total_mem(bytes, device));
  };
  api.device_synchronize = [] { return call(driver.ctx_synchronize); };
  api.get_error_string = get_error_string;
  api.get_last_error = get_last_error;
}

void fill_memory_entries(Api& api) {
  api.mem_get_info = [](std::size_t* free, std::size_t* total) { return call(driver.mem_get_info, free, total); };
  api.malloc = [](DevicePtr* pointer, std::size_t bytes) {
    return call(driver.mem_alloc, reinterpret_cast<Address*>(pointer), bytes);
  };
  api.free = [](DevicePtr pointer) { return pointer ? call(driver.mem_free, address(pointer)) : success; };
  api.memcpy = memcpy;
  api.memcpy_async = memcpy_async;
  api.memset = [](DevicePtr pointer, int byte, std::size_t bytes) {
    return call(driver.memset_d8, address(pointer), static_cast<unsigned char>(byte), bytes);
  };
  api.memset_async = [](DevicePtr pointer, int byte, std::size_t bytes, Stream stream) {
    return call(driver.memset_d8_async, address(pointer), static_cast<unsigned char>(byte), bytes, stream);
  };
}

void fill_code_entries(Api& api) {
  api.module_load_data = [](Module* module, const void* image) {
    return call(driver.module_load_data, out(module), image);
  };
  api.module_unload = [](Module module) { return call(driver.module_unload, module); };
  api.module_get_function = [](Function* function, Module module, const char* name) {
    return call(driver.module_get_function, out(function), module, name);
  };
  api.func_get_attribute = [](int* value, int attribute, Function function) {
    return call(driver.func_get_attribute, value, attribute, function);
  };
  api.func_set_attribute = [](const void* function, int attribute, int value) {
    return call(driver.func_set_attribute, const_cast<void*>(function), attribute, value);
  };
  api.module_launch_kernel = module_launch_kernel;
  api.launch_dependent = launch_dependent;
  api.module_occupancy_max_active_blocks = [](int* blocks, Function function, int block_size, std::size_t bytes) {
    return call(driver.occupancy_max_active_blocks, blocks, function, block_size, bytes);
  };
}

void fill_stream_entries(Api& api) {
  api.stream_create = [](Stream* stream) { return call(driver.stream_create, out(stream), 0u); };
  api.stream_destroy = [](Stream stream) { return call(driver.stream_destroy, stream); };
  api.stream_synchronize = [](Stream stream) { return call(driver.stream_synchronize, stream); };
  api.event_create = [](Event* event) { return call(driver.event_create, out(event), 0u); };
  api.event_destroy = [](Event event) { return call(driver.event_destroy, event); };
  api.event_record = [](Event event, Stream stream) { return call(driver.event_record, event, stream); };
  api.event_synchronize = [](Event event) { return call(driver.event_synchronize, event); };
  api.event_elapsed_time = [](float* milliseconds, Event start, Event stop) {
    return call(driver.event_elapsed_time, milliseconds, start, stop);
  };
}

void fill_graph_entries(Api& api) {
  api.stream_begin_capture = [](Stream stream, int mode) { return call(driver.stream_begin_capture, stream, mode); };
  api.stream_end_capture = [](Stream stream, Graph* graph) {
    return call(driver.stream_end_capture, stream, out(graph));
  };
  api.graph_instantiate = [](GraphExec* exec, Graph graph, GraphNode*, char*, std::size_t) {
    return call(driver.graph_instantiate, out(exec), graph, 0ull);
  };
  api.graph_launch = [](GraphExec exec, Stream stream) { return call(driver.graph_launch, exec, stream); };
  api.graph_exec_destroy = [](GraphExec exec) { return call(driver.graph_exec_destroy, exec); };
  api.graph_destroy = [](Graph graph) { return call(driver.graph_destroy, graph); };
}

Api filled() {
  Api api{};
  fill_device_entries(api);
  fill_memory_entries(api);
  fill_code_entries(api);
  fill_stream_entries(api);
  fill_graph_entries(api);
  return api;
}

Provider unavailable(std::string reason) { return {.name = "cuda", .reason = std::move(reason)}; }

std::optional<std::string> bind_driver(const Library& library) {
  std::optional<std::string> missing;
  visit_entries(driver, [&](const char* name, auto& entry) {
    if (!library.bind(entry, name) && !missing) missing = name;
  });
  return missing;
}

}  // namespace

Provider cuda_provider() {
  static const Api api = filled();
  const Library library({"libcuda.so.1", "libcuda.so"});
  if (!library)
    return unavailable(library.error().empty() ? "no libcuda.so.1: NVIDIA's driver is not installed"
                                               : "libcuda.so.1 does not load: " + library.error());
  if (auto name = bind_driver(library))
    return unavailable(fmt::format("{} lacks {}: a driver for CUDA 12 or newer is needed", library.name(), *name));
  if (const Error error = driver.init(0)) return unavailable(fmt::format("cuInit: {}", get_error_string(error)));
  int version = 0, count = 0;
  driver.driver_get_version(&version);  // major * 1000 + minor * 10
  if (driver.device_get_count(&count) != success || count == 0) return unavailable("no NVIDIA GPU");
  return {.name = "cuda", .api = &api, .version = fmt::format("CUDA driver {}.{}", version / 1000, version / 10 % 100)};
}

}  // namespace headtune::hip
