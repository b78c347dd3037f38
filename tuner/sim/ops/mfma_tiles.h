// Operands and results of the matrix instructions as dense tiles, and their product.
//
// Layouts, from AMD's CDNA instruction-set documents. Operands: lane = row + m * (block + blocks * group), group g
// holds k / groups consecutive k; f8f6f4 operands of 8 bits hold 16 consecutive k twice. Results: see `place`.
#pragma once

#include <algorithm>

#include "tuner/sim/ops/mfma_numbers.h"
#include "tuner/sim/ops/operands.h"

namespace headtune::sim::HEADTUNE_SIM_ISA {

struct Shape {
  int m;  ///< rows of A and columns of B
  int k;
  int blocks;
  Format a, b;

  constexpr int groups() const { return kLanes / (m * blocks); }
  constexpr int results() const { return blocks * m * m; }
};

inline constexpr int kMostElements = 2048;  ///< of A, B or D over all blocks, in any shape

template <class T>
struct Tiles {
  alignas(64) T a[kMostElements];  ///< [block][k][m]
  alignas(64) T b[kMostElements];  ///< [block][k][m]
  alignas(64) T d[kMostElements];  ///< [block][m][m]
};

// --- operands -------------------------------------------------------------------------------------------------------

/// Source lane of B for each lane under BLGP.
inline int blgp_lane(int lane, int blgp) {
  switch (blgp) {
    case 0:
      return lane;
    case 1:
      return lane % 32;
    case 2:
      return lane % 32 + 32;
    case 3:
      return (lane + 16) % 64;
    default:
      return lane % 16 + 16 * (blgp - 4);
  }
}

template <class T>
void permute(T* lanes, int blgp) {
  T old[kLanes];
  std::copy_n(lanes, kLanes, old);
  for (int lane = 0; lane < kLanes; ++lane) lanes[lane] = old[blgp_lane(lane, blgp)];
}

template <class T>
void fetch_element(const Wave& wave, int index, Format format, int element, bool flush, T* to) {
  if constexpr (std::is_same_v<T, float>) {
    widen_element(wave, index, format, element, flush, to);
  } else if constexpr (std::is_same_v<T, std::uint32_t>) {
    widen_element(wave, index, element, reinterpret_cast<std::int32_t*>(to));
  } else {
    for (int lane = 0; lane < kLanes; ++lane) {
      const std::uint64_t bits = std::uint64_t{wave.v[index + 1][lane]} << 32 | wave.v[index][lane];
      std::memcpy(&to[lane], &bits, 8);
    }
  }
}

/// Writes one element of every lane to [block][k][m]. `run` is how many consecutive k a lane holds.
template <Shape S, class T>
void spread(const T* lanes, int element, int run, T* to) {
  for (int chunk = 0; chunk < kLanes / S.m; ++chunk) {
    const int block = chunk % S.blocks, group = chunk / S.blocks;
    const int k = run * (element / run * S.groups() + group) + element % run;
    std::memcpy(to + (block * S.k + k) * S.m, lanes + chunk * S.m, S.m * sizeof(T));
  }
}

template <Shape S, class T>
void fetch_dense(const Wave& wave, int index, Format format, int run, int blgp, bool flush, T* to) {
  alignas(64) T lanes[kLanes];
  for (int element = 0; element < S.k / S.groups(); ++element) {
    fetch_element(wave, index, format, element, flush, lanes);
    if (blgp) permute(lanes, blgp);
    spread<S>(lanes, element, run, to);
  }
}

/// A of the 2:4 sparse instructions: of every four k, two values are stored, and `positions` (2 bits each) say which.
template <Shape S, class T>
void fetch_sparse(const Wave& wave, const Inst& inst, Format format, bool flush, T* to) {
  alignas(64) T lanes[kLanes];
  constexpr int per_lane = S.k / S.groups(), stored = per_lane / 2;
  const int first_bit = inst.cbsz ? 0 : inst.abid * 2 * stored % 32;
  const std::uint32_t* positions = wave.v[inst.op[3].index];
  std::fill_n(to, S.k * S.m, T{});
  for (int element = 0; element < stored; ++element) {
    fetch_element(wave, inst.op[1].index, format, element, flush, lanes);
    for (int lane = 0; lane < kLanes; ++lane) {
      const int k =
          lane / S.m * per_lane + element / 2 * 4 + static_cast<int>(positions[lane] >> (first_bit + 2 * element) & 3);
      to[k * S.m + lane % S.m] += lanes[lane];
    }
  }
}

// --- results --------------------------------------------------------------------------------------------------------

struct Place {
  int part, lane;
};

/// Register and first lane of row `i` of a block; the row's columns are in consecutive lanes.
template <Shape S, class T>
constexpr Place place(int block, int i) {
  if constexpr (sizeof(T) == 8) return S.m == 16 ? Place{2 * (i / 4), 16 * (i % 4)} : Place{0, 16 * i + 4 * block};
  switch (S.m) {
    case 32:
      return {16 * block + 4 * (i / 8) + i % 4, 32 * (i / 4 % 2)};
    case 16:
      return {4 * block + i % 4, 16 * (i / 4)};
    default:
      return {i, 4 * block};
  }
}

/// f(place, index of the row's first element in [block][m][m])
template <Shape S, class T, class F>
void for_rows(F f) {
  for (int block = 0; block < S.blocks; ++block)
    for (int i = 0; i < S.m; ++i) f(place<S, T>(block, i), (block * S.m + i) * S.m);
}

template <Shape S, class T>
void fetch_result(const Wave& wave, const Operand& operand, T* to) {
  if (operand.kind != Kind::vector) {
    T value;
    const std::uint64_t bits = scalar_pair(wave, operand);
    std::memcpy(&value, &bits, sizeof value);
    std::fill_n(to, S.results(), value);
    return;
  }
  for_rows<S, T>([&](Place at, int first) {
    const std::uint32_t* low = &wave.v[operand.index + at.part][at.lane];
    if constexpr (sizeof(T) == 4) {
      std::memcpy(to + first, low, S.m * sizeof(T));
    } else {
      for (int j = 0; j < S.m; ++j) {
        const std::uint64_t bits = std::uint64_t{low[kLanes + j]} << 32 | low[j];
        std::memcpy(&to[first + j], &bits, 8);
      }
    }
  });
}

template <Shape S, class T>
void write_result(Wave& wave, const Operand& operand, const T* from) {
  for_rows<S, T>([&](Place at, int first) {
    std::uint32_t* low = &wave.v[operand.index + at.part][at.lane];
    if constexpr (sizeof(T) == 4) {
      std::memcpy(low, from + first, S.m * sizeof(T));
    } else {
      for (int j = 0; j < S.m; ++j) {
        std::uint64_t bits;
        std::memcpy(&bits, &from[first + j], 8);
        low[j] = static_cast<std::uint32_t>(bits);
        low[kLanes + j] = static_cast<std::uint32_t>(bits >> 32);
      }
    }
  });
}

// --- products -------------------------------------------------------------------------------------------------------

#if defined(__AVX512F__)
inline constexpr int kVectorBytes = 64;
#elif defined(__AVX2__)
inline constexpr int kVectorBytes = 32;
#else
inline constexpr int kVectorBytes = 16;
#endif

/// d[m][m] += a[k][m] * b[k][m], 8 rows of one vector of columns at a time in registers.
template <int M, class T>
void multiply_wide(const T* a, const T* b, T* d, int k) {
  using Columns __attribute__((vector_size(kVectorBytes))) = T;
  constexpr int kColumns = kVectorBytes / sizeof(T), kRows = 8;
  for (int column = 0; column < M; column += kColumns) {
    for (int row = 0; row < M; row += kRows) {
      Columns sum[kRows], right;
      for (int r = 0; r < kRows; ++r) std::memcpy(&sum[r], d + (row + r) * M + column, sizeof right);
      for (int step = 0; step < k; ++step) {
        std::memcpy(&right, b + step * M + column, sizeof right);
        for (int r = 0; r < kRows; ++r) sum[r] += a[step * M + row + r] * right;
      }
      for (int r = 0; r < kRows; ++r) std::memcpy(d + (row + r) * M + column, &sum[r], sizeof right);
    }
  }
}

template <class T>
void multiply_4x4(const T* a, const T* b, T* d, int k) {
  for (int step = 0; step < k; ++step)
    for (int i = 0; i < 4; ++i)
      for (int j = 0; j < 4; ++j) d[i * 4 + j] += a[step * 4 + i] * b[step * 4 + j];
}

/// CBSZ: groups of 2^cbsz blocks share A of the group's block number `abid`.
template <Shape S, class T>
void multiply(Tiles<T>& tiles, int cbsz, int abid) {
  for (int block = 0; block < S.blocks; ++block) {
    const int a_block = cbsz ? ((block >> cbsz << cbsz) + abid) % S.blocks : block;
    const T* a = tiles.a + a_block * S.k * S.m;
    const T* b = tiles.b + block * S.k * S.m;
    T* d = tiles.d + block * S.m * S.m;
    if constexpr (S.m == 4)
      multiply_4x4(a, b, d, S.k);
    else
      multiply_wide<S.m>(a, b, d, S.k);
  }
}

}  // namespace headtune::sim::HEADTUNE_SIM_ISA
