// A stand-in for NVIDIA's libcuda.so.1: one H200-like device on host memory that insists, as the driver does, on a
// current context and on the opt-in for more than 48 KiB of dynamic shared memory.
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

using Result = int;
using Address = unsigned long long;
using Handle = void*;

constexpr Result success = 0, invalid_value = 1, invalid_context = 201;

thread_local Handle current_context = nullptr;
int retained_contexts = 0, launches = 0, opted_in_bytes = 48 * 1024;
char objects[16];  // handles point here

Result needs_context() { return current_context ? success : invalid_context; }

Result make(Handle* handle, int kind) {
  *handle = &objects[kind];
  return needs_context();
}

void* host(Address address) { return reinterpret_cast<void*>(address); }

Result copy(void* to, const void* from, std::size_t bytes) {
  if (needs_context() == success) std::memcpy(to, from, bytes);
  return needs_context();
}

Result fill(Address address, unsigned char byte, std::size_t bytes) {
  if (needs_context() == success) std::memset(host(address), byte, bytes);
  return needs_context();
}

}  // namespace

extern "C" {

int cuda_double_contexts() { return retained_contexts; }
int cuda_double_launches() { return launches; }
int cuda_double_opted_in_bytes() { return opted_in_bytes; }

Result cuInit(unsigned) { return success; }
Result cuDriverGetVersion(int* version) { return *version = 13000, success; }
Result cuDeviceGetCount(int* count) { return *count = 1, success; }
Result cuDeviceGet(int* device, int ordinal) { return *device = ordinal, success; }
Result cuDeviceGetAttribute(int* value, int attribute, int) {
  const int known[][2] = {{10, 32}, {16, 132},  {38, 60 << 20}, {75, 9},
                          {76, 0},  {8, 49152}, {97, 232448},   {81, 233472}};
  for (const auto& [number, content] : known)
    if (number == attribute) return *value = content, success;
  return invalid_value;
}
Result cuDeviceGetName(char* name, int length, int) {
  return std::snprintf(name, std::size_t(length), "Double"), success;
}
Result cuDeviceGetPCIBusId(char* id, int length, int) {
  return std::snprintf(id, std::size_t(length), "0000:1b:00.0"), success;
}
Result cuDeviceTotalMem_v2(std::size_t* bytes, int) { return *bytes = 1 << 30, success; }
Result cuDevicePrimaryCtxRetain(Handle* context, int) { return ++retained_contexts, *context = &objects[0], success; }
Result cuCtxSetCurrent(Handle context) { return current_context = context, success; }
Result cuCtxGetDevice(int* device) { return current_context ? (*device = 0, success) : invalid_context; }
Result cuCtxSynchronize() { return needs_context(); }
Result cuGetErrorString(Result error, const char** text) {
  *text = error == invalid_context ? "invalid device context"
          : error == invalid_value ? "invalid argument"
                                   : "no error";
  return success;
}
Result cuMemGetInfo_v2(std::size_t* free, std::size_t* total) { return *free = *total = 1 << 30, needs_context(); }
Result cuMemAlloc_v2(Address* address, std::size_t bytes) {
  if (needs_context()) return invalid_context;
  return *address = reinterpret_cast<Address>(std::malloc(bytes)), success;
}
Result cuMemFree_v2(Address address) { return std::free(host(address)), needs_context(); }
Result cuMemcpyHtoD_v2(Address to, const void* from, std::size_t bytes) { return copy(host(to), from, bytes); }
Result cuMemcpyDtoH_v2(void* to, Address from, std::size_t bytes) { return copy(to, host(from), bytes); }
Result cuMemcpyDtoD_v2(Address to, Address from, std::size_t bytes) { return copy(host(to), host(from), bytes); }
Result cuMemcpyHtoDAsync_v2(Address to, const void* from, std::size_t bytes, Handle) {
  return copy(host(to), from, bytes);
}
Result cuMemcpyDtoHAsync_v2(void* to, Address from, std::size_t bytes, Handle) { return copy(to, host(from), bytes); }
Result cuMemcpyDtoDAsync_v2(Address to, Address from, std::size_t bytes, Handle) {
  return copy(host(to), host(from), bytes);
}
Result cuMemsetD8_v2(Address address, unsigned char byte, std::size_t bytes) { return fill(address, byte, bytes); }
Result cuMemsetD8Async(Address address, unsigned char byte, std::size_t bytes, Handle) {
  return fill(address, byte, bytes);
}
Result cuModuleLoadData(Handle* module, const void*) { return make(module, 1); }
Result cuModuleUnload(Handle) { return needs_context(); }
Result cuModuleGetFunction(Handle* function, Handle, const char*) { return make(function, 2); }
Result cuFuncGetAttribute(int* value, int attribute, Handle) {
  return *value = attribute == 8 ? opted_in_bytes : 40, needs_context();
}
Result cuFuncSetAttribute(Handle, int attribute, int value) {
  if (attribute != 8 || value > 232448) return invalid_value;
  return opted_in_bytes = value, needs_context();
}
Result cuLaunchKernel(Handle, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned shared, Handle,
                      void**, void**) {
  if (shared > unsigned(opted_in_bytes)) return invalid_value;
  return ++launches, needs_context();
}
Result cuLaunchKernelEx(const void*, Handle, void**, void**) { return ++launches, needs_context(); }
Result cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, Handle, int, std::size_t) {
  return *blocks = 2, needs_context();
}
Result cuStreamCreate(Handle* stream, unsigned) { return make(stream, 3); }
Result cuStreamDestroy_v2(Handle) { return needs_context(); }
Result cuStreamSynchronize(Handle) { return needs_context(); }
Result cuStreamBeginCapture_v2(Handle, int) { return needs_context(); }
Result cuStreamEndCapture(Handle, Handle* graph) { return make(graph, 4); }
Result cuGraphInstantiateWithFlags(Handle* exec, Handle, unsigned long long) { return make(exec, 5); }
Result cuGraphLaunch(Handle, Handle) { return needs_context(); }
Result cuGraphExecDestroy(Handle) { return needs_context(); }
Result cuGraphDestroy(Handle) { return needs_context(); }
Result cuEventCreate(Handle* event, unsigned) { return make(event, 6); }
Result cuEventDestroy_v2(Handle) { return needs_context(); }
Result cuEventRecord(Handle, Handle) { return needs_context(); }
Result cuEventSynchronize(Handle) { return needs_context(); }
Result cuEventElapsedTime(float* milliseconds, Handle, Handle) { return *milliseconds = 1.5f, needs_context(); }

}  // extern "C"
