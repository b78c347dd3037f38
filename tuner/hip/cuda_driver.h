// The part of NVIDIA's driver API that the cuda provider uses, declared here so that no CUDA is needed to build.
// Handles are opaque pointers, enums are ints, device addresses 64-bit integers (stable since CUDA 4).
#pragma once

#include <cstddef>

#include "tuner/hip/api.h"

namespace headtune::hip::cuda {

using Result = int;  ///< CUresult; the values that headtune uses equal HIP's
using Address = unsigned long long;
struct ContextObject;
using Context = ContextObject*;
using Handle = void*;  ///< stream, event, module, function, graph: passed through, never looked into

/// CUlaunchAttribute of 72 bytes: the one that lets a kernel start before the one before it has ended
/// (CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION).
struct LaunchAttribute {
  int id = 6;
  int padding = 0;
  int allowed = 1;
  int rest[15] = {};
};

/// CUlaunchConfig.
struct LaunchConfig {
  unsigned grid_x, grid_y, grid_z, block_x, block_y, block_z, shared_bytes;
  Handle stream;
  const LaunchAttribute* attributes;
  unsigned attribute_count;
};

struct Driver {
  Result (*init)(unsigned flags);
  Result (*driver_get_version)(int* version);
  Result (*device_get_count)(int* count);
  Result (*device_get)(int* device, int ordinal);
  Result (*device_get_attribute)(int* value, int attribute, int device);
  Result (*device_get_name)(char* name, int length, int device);
  Result (*device_get_pci_bus_id)(char* bus_id, int length, int device);
  Result (*device_total_mem)(std::size_t* bytes, int device);
  Result (*primary_ctx_retain)(Context* context, int device);
  Result (*ctx_set_current)(Context context);
  Result (*ctx_get_device)(int* device);
  Result (*ctx_synchronize)();
  Result (*get_error_string)(Result error, const char** text);
  Result (*mem_get_info)(std::size_t* free, std::size_t* total);
  Result (*mem_alloc)(Address* address, std::size_t bytes);
  Result (*mem_free)(Address address);
  Result (*memcpy_htod)(Address to, const void* from, std::size_t bytes);
  Result (*memcpy_dtoh)(void* to, Address from, std::size_t bytes);
  Result (*memcpy_dtod)(Address to, Address from, std::size_t bytes);
  Result (*memcpy_htod_async)(Address to, const void* from, std::size_t bytes, Handle stream);
  Result (*memcpy_dtoh_async)(void* to, Address from, std::size_t bytes, Handle stream);
  Result (*memcpy_dtod_async)(Address to, Address from, std::size_t bytes, Handle stream);
  Result (*memset_d8)(Address address, unsigned char byte, std::size_t bytes);
  Result (*memset_d8_async)(Address address, unsigned char byte, std::size_t bytes, Handle stream);
  Result (*module_load_data)(Handle* module, const void* image);
  Result (*module_unload)(Handle module);
  Result (*module_get_function)(Handle* function, Handle module, const char* name);
  Result (*func_get_attribute)(int* value, int attribute, Handle function);
  Result (*func_set_attribute)(Handle function, int attribute, int value);
  Result (*launch_kernel)(Handle function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                          unsigned block_y, unsigned block_z, unsigned shared_bytes, Handle stream, void** arguments,
                          void** extra);
  Result (*launch_kernel_ex)(const LaunchConfig* config, Handle function, void** arguments, void** extra);
  Result (*occupancy_max_active_blocks)(int* blocks, Handle function, int block_size, std::size_t dynamic_bytes);
  Result (*stream_create)(Handle* stream, unsigned flags);
  Result (*stream_destroy)(Handle stream);
  Result (*stream_synchronize)(Handle stream);
  Result (*stream_begin_capture)(Handle stream, int mode);
  Result (*stream_end_capture)(Handle stream, Handle* graph);
  Result (*graph_instantiate)(Handle* exec, Handle graph, unsigned long long flags);
  Result (*graph_launch)(Handle exec, Handle stream);
  Result (*graph_exec_destroy)(Handle exec);
  Result (*graph_destroy)(Handle graph);
  Result (*event_create)(Handle* event, unsigned flags);
  Result (*event_destroy)(Handle event);
  Result (*event_record)(Handle event, Handle stream);
  Result (*event_synchronize)(Handle event);
  Result (*event_elapsed_time)(float* milliseconds, Handle start, Handle stop);
};

/// Calls visit("cuName", member) for each entry. `_v2` names are the ones behind today's cuda.h macros.
template <class Visit>
void visit_entries(Driver& driver, Visit&& visit) {
  visit("cuInit", driver.init);
  visit("cuDriverGetVersion", driver.driver_get_version);
  visit("cuDeviceGetCount", driver.device_get_count);
  visit("cuDeviceGet", driver.device_get);
  visit("cuDeviceGetAttribute", driver.device_get_attribute);
  visit("cuDeviceGetName", driver.device_get_name);
  visit("cuDeviceGetPCIBusId", driver.device_get_pci_bus_id);
  visit("cuDeviceTotalMem_v2", driver.device_total_mem);
  visit("cuDevicePrimaryCtxRetain", driver.primary_ctx_retain);
  visit("cuCtxSetCurrent", driver.ctx_set_current);
  visit("cuCtxGetDevice", driver.ctx_get_device);
  visit("cuCtxSynchronize", driver.ctx_synchronize);
  visit("cuGetErrorString", driver.get_error_string);
  visit("cuMemGetInfo_v2", driver.mem_get_info);
  visit("cuMemAlloc_v2", driver.mem_alloc);
  visit("cuMemFree_v2", driver.mem_free);
  visit("cuMemcpyHtoD_v2", driver.memcpy_htod);
  visit("cuMemcpyDtoH_v2", driver.memcpy_dtoh);
  visit("cuMemcpyDtoD_v2", driver.memcpy_dtod);
  visit("cuMemcpyHtoDAsync_v2", driver.memcpy_htod_async);
  visit("cuMemcpyDtoHAsync_v2", driver.memcpy_dtoh_async);
  visit("cuMemcpyDtoDAsync_v2", driver.memcpy_dtod_async);
  visit("cuMemsetD8_v2", driver.memset_d8);
  visit("cuMemsetD8Async", driver.memset_d8_async);
  visit("cuModuleLoadData", driver.module_load_data);
  visit("cuModuleUnload", driver.module_unload);
  visit("cuModuleGetFunction", driver.module_get_function);
  visit("cuFuncGetAttribute", driver.func_get_attribute);
  visit("cuFuncSetAttribute", driver.func_set_attribute);
  visit("cuLaunchKernel", driver.launch_kernel);
  visit("cuLaunchKernelEx", driver.launch_kernel_ex);
  visit("cuOccupancyMaxActiveBlocksPerMultiprocessor", driver.occupancy_max_active_blocks);
  visit("cuStreamCreate", driver.stream_create);
  visit("cuStreamDestroy_v2", driver.stream_destroy);
  visit("cuStreamSynchronize", driver.stream_synchronize);
  visit("cuStreamBeginCapture_v2", driver.stream_begin_capture);
  visit("cuStreamEndCapture", driver.stream_end_capture);
  visit("cuGraphInstantiateWithFlags", driver.graph_instantiate);
  visit("cuGraphLaunch", driver.graph_launch);
  visit("cuGraphExecDestroy", driver.graph_exec_destroy);
  visit("cuGraphDestroy", driver.graph_destroy);
  visit("cuEventCreate", driver.event_create);
  visit("cuEventDestroy_v2", driver.event_destroy);
  visit("cuEventRecord", driver.event_record);
  visit("cuEventSynchronize", driver.event_synchronize);
  visit("cuEventElapsedTime", driver.event_elapsed_time);
}

/// CUdevice_attribute for a hipDeviceAttribute_t value, or -1 when headtune does not use it.
constexpr int device_attribute(int hip_attribute) {
  switch (hip_attribute) {
    case attribute::clock_rate:
      return 13;
    case attribute::l2_cache_size:
      return 38;
    case attribute::compute_capability_major:
      return 75;
    case attribute::compute_capability_minor:
      return 76;
    case attribute::max_threads_per_block:
      return 1;
    case attribute::max_threads_per_multiprocessor:
      return 39;
    case attribute::memory_bus_width:
      return 37;
    case attribute::memory_clock_rate:
      return 36;
    case attribute::multiprocessor_count:
      return 16;
    case attribute::pci_bus_id:
      return 33;
    case attribute::pci_device_id:
      return 34;
    case attribute::pci_domain_id:
      return 50;
    case attribute::max_registers_per_block:
      return 12;
    case attribute::max_lds_per_workgroup:
      return 8;
    case attribute::max_lds_per_workgroup_optin:
      return 97;
    case attribute::max_lds_per_cu:
      return 81;
    case attribute::warp_size:
      return 10;
    default:
      return -1;
  }
}

}  // namespace headtune::hip::cuda
