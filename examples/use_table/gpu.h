// The few runtime calls of this example under HIP and CUDA, and device memory that frees itself.
#pragma once

#if defined(__HIP__)
#include <hip/hip_runtime.h>
#define GPU(name) hip##name
#define MULTIPROCESSORS hipDeviceAttributeMultiprocessorCount
#else
#include <cuda_runtime.h>
#define GPU(name) cuda##name
#define MULTIPROCESSORS cudaDevAttrMultiProcessorCount
#endif

#include <cstdio>
#include <cstdlib>
#include <vector>

inline void check(GPU(Error_t) error, const char* call) {
  if (error == GPU(Success)) return;
  std::fprintf(stderr, "%s: %s\n", call, GPU(GetErrorString)(error));
  std::exit(4);
}
#define CHECK(call) check(call, #call)

/// CUs or SMs of the current device.
inline int cu_count() {
  int count = 0;
  CHECK(GPU(DeviceGetAttribute)(&count, MULTIPROCESSORS, 0));
  return count;
}

/// Device memory for `count` elements, zero at first.
template <class T>
class DeviceArray {
 public:
  explicit DeviceArray(std::size_t count) : count_(count) {
    CHECK(GPU(Malloc)(reinterpret_cast<void**>(&data_), count * sizeof(T) + 16));
    CHECK(GPU(Memset)(data_, 0, count * sizeof(T)));
  }
  explicit DeviceArray(const std::vector<T>& host) : DeviceArray(host.size()) {
    CHECK(GPU(Memcpy)(data_, host.data(), count_ * sizeof(T), GPU(MemcpyHostToDevice)));
  }
  DeviceArray(const DeviceArray&) = delete;
  DeviceArray& operator=(const DeviceArray&) = delete;
  ~DeviceArray() { (void)GPU(Free)(data_); }

  T* data() const { return data_; }
  std::vector<T> host() const {
    std::vector<T> copy(count_);
    CHECK(GPU(Memcpy)(copy.data(), data_, count_ * sizeof(T), GPU(MemcpyDeviceToHost)));
    return copy;
  }

 private:
  std::size_t count_;
  T* data_ = nullptr;
};
