// Codes of an fp8 prefix to the 16-bit type of Q, exactly: sign, 4 exponent bits and 3 mantissa bits fit both.
// Where the family's converter speaks the encoding it does the work (convert_fp8); else the code is shifted to its
// place in the wider type and multiplied by the power of two between the exponents' biases, which is right for
// subnormals too.
#pragma once

#include <headtune/tile/tile.h>

namespace headtune::tile {

/// Sign bits of those halves of `spread` whose upper byte is NaN: 0x7f and 0xff (OCP), 0x80 (FNUZ, which has no -0).
template <class Kv>
HEADTUNE_DEVICE unsigned fp8_nans(unsigned spread) {
  const unsigned magnitude = spread & 0x7f007f00u;
  return (magnitude + 0x01000100u) & 0x80008000u;
}
template <>
HEADTUNE_DEVICE unsigned fp8_nans<E4m3fnuz>(unsigned spread) {
  const unsigned magnitude = spread & 0x7f007f00u;
  return spread & ~(magnitude + 0x7f007f00u) & 0x80008000u;
}

/// Two codes in the upper bytes of the halves of `spread`; the lower bytes do not count.
template <class T, class Kv>
HEADTUNE_DEVICE unsigned decode_fp8(unsigned spread) {
  constexpr int shift = T::bias == Fp16::bias ? 1 : 4;  // so that the exponents' lowest bits meet
  const unsigned shifted = (spread & 0x80008000u) | (spread & 0x7f007f00u) >> shift;
  if constexpr (overflows_to_nan && Kv::bias == E4m3fn::bias) {
    return times_power<T, true>(shifted, T::bias - Kv::bias);
  } else {
    const unsigned nans = fp8_nans<Kv>(spread);
    return times_power<T>(shifted, T::bias - Kv::bias) | (nans - (nans >> 15));
  }
}

/// Bytes 2 * half and 2 * half + 1 of `codes`, as two neighbouring elements.
template <class T, class Kv, int half>
HEADTUNE_DEVICE unsigned widen(unsigned codes) {
  if constexpr (converts_fp8<Kv>)
    return convert_fp8<T, half>(codes);
  else
    return decode_fp8<T, Kv>(spread_bytes<half>(codes));
}

/// Eight codes to eight elements.
template <class T, class Kv>
HEADTUNE_DEVICE U32x4 widen(unsigned low, unsigned high) {
  return {widen<T, Kv, 0>(low), widen<T, Kv, 1>(low), widen<T, Kv, 0>(high), widen<T, Kv, 1>(high)};
}

/// Elements number c of two rows side by side; a row's codes (or 16-bit elements) are in words of a vector.
template <class T, class Kv, int c>
HEADTUNE_DEVICE unsigned pair_rows(unsigned first, unsigned second) {
  if constexpr (Kv::bytes == 2)
    return interleave<c % 2 == 1>(first, second);
  else
    return widen<T, Kv, c % 2>(interleave_bytes<c / 2 % 2 == 1>(first, second));
}

}  // namespace headtune::tile
