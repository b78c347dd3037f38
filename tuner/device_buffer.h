// Device memory with guard bytes on both sides.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "tuner/hip/api.h"

namespace headtune {

class DeviceBuffer {
 public:
  static constexpr std::size_t guard_bytes = 1024;  ///< also keeps the payload aligned

  DeviceBuffer() = default;
  /// `guard` is the byte that fills both guards; choose one that spoils the result where a kernel reads it.
  DeviceBuffer(const hip::Api& api, std::size_t bytes, unsigned char guard, std::string name);
  DeviceBuffer(DeviceBuffer&& other) noexcept;
  DeviceBuffer& operator=(DeviceBuffer&& other) noexcept;
  ~DeviceBuffer();

  void* data() const { return static_cast<std::byte*>(base_) + guard_bytes; }
  std::size_t bytes() const { return bytes_; }

  void fill(unsigned char byte);
  void upload(std::span<const std::byte> from);
  void download(std::span<std::byte> to) const;

  /// Empty, or "out: byte 12 after the end was overwritten".
  std::string guard_damage() const;

 private:
  const hip::Api* api_ = nullptr;
  void* base_ = nullptr;
  std::size_t bytes_ = 0;
  unsigned char guard_ = 0;
  std::string name_;
};

}  // namespace headtune
