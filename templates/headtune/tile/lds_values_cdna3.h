// V as the A operand from LDS, gfx90a and gfx942: a lane reads a few neighbouring columns of its 8 keys and interleaves
// the keys in registers, which gives it the operands of as many 16-column blocks. Columns of a group are thereby dealt
// to its blocks in turn; each_run puts that right.
#pragma once

#if !defined(__HIP__)
#error "AMD device code, for hipRTC or hipcc; headtune/tile/tile.h and lds_tile.h choose the family's file"
#endif

#include <headtune/tile/lds_layout.h>
#include <headtune/tile/tile.h>

namespace headtune::tile {

/// COLUMNS: of one wave. Blocks are of 16 columns.
template <class Panels, int COLUMNS>
struct LdsValues {
  static constexpr int VECTOR = COLUMNS % 128 == 0 ? 8 : COLUMNS % 64 == 0 ? 4 : 2;  ///< columns that a lane reads
  static constexpr bool LEGAL = COLUMNS % (16 * VECTOR) == 0;
  static constexpr int GROUP_BLOCKS = VECTOR, GROUPS = COLUMNS / (16 * VECTOR), BLOCKS = GROUPS * VECTOR;

  int first_block;  ///< of the wave
  const char* tile;

  HEADTUNE_DEVICE explicit LdsValues(int first_block) : first_block(first_block) {}
  HEADTUNE_DEVICE void start(const char* values) { tile = values; }

  /// Operands, 32 keys deep, of a group's blocks; `step` counts 32 keys.
  HEADTUNE_DEVICE void load(U32x4 (&values)[GROUP_BLOCKS], int step, int group) const {
    constexpr int WORDS = VECTOR / 2;
    using Words = unsigned __attribute__((ext_vector_type(WORDS)));
    const int lane = lane_index(), column = (first_block + group * GROUP_BLOCKS) * 16 + VECTOR * free_index(lane);
    Words of_key[8];
#pragma unroll
    for (int i = 0; i < 8; ++i)
      of_key[i] =
          load_lds<Words>(tile + Panels::offset(step * 32 + 8 * quarter(lane) + i, column / 8) + column % 8 * 2);
#pragma unroll
    for (int j = 0; j < VECTOR; ++j)
#pragma unroll
      for (int pair = 0; pair < 4; ++pair) {
        const unsigned first = of_key[2 * pair][j / 2], second = of_key[2 * pair + 1][j / 2];
        values[j][pair] = j % 2 ? interleave<true>(first, second) : interleave<false>(first, second);
      }
  }

  /// Calls write(first column of the wave's, values) for the accumulators (block, element) of a lane.
  template <class Accumulator, class Write>
  static HEADTUNE_DEVICE void each_run(Accumulator accumulator, Write write) {
#pragma unroll
    for (int group = 0; group < GROUPS; ++group)
#pragma unroll
      for (int r = 0; r < 4; ++r) {
        float values[VECTOR];
#pragma unroll
        for (int j = 0; j < VECTOR; ++j) values[j] = accumulator(group * VECTOR + j, r);
        write(group * 16 * VECTOR + VECTOR * (4 * quarter(lane_index()) + r), values);
      }
  }
};

}  // namespace headtune::tile
