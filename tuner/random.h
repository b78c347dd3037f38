// Counter-based random numbers: the same on every machine, in any order, from any thread.
#pragma once

#include <cstdint>

namespace headtune {

/// splitmix64's finaliser (public domain constants by Sebastiano Vigna).
constexpr std::uint64_t mix(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

/// The `index`-th number of the stream `seed`.
constexpr std::uint64_t random_bits(std::uint64_t seed, std::uint64_t index) { return mix(mix(seed) ^ index); }

/// About standard normal: the sum of twelve uniform numbers; the standard library's differs between implementations.
constexpr float random_normal(std::uint64_t seed, std::uint64_t index) {
  float sum = -6;
  for (std::uint64_t i = 0; i < 12; ++i)
    sum += static_cast<float>(random_bits(seed, 12 * index + i) >> 40) / static_cast<float>(1 << 24);
  return sum;
}

}  // namespace headtune
