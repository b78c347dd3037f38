// Device memory with guard bytes on both sides.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "tuner/hip/buffer.h"

namespace headtune {

class GuardedBuffer {
 public:
  static constexpr std::size_t guard_bytes = 1024;  ///< also keeps the payload aligned

  /// `guard` is the byte that fills both guards; choose one that spoils the result where a kernel reads it.
  GuardedBuffer(const hip::Api& api, std::size_t bytes, unsigned char guard, std::string name);

  void* data() const { return memory_.at(guard_bytes); }
  std::size_t bytes() const { return bytes_; }

  void fill(unsigned char byte);
  /// At most bytes().
  void upload(std::span<const std::byte> from) { memory_.upload(from.data(), from.size(), guard_bytes); }
  void download(std::span<std::byte> to) const { memory_.download(to.data(), to.size(), guard_bytes); }

  /// Empty, or "out: byte 12 after the end was overwritten".
  std::string guard_damage() const;

 private:
  const hip::Api* api_;
  std::size_t bytes_;
  unsigned char guard_;
  std::string name_;
  hip::DeviceBuffer memory_;
};

}  // namespace headtune
