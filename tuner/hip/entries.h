// Walks the table of HIP entry points with the name that each has in the HIP library.
#pragma once

#include "tuner/hip/api.h"

namespace headtune::hip {

/// Calls visit("hipName", member) for each entry; members are references to the function pointers of `api`.
template <class ApiTable, class Visit>
void visit_entries(ApiTable& api, Visit&& visit) {
  visit("hipInit", api.init);
  visit("hipDriverGetVersion", api.driver_get_version);
  visit("hipRuntimeGetVersion", api.runtime_get_version);
  visit("hipGetDeviceCount", api.get_device_count);
  visit("hipSetDevice", api.set_device);
  visit("hipGetDevice", api.get_device);
  visit("hipDeviceGetAttribute", api.device_get_attribute);
  visit("hipDeviceGetName", api.device_get_name);
  visit("hipDeviceGetPCIBusId", api.device_get_pci_bus_id);
  visit("hipDeviceTotalMem", api.device_total_mem);
  visit("hipDeviceSynchronize", api.device_synchronize);
  visit("hipGetErrorString", api.get_error_string);
  visit("hipGetLastError", api.get_last_error);
  visit("hipMemGetInfo", api.mem_get_info);
  visit("hipMalloc", api.malloc);
  visit("hipFree", api.free);
  visit("hipMemcpy", api.memcpy);
  visit("hipMemcpyAsync", api.memcpy_async);
  visit("hipMemset", api.memset);
  visit("hipMemsetAsync", api.memset_async);
  visit("hipModuleLoadData", api.module_load_data);
  visit("hipModuleUnload", api.module_unload);
  visit("hipModuleGetFunction", api.module_get_function);
  visit("hipFuncGetAttribute", api.func_get_attribute);
  visit("hipFuncSetAttribute", api.func_set_attribute);
  visit("hipModuleLaunchKernel", api.module_launch_kernel);
  visit("hipModuleOccupancyMaxActiveBlocksPerMultiprocessor", api.module_occupancy_max_active_blocks);
  visit("hipStreamCreate", api.stream_create);
  visit("hipStreamDestroy", api.stream_destroy);
  visit("hipStreamSynchronize", api.stream_synchronize);
  visit("hipStreamBeginCapture", api.stream_begin_capture);
  visit("hipStreamEndCapture", api.stream_end_capture);
  visit("hipGraphInstantiate", api.graph_instantiate);
  visit("hipGraphLaunch", api.graph_launch);
  visit("hipGraphExecDestroy", api.graph_exec_destroy);
  visit("hipGraphDestroy", api.graph_destroy);
  visit("hipEventCreate", api.event_create);
  visit("hipEventDestroy", api.event_destroy);
  visit("hipEventRecord", api.event_record);
  visit("hipEventSynchronize", api.event_synchronize);
  visit("hipEventElapsedTime", api.event_elapsed_time);
}

}  // namespace headtune::hip
