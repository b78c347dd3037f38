// Minimum, maximum and median as the ISA defines them, for f32, f64 and (widened) f16.
#pragma once

#include <cmath>

#include "tuner/sim/ops/float_bits.h"

namespace headtune::sim::HEADTUNE_SIM_ISA {

/// +0 is above -0; a NaN loses against a number. With Ieee, a signalling NaN wins, quieted.
template <bool Ieee, class T>
inline T minimum_number(T a, T b) {
  T least = a < b ? a : b;
  least = a == b ? (std::signbit(a) ? a : b) : least;
  least = is_nan(b) ? a : least;
  least = is_nan(a) ? b : least;
  if constexpr (Ieee) {
    least = is_signalling(b) ? quiet(b) : least;
    least = is_signalling(a) ? quiet(a) : least;
  }
  return least;
}

template <bool Ieee, class T>
inline T maximum_number(T a, T b) {
  T most = a > b ? a : b;
  most = a == b ? (std::signbit(a) ? b : a) : most;
  most = is_nan(b) ? a : most;
  most = is_nan(a) ? b : most;
  if constexpr (Ieee) {
    most = is_signalling(b) ? quiet(b) : most;
    most = is_signalling(a) ? quiet(a) : most;
  }
  return most;
}

template <bool Ieee, class T>
inline T min3(T a, T b, T c) {
  return minimum_number<Ieee>(minimum_number<Ieee>(a, b), c);
}
template <bool Ieee, class T>
inline T max3(T a, T b, T c) {
  return maximum_number<Ieee>(maximum_number<Ieee>(a, b), c);
}

template <bool Ieee, class T>
inline T median(T a, T b, T c) {
  const bool nan = is_nan(a) || is_nan(b) || is_nan(c);
  const T low = min3<Ieee>(a, b, c);
  const T most = max3<Ieee>(a, b, c);
  const T bc = maximum_number<Ieee>(b, c), ac = maximum_number<Ieee>(a, c), ab = maximum_number<Ieee>(a, b);
  const T mid = most == a ? bc : most == b ? ac : ab;
  return nan ? low : mid;
}

/// IEEE 754-2019 minimum and maximum: any NaN gives NaN.
template <class T>
inline T minimum(T a, T b) {
  const T least = minimum_number<false>(a, b);
  return is_nan(a) ? quiet(a) : is_nan(b) ? quiet(b) : least;
}
template <class T>
inline T maximum(T a, T b) {
  const T most = maximum_number<false>(a, b);
  return is_nan(a) ? quiet(a) : is_nan(b) ? quiet(b) : most;
}

}  // namespace headtune::sim::HEADTUNE_SIM_ISA
