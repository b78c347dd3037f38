#include "tuner/guarded_buffer.h"

#include <fmt/format.h>

#include <array>
#include <utility>

#include "tuner/hip/check.h"

namespace headtune {

GuardedBuffer::GuardedBuffer(const hip::Api& api, std::size_t bytes, unsigned char guard, std::string name)
    : api_(&api), bytes_(bytes), guard_(guard), name_(std::move(name)), memory_(api, bytes + 2 * guard_bytes) {
  memory_.fill(guard_);
}

void GuardedBuffer::fill(unsigned char byte) {
  if (bytes_) hip::check(*api_, api_->memset(data(), byte, bytes_), "fill " + name_);
}

std::string GuardedBuffer::guard_damage() const {
  std::array<unsigned char, guard_bytes> guard;
  for (const bool after : {false, true}) {
    memory_.download(guard.data(), guard_bytes, after ? guard_bytes + bytes_ : 0);
    for (std::size_t i = 0; i < guard_bytes; ++i)
      if (guard[i] != guard_)
        return after ? fmt::format("{}: byte {} after the end was overwritten", name_, i)
                     : fmt::format("{}: byte {} before the start was overwritten", name_, guard_bytes - i);
  }
  return {};
}

}  // namespace headtune
