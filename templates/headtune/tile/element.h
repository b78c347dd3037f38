// The element types of Q, K, V and output as the kernels name them.
#pragma once

#include <headtune/config.h>

namespace headtune::tile {

struct Bf16 {};
struct Fp16 {};

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

}  // namespace headtune::tile
