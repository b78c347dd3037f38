// The regions of a workgroup's LDS in the LDS path of stage 1.
#pragma once

#include <headtune/tile/tile.h>
#include <headtune/verify_shared_kv/stage1_lds_layout.h>

namespace headtune::lds_path {

template <class V>
inline constexpr Layout layout{V::BLOCK_H * V::EXTEND_LEN,
                               V::HEAD_DIM,
                               V::V_HEAD_DIM,
                               V::BLOCK_N,
                               V::NUM_WARPS,
                               V::NUM_STAGES,
                               V::WAVES_PER_EU,
                               tile::wave_size,
                               device_family == Family::cdna4};

/// Carves the workgroup's LDS.
template <class V, class Tile>
struct Lds {
  static constexpr int ROWS = layout<V>.score_rows();
  // Named constants, so that the sizes are computed by the compiler.
  // AMD reads tiles first, Hopper's query: what is read by offsets of instructions (64 KiB) comes first.
  static constexpr int QUERY = layout<V>.nvidia() ? 0 : layout<V>.stages_bytes();
  static constexpr int STAGES = layout<V>.nvidia() ? layout<V>.query_bytes() : 0;
  static constexpr int NUMERATORS = layout<V>.query_bytes() + layout<V>.stages_bytes();
  static constexpr int EXCHANGE = NUMERATORS + layout<V>.numerators_bytes();
  static constexpr int STATE = EXCHANGE + layout<V>.exchange_bytes();

  char *query, *stages, *numerators, *exchange;
  float *reference, *factor;  ///< [ROWS] each
  float* partial;             ///< [NUM_WARPS][ROWS]
  unsigned* votes;            ///< [2], by turn

  HEADTUNE_DEVICE explicit Lds(char* base)
      : query(base + QUERY),
        stages(base + STAGES),
        numerators(base + NUMERATORS),
        exchange(base + EXCHANGE),
        reference(reinterpret_cast<float*>(base + STATE)),
        factor(reference + ROWS),
        partial(factor + ROWS),
        votes(reinterpret_cast<unsigned*>(partial + V::NUM_WARPS * ROWS)) {}

  HEADTUNE_DEVICE void clear() const {
    const int thread = tile::thread_index();
    for (int r = thread; r < ROWS; r += Tile::THREADS) reference[r] = 0;
    if (thread < 2) votes[thread] = 0;
  }
};

}  // namespace headtune::lds_path
