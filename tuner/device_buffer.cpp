#include "tuner/device_buffer.h"

#include <fmt/format.h>

#include <array>
#include <utility>

#include "tuner/hip/check.h"

namespace headtune {

DeviceBuffer::DeviceBuffer(const hip::Api& api, std::size_t bytes, unsigned char guard, std::string name)
    : api_(&api), bytes_(bytes), guard_(guard), name_(std::move(name)) {
  const std::size_t total = bytes + 2 * guard_bytes;
  hip::check(api, api.malloc(&base_, total), fmt::format("allocate {} bytes for {}", total, name_));
  hip::check(api, api.memset(base_, guard_, total), "fill " + name_);
}

DeviceBuffer::DeviceBuffer(DeviceBuffer&& other) noexcept { *this = std::move(other); }

DeviceBuffer& DeviceBuffer::operator=(DeviceBuffer&& other) noexcept {
  std::swap(api_, other.api_);
  std::swap(base_, other.base_);
  std::swap(bytes_, other.bytes_);
  std::swap(guard_, other.guard_);
  std::swap(name_, other.name_);
  return *this;
}

DeviceBuffer::~DeviceBuffer() {
  if (base_) api_->free(base_);
}

void DeviceBuffer::fill(unsigned char byte) {
  if (bytes_) hip::check(*api_, api_->memset(data(), byte, bytes_), "fill " + name_);
}

void DeviceBuffer::upload(std::span<const std::byte> from) {
  if (from.empty()) return;
  hip::check(*api_, api_->memcpy(data(), from.data(), from.size(), hip::memcpy_host_to_device), "upload " + name_);
}

void DeviceBuffer::download(std::span<std::byte> to) const {
  if (to.empty()) return;
  hip::check(*api_, api_->memcpy(to.data(), data(), to.size(), hip::memcpy_device_to_host), "download " + name_);
}

std::string DeviceBuffer::guard_damage() const {
  std::array<unsigned char, guard_bytes> guard;
  for (const bool after : {false, true}) {
    const std::byte* from = static_cast<const std::byte*>(base_) + (after ? guard_bytes + bytes_ : 0);
    hip::check(*api_, api_->memcpy(guard.data(), from, guard_bytes, hip::memcpy_device_to_host),
               "read guard of " + name_);
    for (std::size_t i = 0; i < guard_bytes; ++i)
      if (guard[i] != guard_)
        return after ? fmt::format("{}: byte {} after the end was overwritten", name_, i)
                     : fmt::format("{}: byte {} before the start was overwritten", name_, guard_bytes - i);
  }
  return {};
}

}  // namespace headtune
