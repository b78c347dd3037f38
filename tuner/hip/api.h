// The HIP entry points that headtune calls, as one table of function pointers. Every provider (rocm, cuda, sim, fake)
// fills the same table, so the code above it is the same on every device.
//
// Types repeat the ABI of the HIP 5.2 to 7.x headers without including them; tests/unit/api_abi_* compares each
// pointer with the real headers at compile time. hipDeviceProp_t is left out: its layout changed in HIP 6.0.
#pragma once

#include <cstddef>
#include <cstdint>

namespace headtune::hip {

using Error = int;  ///< hipError_t: an enum with an int-sized underlying type; 0 is success
using DevicePtr = void*;

struct StreamObject;
struct EventObject;
struct ModuleObject;
struct FunctionObject;
struct GraphObject;
struct GraphExecObject;
struct GraphNodeObject;

using Stream = StreamObject*;
using Event = EventObject*;
using Module = ModuleObject*;
using Function = FunctionObject*;
using Graph = GraphObject*;
using GraphExec = GraphExecObject*;
using GraphNode = GraphNodeObject*;

/// Values of HIP's enums that headtune uses (the same in HIP 5.2 to 7.x; checked by the ABI test).
inline constexpr Error success = 0;
inline constexpr Error error_invalid_value = 1;
inline constexpr Error error_out_of_memory = 2;
inline constexpr Error error_not_initialized = 3;
inline constexpr Error error_no_device = 100;
inline constexpr Error error_invalid_device = 101;
inline constexpr Error error_invalid_image = 200;
inline constexpr Error error_invalid_handle = 400;
inline constexpr Error error_not_found = 500;
inline constexpr Error error_illegal_address = 700;
inline constexpr Error error_launch_failure = 719;
inline constexpr Error error_not_supported = 801;
inline constexpr int memcpy_host_to_device = 1;
inline constexpr int memcpy_device_to_host = 2;
inline constexpr int memcpy_device_to_device = 3;
inline constexpr int stream_capture_thread_local = 1;

/// hipDeviceAttribute_t, for Api::device_get_attribute. Sizes are bytes, clocks kHz.
namespace attribute {
inline constexpr int clock_rate = 5;
inline constexpr int l2_cache_size = 19;
inline constexpr int compute_capability_major = 23;
inline constexpr int max_threads_per_block = 56;
inline constexpr int max_threads_per_multiprocessor = 57;
inline constexpr int memory_bus_width = 59;  ///< bits
inline constexpr int memory_clock_rate = 60;
inline constexpr int compute_capability_minor = 61;
inline constexpr int multiprocessor_count = 63;
inline constexpr int pci_bus_id = 67;
inline constexpr int pci_device_id = 68;
inline constexpr int pci_domain_id = 69;
inline constexpr int max_registers_per_block = 71;
inline constexpr int max_lds_per_workgroup = 74;        ///< hipDeviceAttributeMaxSharedMemoryPerBlock
inline constexpr int max_lds_per_workgroup_optin = 75;  ///< NVIDIA: beyond the default 48 KiB
inline constexpr int max_lds_per_cu = 76;               ///< NVIDIA
inline constexpr int warp_size = 87;
inline constexpr int amd_max_lds_per_cu = 10002;
}  // namespace attribute

/// hipFunction_attribute, for Api::func_get_attribute, and hipFuncAttribute, for Api::func_set_attribute.
namespace function_attribute {
inline constexpr int max_threads_per_block = 0;
inline constexpr int static_lds_bytes = 1;
inline constexpr int scratch_bytes = 3;
inline constexpr int registers = 4;
inline constexpr int max_dynamic_lds_bytes = 8;
}  // namespace function_attribute

struct Api {
  // library and devices
  Error (*init)(unsigned flags);
  Error (*driver_get_version)(int* version);
  Error (*runtime_get_version)(int* version);
  Error (*get_device_count)(int* count);
  Error (*set_device)(int device);
  Error (*get_device)(int* device);
  Error (*device_get_attribute)(int* value, int attribute, int device);
  Error (*device_get_name)(char* name, int length, int device);
  Error (*device_get_pci_bus_id)(char* bus_id, int length, int device);
  Error (*device_total_mem)(std::size_t* bytes, int device);
  Error (*device_synchronize)();
  const char* (*get_error_string)(Error error);
  Error (*get_last_error)();
  // memory
  Error (*mem_get_info)(std::size_t* free, std::size_t* total);
  Error (*malloc)(DevicePtr* pointer, std::size_t bytes);
  Error (*free)(DevicePtr pointer);
  Error (*memcpy)(void* to, const void* from, std::size_t bytes, int kind);
  Error (*memcpy_async)(void* to, const void* from, std::size_t bytes, int kind, Stream stream);
  Error (*memset)(DevicePtr pointer, int byte, std::size_t bytes);
  Error (*memset_async)(DevicePtr pointer, int byte, std::size_t bytes, Stream stream);
  // code
  Error (*module_load_data)(Module* module, const void* image);
  Error (*module_unload)(Module module);
  Error (*module_get_function)(Function* function, Module module, const char* name);
  Error (*func_get_attribute)(int* value, int attribute, Function function);
  Error (*func_set_attribute)(const void* function, int attribute, int value);
  Error (*module_launch_kernel)(Function function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                                unsigned block_y, unsigned block_z, unsigned dynamic_lds_bytes, Stream stream,
                                void** arguments, void** extra);
  /// Not HIP's, null where a device cannot do it: as module_launch_kernel, for a kernel that waits itself for the one
  /// before it on the stream and may start earlier (Launch::dependent). `extra` is left out.
  Error (*launch_dependent)(Function function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                            unsigned dynamic_lds_bytes, Stream stream, void** arguments);
  Error (*module_occupancy_max_active_blocks)(int* blocks, Function function, int block_size,
                                              std::size_t dynamic_lds_bytes);
  // streams, events, graphs
  Error (*stream_create)(Stream* stream);
  Error (*stream_destroy)(Stream stream);
  Error (*stream_synchronize)(Stream stream);
  Error (*stream_begin_capture)(Stream stream, int mode);
  Error (*stream_end_capture)(Stream stream, Graph* graph);
  Error (*graph_instantiate)(GraphExec* exec, Graph graph, GraphNode* error_node, char* log, std::size_t log_bytes);
  Error (*graph_launch)(GraphExec exec, Stream stream);
  Error (*graph_exec_destroy)(GraphExec exec);
  Error (*graph_destroy)(Graph graph);
  Error (*event_create)(Event* event);
  Error (*event_destroy)(Event event);
  Error (*event_record)(Event event, Stream stream);
  Error (*event_synchronize)(Event event);
  Error (*event_elapsed_time)(float* milliseconds, Event start, Event stop);
};

}  // namespace headtune::hip
