// Host-side conversion of the element types that kernels read and write.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "headtune/arch.h"
#include "headtune/config.h"

namespace headtune {

/// The element's bits, rounded to nearest even. Values beyond the range become infinity (16 bit) or the largest
/// finite value (fp8, as the hardware converters saturate).
std::uint16_t encode(DType type, float value);
float decode(DType type, std::uint16_t bits);

/// Bits of a NaN: 0x7f for e4m3fn, 0x80 for e4m3fnuz.
std::uint16_t nan_bits(DType type);

/// Largest relative error of rounding a normal value: half the spacing at 1.
double unit_roundoff(DType type);

/// "bf16", "fp16", "fp8_e4m3fn", "fp8_e4m3fnuz".
std::string to_string(DType type);

/// Throws UsageError; a bare "fp8" is refused because the two encodings are not interchangeable.
DType parse_dtype(std::string_view text);

/// One element of a tensor in host memory.
inline std::uint16_t load_bits(const std::byte* base, DType type, long long index) {
  if (element_bytes(type) == 1) return static_cast<std::uint16_t>(base[index]);
  return reinterpret_cast<const std::uint16_t*>(base)[index];
}

inline void store_bits(std::byte* base, DType type, long long index, std::uint16_t bits) {
  if (element_bytes(type) == 1)
    base[index] = static_cast<std::byte>(bits);
  else
    reinterpret_cast<std::uint16_t*>(base)[index] = bits;
}

/// Decodes `count` consecutive elements from `index` on.
void decode_row(const std::byte* base, DType type, long long index, int count, float* to);

}  // namespace headtune
