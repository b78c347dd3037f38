#include "tuner/sim/ops/mfma_numbers.h"

namespace headtune::sim::HEADTUNE_SIM_ISA {
namespace {

/// The bits of an element that lies inside one register.
inline void extract(const std::uint32_t* row, int shift, std::uint32_t mask, std::uint32_t* to) {
  for (int lane = 0; lane < kLanes; ++lane) to[lane] = row[lane] >> shift & mask;
}

/// The bits of a 6-bit element, which may straddle two registers.
inline void extract6(const Wave& wave, int index, int element, std::uint32_t* to) {
  const int bit = 6 * element, shift = bit % 32;
  const std::uint32_t* low = wave.v[index + bit / 32];
  const std::uint32_t* high = shift > 26 ? wave.v[index + bit / 32 + 1] : low;
  for (int lane = 0; lane < kLanes; ++lane)
    to[lane] = static_cast<std::uint32_t>((std::uint64_t{high[lane]} << 32 | low[lane]) >> shift) & 63;
}

template <Encoding F>
void widen_codes(const std::uint32_t* codes, bool flush, float* to) {
  for (int lane = 0; lane < kLanes; ++lane) to[lane] = widen<F>(codes[lane]);
  if (!flush) return;
  constexpr std::uint32_t exponent = ((1u << F.exponent) - 1) << F.mantissa;
  for (int lane = 0; lane < kLanes; ++lane)
    if (!(codes[lane] & exponent)) to[lane] *= 0.0f;
}

void widen_bf16(const std::uint32_t* row, bool high, bool flush, float* to) {
  alignas(64) std::uint32_t bits[kLanes];
  for (int lane = 0; lane < kLanes; ++lane) bits[lane] = high ? row[lane] & 0xffff0000 : row[lane] << 16;
  if (flush)
    for (int lane = 0; lane < kLanes; ++lane) bits[lane] = flush_f32(bits[lane]);
  std::memcpy(to, bits, sizeof bits);
}

}  // namespace

void widen_element(const Wave& wave, int index, Format format, int element, bool flush, float* to) {
  alignas(64) std::uint32_t codes[kLanes];
  switch (format) {
    case Format::f32:
      std::memcpy(to, wave.v[index + element], sizeof codes);
      return;
    case Format::xf32:
      for (int lane = 0; lane < kLanes; ++lane) codes[lane] = round_xf32(wave.v[index + element][lane]);
      std::memcpy(to, codes, sizeof codes);
      return;
    case Format::bf16:
      widen_bf16(wave.v[index + element / 2], element & 1, flush, to);
      return;
    case Format::f16:
      extract(wave.v[index + element / 2], 16 * (element & 1), 0xffff, codes);
      return widen_codes<kF16>(codes, flush, to);
    case Format::e2m3:
      extract6(wave, index, element, codes);
      return widen_codes<kE2m3>(codes, false, to);
    case Format::e3m2:
      extract6(wave, index, element, codes);
      return widen_codes<kE3m2>(codes, false, to);
    case Format::e2m1:
      extract(wave.v[index + element / 8], 4 * (element & 7), 15, codes);
      return widen_codes<kE2m1>(codes, false, to);
    default:
      break;
  }
  extract(wave.v[index + element / 4], 8 * (element & 3), 255, codes);
  switch (format) {
    case Format::e4m3fn:
      return widen_codes<kE4m3fn>(codes, false, to);
    case Format::e5m2:
      return widen_codes<kE5m2>(codes, false, to);
    case Format::e4m3fnuz:
      return widen_codes<kE4m3fnuz>(codes, false, to);
    case Format::e5m2fnuz:
      return widen_codes<kE5m2fnuz>(codes, false, to);
    default:
      throw Fault("number format that this matrix instruction cannot take");
  }
}

void widen_element(const Wave& wave, int index, int element, std::int32_t* to) {
  const std::uint32_t* row = wave.v[index + element / 4];
  const int shift = 24 - 8 * (element & 3);
  for (int lane = 0; lane < kLanes; ++lane) to[lane] = static_cast<std::int32_t>(row[lane] << shift) >> 24;
}

}  // namespace headtune::sim::HEADTUNE_SIM_ISA
