// V as the A operand from LDS, gfx950: ds_read_b64_tr_b16 gives each lane of 16 one column of a 4 x 16 block that these
// 16 lanes read by rows, 8 bytes each (lane i: row i / 4, columns 4 * (i % 4) + [0, 4)). Two of them are the 8 keys of
// an operand.
#pragma once

#if !defined(__HIP__)
#error "AMD device code, for hipRTC or hipcc; headtune/tile/tile.h and lds_tile.h choose the family's file"
#endif

#if !__has_builtin(__builtin_amdgcn_ds_read_tr16_b64_v4i16)
#error "gfx950 device code, for a compiler that knows gfx950 (LLVM 20)"
#endif

#include <headtune/tile/lds_layout.h>
#include <headtune/tile/tile.h>

namespace headtune::tile {

/// COLUMNS: of one wave. Blocks are of 16 columns.
template <class Panels, int COLUMNS>
struct LdsValues {
  static constexpr bool LEGAL = COLUMNS % 64 == 0 || COLUMNS == 32 || COLUMNS == 16;
  static constexpr int GROUP_BLOCKS = 1, GROUPS = COLUMNS / 16, BLOCKS = GROUPS;

  /// Where a lane reads four keys of the four blocks of a panel, from the wave's first on: block b of the first four
  /// keys of an operand at [b], of the other four at [b ^ 3], four rows further (LdsPanels::slot is linear).
  int block_at[4];
  const char* reads[4];

  HEADTUNE_DEVICE explicit LdsValues(int first_block) {
    const int lane = lane_index(), key = 8 * quarter(lane) + free_index(lane) / 4;
#pragma unroll
    for (int block = 0; block < 4; ++block)
      block_at[block] = Panels::offset(key, (first_block ^ block) * 2 + lane % 4 / 2) + lane % 2 * 8;
    static_assert(Panels::slot(4, 0) == 2 * 3 && Panels::PERIOD <= 16, "four keys further");
  }
  HEADTUNE_DEVICE void start(const char* values) {
#pragma unroll
    for (int block = 0; block < 4; ++block) reads[block] = pinned(values + block_at[block]);
  }

  /// Operands, 32 keys deep, of a block; `step` counts 32 keys.
  HEADTUNE_DEVICE void load(U32x4 (&values)[GROUP_BLOCKS], int step, int block) const {
    const int further = step * 32 * Panels::ROW_BYTES + block / 4 * Panels::PANEL_BYTES;
    const U32x2 low = read_transposed(reads[block % 4] + further);
    const U32x2 high = read_transposed(reads[block % 4 ^ 3] + further + 4 * Panels::ROW_BYTES);
    values[0] = U32x4{low.x, low.y, high.x, high.y};
  }

  /// Calls write(first column of the wave's, values) for the accumulators (block, element) of a lane.
  template <class Accumulator, class Write>
  static HEADTUNE_DEVICE void each_run(Accumulator accumulator, Write write) {
#pragma unroll
    for (int block = 0; block < BLOCKS; ++block) {
      const float values[4] = {accumulator(block, 0), accumulator(block, 1), accumulator(block, 2),
                               accumulator(block, 3)};
      write(block * 16 + 4 * quarter(lane_index()), values);
    }
  }

 private:
  static HEADTUNE_DEVICE U32x2 read_transposed(const char* lds) {
    using Block = __attribute__((address_space(3))) I16x4;
    return __builtin_bit_cast(U32x2, __builtin_amdgcn_ds_read_tr16_b64_v4i16((Block*)(lds)));
  }
};

}  // namespace headtune::tile
