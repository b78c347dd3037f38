// What the atomic instructions of global memory and LDS compute: f(old, operand) -> new.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>

#include "tuner/sim/ops/float_bits.h"
#include "tuner/sim/ops/operands.h"

namespace headtune::sim::HEADTUNE_SIM_ISA::atomic {

struct Swap {
  template <class T>
  T operator()(T, T data) const {
    return data;
  }
};
struct Add {
  template <class T>
  T operator()(T old, T data) const {
    return old + data;
  }
};
struct Sub {
  template <class T>
  T operator()(T old, T data) const {
    return old - data;
  }
};
struct ReverseSub {
  template <class T>
  T operator()(T old, T data) const {
    return data - old;
  }
};
struct Min {
  template <class T>
  T operator()(T old, T data) const {
    return data < old ? data : old;
  }
};
struct Max {
  template <class T>
  T operator()(T old, T data) const {
    return data > old ? data : old;
  }
};
struct And {
  template <class T>
  T operator()(T old, T data) const {
    return old & data;
  }
};
struct Or {
  template <class T>
  T operator()(T old, T data) const {
    return old | data;
  }
};
struct Xor {
  template <class T>
  T operator()(T old, T data) const {
    return old ^ data;
  }
};
/// Counts up to `data`, then starts at 0 again.
struct Increment {
  template <class T>
  T operator()(T old, T data) const {
    return old >= data ? 0 : old + 1;
  }
};
/// Counts down from `data`.
struct Decrement {
  template <class T>
  T operator()(T old, T data) const {
    return old == 0 || old > data ? data : old - 1;
  }
};
/// A NaN loses against a number.
struct MinNumber {
  template <class T>
  T operator()(T old, T data) const {
    return std::fmin(old, data);
  }
};
struct MaxNumber {
  template <class T>
  T operator()(T old, T data) const {
    return std::fmax(old, data);
  }
};
struct PackedAddF16 {
  std::uint32_t operator()(std::uint32_t old, std::uint32_t data) const {
    const std::uint32_t low = f32_to_f16(f16_to_f32(old & 0xffff) + f16_to_f32(data & 0xffff));
    return low | static_cast<std::uint32_t>(f32_to_f16(f16_to_f32(old >> 16) + f16_to_f32(data >> 16))) << 16;
  }
};
struct PackedAddBf16 {
  std::uint32_t operator()(std::uint32_t old, std::uint32_t data) const {
    return half(old << 16, data << 16) >> 16 | (half(old & 0xffff0000, data & 0xffff0000) & 0xffff0000);
  }
  /// Sum of two f32 that are bf16s, rounded to bf16 in the high half.
  static std::uint32_t half(std::uint32_t a, std::uint32_t b) {
    float x, y;
    std::memcpy(&x, &a, 4);
    std::memcpy(&y, &b, 4);
    const float sum = x + y;
    std::uint32_t bits;
    std::memcpy(&bits, &sum, 4);
    if ((bits & 0x7fffffff) > 0x7f800000) return bits | 0x400000;
    return bits + 0x7fff + (bits >> 16 & 1);
  }
};

/// Lane's operand of type T from vector register `index` on.
template <class T>
T operand(const Wave& wave, int index, int lane) {
  std::uint32_t word[sizeof(T) / 4];
  for (std::size_t part = 0; part < sizeof(T) / 4; ++part) word[part] = wave.v[index + part][lane];
  T value;
  std::memcpy(&value, word, sizeof value);
  return value;
}

template <class T>
void put(Wave& wave, int index, int lane, T value) {
  std::uint32_t word[sizeof(T) / 4];
  std::memcpy(word, &value, sizeof value);
  for (std::size_t part = 0; part < sizeof(T) / 4; ++part) wave.v[index + part][lane] = word[part];
}

}  // namespace headtune::sim::HEADTUNE_SIM_ISA::atomic
