// Owners of device objects. Every failing call throws a DeviceError that names it.
#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "tuner/hip/api.h"
#include "tuner/hip/check.h"

namespace headtune::hip {

/// Owns one handle; `destroy` is the entry that releases it.
template <class Handle>
class Owned {
 public:
  Owned() = default;
  Owned(Handle handle, Error (*destroy)(Handle)) : handle_(handle), destroy_(destroy) {}
  Owned(Owned&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)), destroy_(other.destroy_) {}
  Owned& operator=(Owned&& other) noexcept {
    std::swap(handle_, other.handle_);
    std::swap(destroy_, other.destroy_);
    return *this;
  }
  ~Owned() {
    if (handle_) destroy_(handle_);
  }
  Handle get() const { return handle_; }
  explicit operator bool() const { return handle_ != nullptr; }

 private:
  Handle handle_ = nullptr;
  Error (*destroy_)(Handle) = nullptr;
};

/// Device memory. Copies are synchronous.
class DeviceBuffer {
 public:
  DeviceBuffer() = default;
  DeviceBuffer(const Api& api, std::size_t bytes) : api_(&api), bytes_(bytes) {
    DevicePtr pointer = nullptr;
    check(api, api.malloc(&pointer, bytes ? bytes : 1), fmt::format("hipMalloc({} bytes)", bytes));
    memory_ = {pointer, api.free};
  }

  /// Allocates and copies `values`.
  template <class T>
  static DeviceBuffer of(const Api& api, std::span<const T> values) {
    DeviceBuffer buffer(api, values.size_bytes());
    buffer.upload(values.data(), values.size_bytes());
    return buffer;
  }

  void upload(const void* from, std::size_t bytes, std::size_t offset = 0) {
    if (bytes) check(*api_, api_->memcpy(at(offset), from, bytes, memcpy_host_to_device), "hipMemcpy to device");
  }
  void download(void* to, std::size_t bytes, std::size_t offset = 0) const {
    if (bytes) check(*api_, api_->memcpy(to, at(offset), bytes, memcpy_device_to_host), "hipMemcpy from device");
  }
  void fill(int byte) {
    if (bytes_) check(*api_, api_->memset(get(), byte, bytes_), "hipMemset");
  }
  void copy_from(const DeviceBuffer& other, std::size_t offset = 0) {
    check(*api_, api_->memcpy(at(offset), other.get(), other.bytes(), memcpy_device_to_device), "hipMemcpy on device");
  }

  void* get() const { return memory_.get(); }
  void* at(std::size_t offset) const { return static_cast<std::byte*>(memory_.get()) + offset; }
  template <class T>
  T* as() const {
    return static_cast<T*>(memory_.get());
  }
  std::size_t bytes() const { return bytes_; }

 private:
  const Api* api_ = nullptr;
  std::size_t bytes_ = 0;
  Owned<DevicePtr> memory_;
};

inline Owned<Stream> make_stream(const Api& api) {
  Stream stream = nullptr;
  check(api, api.stream_create(&stream), "hipStreamCreate");
  return {stream, api.stream_destroy};
}

inline Owned<Event> make_event(const Api& api) {
  Event event = nullptr;
  check(api, api.event_create(&event), "hipEventCreate");
  return {event, api.event_destroy};
}

/// Loads a code object, cubin or scripted image. `code` is copied with a NUL after it, which text images need.
inline Owned<Module> load_module(const Api& api, std::span<const std::byte> code) {
  std::vector<std::byte> image(code.begin(), code.end());
  image.push_back(std::byte{0});
  Module module = nullptr;
  check(api, api.module_load_data(&module, image.data()), "hipModuleLoadData");
  return {module, api.module_unload};
}

inline Function get_function(const Api& api, const Owned<Module>& module, const std::string& name) {
  Function function = nullptr;
  check(api, api.module_get_function(&function, module.get(), name.c_str()), "hipModuleGetFunction(" + name + ")");
  return function;
}

/// Captures what `record(stream)` enqueues, as one executable graph.
template <class Record>
Owned<GraphExec> capture_graph(const Api& api, Stream stream, Record&& record) {
  check(api, api.stream_begin_capture(stream, stream_capture_thread_local), "hipStreamBeginCapture");
  Graph graph = nullptr;
  try {
    record(stream);
  } catch (...) {
    api.stream_end_capture(stream, &graph);
    if (graph) api.graph_destroy(graph);
    throw;
  }
  check(api, api.stream_end_capture(stream, &graph), "hipStreamEndCapture");
  const Owned<Graph> captured(graph, api.graph_destroy);
  GraphExec exec = nullptr;
  check(api, api.graph_instantiate(&exec, graph, nullptr, nullptr, 0), "hipGraphInstantiate");
  return {exec, api.graph_exec_destroy};
}

/// Enqueues one kernel whose only argument is the struct `params`.
template <class Params>
void launch(const Api& api, Function function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block,
            unsigned dynamic_lds_bytes, Stream stream, const Params& params) {
  void* arguments[] = {const_cast<Params*>(&params)};
  check(api,
        api.module_launch_kernel(function, grid_x, grid_y, grid_z, block, 1, 1, dynamic_lds_bytes, stream, arguments,
                                 nullptr),
        "hipModuleLaunchKernel");
}

}  // namespace headtune::hip
