// The element types of Q, K, V and output as the kernels name them; the 8-bit ones are those of a prefix alone.
#pragma once

#include <headtune/config.h>

namespace headtune::tile {

/// `bias` of the exponent.
struct Bf16 {
  static constexpr int bytes = 2, bias = 127;
};
struct Fp16 {
  static constexpr int bytes = 2, bias = 15;
};
struct E4m3fn {
  static constexpr int bytes = 1, bias = 7;
};
struct E4m3fnuz {
  static constexpr int bytes = 1, bias = 8;
};

template <int dtype>
struct ElementOf;
template <>
struct ElementOf<static_cast<int>(DType::bf16)> {
  using type = Bf16;
};
template <>
struct ElementOf<static_cast<int>(DType::fp16)> {
  using type = Fp16;
};
template <>
struct ElementOf<static_cast<int>(DType::fp8_e4m3fn)> {
  using type = E4m3fn;
};
template <>
struct ElementOf<static_cast<int>(DType::fp8_e4m3fnuz)> {
  using type = E4m3fnuz;
};

}  // namespace headtune::tile
