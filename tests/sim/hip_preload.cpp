// The HIP runtime that a program built by hipcc calls, on the simulator: preloaded before libamdhip64, it shows that
// such a program computes the right thing without a GPU. Only what examples/use_table needs.
//   LD_PRELOAD=libheadtune_hip_preload.so HEADTUNE_SIM=gfx90a ./program    (headtune-toolchain beside the program)
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>

#include "tuner/hip/provider.h"

namespace {

using namespace headtune::hip;

struct Dim3 {
  unsigned x, y, z;
};

/// What clang puts before main: where the bundle of code objects is.
struct FatBinary {
  std::uint32_t magic, version;
  const char* bundle;
  void* unused;
};

struct CallConfiguration {
  Dim3 grid, block;
  std::size_t lds_bytes;
  Stream stream;
};

const char* bundle = nullptr;
std::map<const void*, std::string>& kernel_names() {
  static std::map<const void*, std::string> names;
  return names;
}
CallConfiguration configuration;

std::string target() {
  const char* set = std::getenv("HEADTUNE_SIM");
  return set ? set : "gfx90a";
}

const Device& device() {
  static const Device opened = open_device("sim:" + target());
  return opened;
}

std::uint64_t word(const char* at) {
  std::uint64_t value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

/// The code object of the simulated target; the format is in clang's "Clang Offload Bundler".
const char* code_object() {
  constexpr std::string_view magic = "__CLANG_OFFLOAD_BUNDLE__";
  if (bundle == nullptr || std::string_view(bundle, magic.size()) != magic) throw std::runtime_error("no code bundle");
  const char* at = bundle + magic.size() + 8;
  for (std::uint64_t i = 0, count = word(bundle + magic.size()); i < count; ++i) {
    const std::uint64_t length = word(at + 16);
    if (std::string_view(at + 24, length).ends_with(target())) return bundle + word(at);
    at += 24 + length;
  }
  throw std::runtime_error("the program holds no code for " + target());
}

Function function_of(const void* host_function) {
  static const Module module = [] {
    Module loaded = nullptr;
    if (device().api->module_load_data(&loaded, code_object()) != success) throw std::runtime_error("module_load_data");
    return loaded;
  }();
  Function function = nullptr;
  device().api->module_get_function(&function, module, kernel_names().at(host_function).c_str());
  return function;
}

}  // namespace

extern "C" {

void** __hipRegisterFatBinary(const FatBinary* binary) {
  bundle = binary->bundle;
  static void* handle = nullptr;
  return &handle;
}
void __hipUnregisterFatBinary(void**) {}
void __hipRegisterFunction(void**, const void* host_function, char*, const char* name, unsigned, void*, void*, void*,
                           void*, int*) {
  kernel_names()[host_function] = name;
}
Error __hipPushCallConfiguration(Dim3 grid, Dim3 block, std::size_t lds_bytes, Stream stream) {
  configuration = {grid, block, lds_bytes, stream};
  return success;
}
Error __hipPopCallConfiguration(Dim3* grid, Dim3* block, std::size_t* lds_bytes, Stream* stream) {
  *grid = configuration.grid, *block = configuration.block;
  *lds_bytes = configuration.lds_bytes, *stream = configuration.stream;
  return success;
}
Error hipLaunchKernel(const void* host_function, Dim3 grid, Dim3 block, void** arguments, std::size_t lds_bytes,
                      Stream stream) {
  return device().api->module_launch_kernel(function_of(host_function), grid.x, grid.y, grid.z, block.x, block.y,
                                            block.z, static_cast<unsigned>(lds_bytes), stream, arguments, nullptr);
}
Error hipFuncSetAttribute(const void*, int, int) { return success; }
Error hipDeviceGetAttribute(int* value, int attribute, int ordinal) {
  return device().api->device_get_attribute(value, attribute, ordinal);
}
Error hipGetLastError() { return device().api->get_last_error(); }
const char* hipGetErrorString(Error error) { return device().api->get_error_string(error); }
Error hipMalloc(void** pointer, std::size_t bytes) { return device().api->malloc(pointer, bytes); }
Error hipFree(void* pointer) { return device().api->free(pointer); }
Error hipMemset(void* pointer, int byte, std::size_t bytes) { return device().api->memset(pointer, byte, bytes); }
Error hipMemcpy(void* to, const void* from, std::size_t bytes, int kind) {
  return device().api->memcpy(to, from, bytes, kind);
}

}  // extern "C"
