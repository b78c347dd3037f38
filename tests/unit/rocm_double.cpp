// A stand-in for AMD's libamdhip64.so: every entry point forwards to a table that the test sets. With it the rocm
// provider's loading, device lookup and calls run on machines without ROCm.
#include "tuner/hip/api.h"

using namespace headtune::hip;

namespace {

const Api* target = nullptr;

}  // namespace

extern "C" void rocm_double_forward_to(const Api* api) { target = api; }

extern "C" {

Error hipInit(unsigned flags) { return target->init(flags); }
Error hipDriverGetVersion(int* version) { return target->driver_get_version(version); }
Error hipRuntimeGetVersion(int* version) { return target->runtime_get_version(version); }
Error hipGetDeviceCount(int* count) { return target->get_device_count(count); }
Error hipSetDevice(int device) { return target->set_device(device); }
Error hipGetDevice(int* device) { return target->get_device(device); }
Error hipDeviceGetAttribute(int* value, int attribute, int device) {
  return target->device_get_attribute(value, attribute, device);
}
Error hipDeviceGetName(char* name, int length, int device) { return target->device_get_name(name, length, device); }
Error hipDeviceGetPCIBusId(char* bus_id, int length, int device) {
  return target->device_get_pci_bus_id(bus_id, length, device);
}
Error hipDeviceTotalMem(std::size_t* bytes, int device) { return target->device_total_mem(bytes, device); }
Error hipDeviceSynchronize() { return target->device_synchronize(); }
const char* hipGetErrorString(Error error) { return target->get_error_string(error); }
Error hipGetLastError() { return target->get_last_error(); }
Error hipMemGetInfo(std::size_t* free, std::size_t* total) { return target->mem_get_info(free, total); }
Error hipMalloc(DevicePtr* pointer, std::size_t bytes) { return target->malloc(pointer, bytes); }
Error hipFree(DevicePtr pointer) { return target->free(pointer); }
Error hipMemcpy(void* to, const void* from, std::size_t bytes, int kind) {
  return target->memcpy(to, from, bytes, kind);
}
Error hipMemcpyAsync(void* to, const void* from, std::size_t bytes, int kind, Stream stream) {
  return target->memcpy_async(to, from, bytes, kind, stream);
}
Error hipMemset(DevicePtr pointer, int byte, std::size_t bytes) { return target->memset(pointer, byte, bytes); }
Error hipMemsetAsync(DevicePtr pointer, int byte, std::size_t bytes, Stream stream) {
  return target->memset_async(pointer, byte, bytes, stream);
}
Error hipModuleLoadData(Module* module, const void* image) { return target->module_load_data(module, image); }
Error hipModuleUnload(Module module) { return target->module_unload(module); }
Error hipModuleGetFunction(Function* function, Module module, const char* name) {
  return target->module_get_function(function, module, name);
}
Error hipFuncGetAttribute(int* value, int attribute, Function function) {
  return target->func_get_attribute(value, attribute, function);
}
Error hipFuncSetAttribute(const void* function, int attribute, int value) {
  return target->func_set_attribute(function, attribute, value);
}
Error hipModuleLaunchKernel(Function function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                            unsigned block_y, unsigned block_z, unsigned dynamic_lds_bytes, Stream stream,
                            void** arguments, void** extra) {
  return target->module_launch_kernel(function, grid_x, grid_y, grid_z, block_x, block_y, block_z, dynamic_lds_bytes,
                                      stream, arguments, extra);
}
Error hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, Function function, int block_size,
                                                         std::size_t dynamic_lds_bytes) {
  return target->module_occupancy_max_active_blocks(blocks, function, block_size, dynamic_lds_bytes);
}
Error hipStreamCreate(Stream* stream) { return target->stream_create(stream); }
Error hipStreamDestroy(Stream stream) { return target->stream_destroy(stream); }
Error hipStreamSynchronize(Stream stream) { return target->stream_synchronize(stream); }
Error hipStreamBeginCapture(Stream stream, int mode) { return target->stream_begin_capture(stream, mode); }
Error hipStreamEndCapture(Stream stream, Graph* graph) { return target->stream_end_capture(stream, graph); }
Error hipGraphInstantiate(GraphExec* exec, Graph graph, GraphNode* error_node, char* log, std::size_t log_bytes) {
  return target->graph_instantiate(exec, graph, error_node, log, log_bytes);
}
Error hipGraphLaunch(GraphExec exec, Stream stream) { return target->graph_launch(exec, stream); }
Error hipGraphExecDestroy(GraphExec exec) { return target->graph_exec_destroy(exec); }
Error hipGraphDestroy(Graph graph) { return target->graph_destroy(graph); }
Error hipEventCreate(Event* event) { return target->event_create(event); }
Error hipEventDestroy(Event event) { return target->event_destroy(event); }
Error hipEventRecord(Event event, Stream stream) { return target->event_record(event, stream); }
Error hipEventSynchronize(Event event) { return target->event_synchronize(event); }
Error hipEventElapsedTime(float* milliseconds, Event start, Event stop) {
  return target->event_elapsed_time(milliseconds, start, stop);
}

}  // extern "C"
