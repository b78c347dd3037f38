// The tile vocabulary of the family being compiled for. Kernels are written once over these names:
//
//   wave       wave_size, lane_index, wave_index, first_lane, any_lane, row_max, group_max, group_sum
//   layout     free_lanes, rows_per_lane, elements_per_row, score_tiles; quarter, free_index
//   memory     load_global, after_loading, issue_first, load_words, load_stream, store_global
//   matrix     mma_scores (Q and K -> scores), mma_values (P and V -> output)
//   kernels    kernels_overlap, let_next_kernel_start, wait_previous_kernel
//   elements   interleave, scaled, exp2, log2, reciprocal, pack_probabilities, pack_output, low, high, ones
//   fp8        converts_fp8, convert_fp8; interleave_bytes, spread_bytes, times_power (fp8.h: widen, pair_rows)
//
// Four lanes ("quarters") share a query row. In a key step of `keys_per_step` keys, quarter q holds the scores of keys
// keys_per_lane * q + j, j < keys_per_lane, of query rows free_index + free_lanes * i, i < rows_per_lane; accumulator
// element i * elements_per_row + e of score tile u is key j = elements_per_row * u + e.
#pragma once

#include <headtune/arch.h>
#include <headtune/tile/kernel_overlap.h>
#include <headtune/tile/shape.h>

#if defined(__gfx950__)
#include <headtune/tile/cdna4.h>
#elif defined(__gfx90a__) || defined(__gfx942__)
#include <headtune/tile/cdna3.h>
#elif defined(__CUDACC__)
#include <headtune/tile/sm80.h>
#elif defined(__HIP_DEVICE_COMPILE__)
#error "headtune kernels support gfx90a, gfx942, gfx950 and sm_80 or newer"
#elif defined(__HIP__)
#include <headtune/tile/cdna3.h>  // host pass: parsed, never run
#else
#error "device code: compile with hipRTC, hipcc, NVRTC or nvcc; for host code there is headtune/tables/plan.h"
#endif

namespace headtune::tile {

inline constexpr int lds_banks = device_family == Family::cdna4 ? 64 : 32;
inline constexpr int keys_per_lane = elements_per_row * score_tiles;
inline constexpr int keys_per_step = 4 * keys_per_lane;

/// Dynamic LDS of the kernel, 16-byte aligned.
HEADTUNE_DEVICE float* dynamic_lds() {
  extern __shared__ __attribute__((aligned(16))) float headtune_dynamic_lds[];
  return headtune_dynamic_lds;
}

inline constexpr float negative_infinity = __builtin_bit_cast(float, 0xff800000u);  // NVRTC has no huge_val

/// The key of a step whose row the lanes of one free index load for score tile u.
HEADTUNE_DEVICE int score_key(int free, int u) {
  return keys_per_lane * (free / elements_per_row) + elements_per_row * u + free % elements_per_row;
}

/// `count` values side by side in a lane: the widest load is 16 bytes.
template <int bytes>
struct LoadOf;
template <>
struct LoadOf<4> {
  using type = unsigned;
};
template <>
struct LoadOf<8> {
  using type = U32x2;
};
template <>
struct LoadOf<16> {
  using type = U32x4;
};
HEADTUNE_DEVICE unsigned word(unsigned x, int) { return x; }
HEADTUNE_DEVICE unsigned word(const U32x2& x, int i) { return x[i]; }
HEADTUNE_DEVICE unsigned word(const U32x4& x, int i) { return x[i]; }

}  // namespace headtune::tile
