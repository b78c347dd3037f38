// Reading and writing operands, 64 lanes at a time. Everything here is inside the namespace of the instruction-set
// build.
#pragma once

#include <cstdint>
#include <cstring>

#ifdef __AVX2__
#include <immintrin.h>
#endif

#include "tuner/sim/inst.h"

#ifndef HEADTUNE_SIM_ISA
#define HEADTUNE_SIM_ISA generic
#endif

namespace headtune::sim::HEADTUNE_SIM_ISA {

/// One 32-bit word of an operand for every lane.
struct alignas(64) Lanes {
  std::uint32_t word[kLanes];
};

/// Scalar value of word `part` of an operand that is not a vector register.
inline std::uint32_t scalar_word(const Wave& wave, const Operand& operand, int part = 0) {
  if (operand.kind == Kind::scalar) return wave.s[operand.index + part];
  return static_cast<std::uint32_t>(operand.value >> (32 * part));
}

/// Both words of a scalar operand or constant.
inline std::uint64_t scalar_pair(const Wave& wave, const Operand& operand) {
  return operand.kind == Kind::scalar ? wave.pair(operand.index) : operand.value;
}

inline void splat(Lanes& lanes, std::uint32_t value) {
  for (int lane = 0; lane < kLanes; ++lane) lanes.word[lane] = value;
}

/// Word `part` of `operand` in every lane, ignoring modifiers: a pointer into the vector file, or `buffer` filled.
inline const std::uint32_t* words(const Wave& wave, const Operand& operand, int part, Lanes& buffer) {
  if (operand.kind == Kind::vector) return wave.v[operand.index + part];
  splat(buffer, scalar_word(wave, operand, part));
  return buffer.word;
}

/// One lane's value of word `part`.
inline std::uint32_t lane_word(const Wave& wave, const Operand& operand, int lane, int part = 0) {
  return operand.kind == Kind::vector ? wave.v[operand.index + part][lane] : scalar_word(wave, operand, part);
}

/// to[lane] = from[lane] for the lanes of `mask`.
inline void store(std::uint32_t* to, const std::uint32_t* from, std::uint64_t mask) {
  if (mask == ~std::uint64_t{0}) {
    std::memcpy(to, from, sizeof(Lanes));
    return;
  }
#ifdef __AVX2__
  const __m256i bits = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
  for (int lane = 0; lane < kLanes; lane += 8) {
    const __m256i eight = _mm256_set1_epi32(static_cast<int>(mask >> lane & 0xff));
    const __m256i select = _mm256_cmpeq_epi32(_mm256_and_si256(eight, bits), bits);
    const __m256i values = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from + lane));
    _mm256_maskstore_epi32(reinterpret_cast<int*>(to + lane), select, values);
  }
#else
  for (int lane = 0; lane < kLanes; ++lane) {
    const std::uint32_t select = static_cast<std::uint32_t>(-static_cast<std::int64_t>(mask >> lane & 1));
    to[lane] = (from[lane] & select) | (to[lane] & ~select);
  }
#endif
}

/// Writes word `part` of a vector destination in the active lanes.
inline void write(Wave& wave, const Operand& operand, int part, const Lanes& lanes) {
  store(wave.v[operand.index + part], lanes.word, wave.exec());
}

}  // namespace headtune::sim::HEADTUNE_SIM_ISA
