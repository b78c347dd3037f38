// How a request's prefix is cut into splits. The host bounds the number of splits from static shapes; the device cuts
// each request by its own length, so that a captured graph replays with any lengths.
#pragma once

#include <headtune/tile/macros.h>

namespace headtune {

constexpr HEADTUNE_HOST_DEVICE int ceil_div(int a, int b) { return (a + b - 1) / b; }

/// The cut of one request: splits [0, used) of `keys_per_split` keys each, the last one shorter. used = 0: no prefix.
struct SplitCut {
  int keys_per_split;
  int used;

  /// As split < used, for stage 1, which then need not divide by keys_per_split.
  constexpr HEADTUNE_HOST_DEVICE bool holds(int split, int prefix_len) const {
    return split * static_cast<long long>(keys_per_split) < prefix_len;
  }
};

/// From so many splits on one row of stage 2 is a matter of loading them all at once (stage2_shape, stage2).
inline constexpr int many_splits = 32;

/// As ceil_div of two numbers that are not negative: every workgroup divides before it loads anything, and a signed
/// division by an unknown number costs a GPU a third more instructions.
constexpr HEADTUNE_HOST_DEVICE int ceil_div_unsigned(int a, int b) {
  return static_cast<int>((static_cast<unsigned>(a) + static_cast<unsigned>(b) - 1) / static_cast<unsigned>(b));
}

/// keys_per_split is a multiple of BLOCK_N, so that only the last split of a request has a partial tile.
constexpr HEADTUNE_HOST_DEVICE SplitCut cut_prefix(int prefix_len, int num_splits, int min_keys_per_split,
                                                   int block_n) {
  if (prefix_len <= 0) return {0, 0};
  const int fair = ceil_div_unsigned(prefix_len, num_splits);
  const int wanted = fair > min_keys_per_split ? fair : min_keys_per_split;
  const int keys_per_split = ceil_div_unsigned(wanted, block_n) * block_n;
  return {keys_per_split, ceil_div_unsigned(prefix_len, keys_per_split)};
}

}  // namespace headtune
