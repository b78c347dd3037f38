// LDS path on AMD CDNA (gfx90a, gfx942, gfx950), 16x16 MFMA. Scores are formed transposed (keys x rows), outputs too
// (columns x rows): K and V tiles are the A operand, query and softmax numerators the B operand of both products. The
// query stays in registers (a CU has 512 KiB of them); where it is too large for that and LDS has room, a part of it or
// all lies there.
//
// The depth of one product step is 32: 16 bytes of each lane, one or two instructions. V is wanted with keys along the
// depth but lies with columns along the row: LdsValues, the architecture's, reads it.
#pragma once

#if !defined(__HIP__)
#error "AMD device code, for hipRTC or hipcc; headtune/tile/tile.h and lds_tile.h choose the family's file"
#endif

#include <headtune/tile/copier_cdna.h>
#include <headtune/tile/lds_layout.h>
#include <headtune/tile/lds_stager.h>
#include <headtune/tile/tile.h>

#if defined(__gfx950__)
#include <headtune/tile/lds_direct_cdna4.h>
#include <headtune/tile/lds_values_cdna4.h>
#else
#include <headtune/tile/lds_values_cdna3.h>
#endif

namespace headtune::tile {

/// The first QUERY_LDS_COLUMNS of the query lie in LDS.
template <class V, int ROWS, int QUERY_LDS_COLUMNS>
struct LdsTileCdna {
  using Element = typename ElementOf<V::DTYPE>::type;
  static constexpr int WAVES = V::NUM_WARPS, THREADS = WAVES * wave_size;

  static constexpr int KEY_WAVES = waves_along_keys(WAVES, V::BLOCK_N / 16, ROWS / 16);
  static constexpr int ROW_WAVES = WAVES / KEY_WAVES;
  static constexpr int KEY_BLOCKS = V::BLOCK_N / 16 / KEY_WAVES;
  static constexpr int PADDED_ROWS = score_rows(ROWS, V::BLOCK_N, WAVES);
  static constexpr int ROW_BLOCKS = PADDED_ROWS / 16 / ROW_WAVES;  ///< of a wave's scores
  static constexpr int ALL_ROW_BLOCKS = ROWS / 16;                 ///< of a wave's output
  static constexpr int COLUMNS = V::V_HEAD_DIM / WAVES;            ///< of a wave's output
  static constexpr int DEPTH = V::HEAD_DIM / 32;

  static constexpr int SCORE_ROWS = ROW_BLOCKS, SCORE_KEYS = 4 * KEY_BLOCKS;
  static constexpr int SHARERS = KEY_WAVES;  ///< waves that hold scores of one row

  using Keys = LdsPanels<V::BLOCK_N, V::HEAD_DIM, lds_banks>;
  using Values = LdsValues<LdsPanels<V::BLOCK_N, V::V_HEAD_DIM, lds_banks>, COLUMNS>;
  using Numerators = LdsPanels<PADDED_ROWS, V::BLOCK_N, lds_banks>;
  static constexpr bool LEGAL = Values::LEGAL && V::BLOCK_N % 32 == 0;
  struct Scores {
    F32x4 block[KEY_BLOCKS][ROW_BLOCKS];
  };

  static constexpr int QUERY_LDS_DEPTH = QUERY_LDS_COLUMNS / 32;
  using Query = LdsPanels<ROWS, (QUERY_LDS_COLUMNS > 0 ? QUERY_LDS_COLUMNS : 64), lds_banks>;

  char *query_lds, *numerators;
  U32x4 query[ROW_BLOCKS][DEPTH > QUERY_LDS_DEPTH ? DEPTH - QUERY_LDS_DEPTH : 1];
  int key_at[2], query_at[ROW_BLOCKS][2];  ///< operands of an even and an odd step; the others are whole panels further
  Values values;
  Scores scores;
  F32x4 output[Values::BLOCKS][ALL_ROW_BLOCKS];

  HEADTUNE_DEVICE LdsTileCdna(char* query_panels, char* numerators_lds, char* /*exchange*/)
      : query_lds(query_panels), numerators(numerators_lds), values(first_column() / 16), output{} {
#pragma unroll
    for (int odd = 0; odd < 2; ++odd) {
      key_at[odd] = Keys::offset(key_wave() * KEY_BLOCKS * 16 + free(), 4 * odd + depth());
#pragma unroll
      for (int rb = 0; rb < ROW_BLOCKS; ++rb) query_at[rb][odd] = Query::offset(query_row(rb), 4 * odd + depth());
    }
  }

  static HEADTUNE_DEVICE int free() { return free_index(lane_index()); }
  static HEADTUNE_DEVICE int depth() { return quarter(lane_index()); }
  static HEADTUNE_DEVICE int key_wave() { return wave_index() % KEY_WAVES; }
  static HEADTUNE_DEVICE int row_wave() { return wave_index() / KEY_WAVES; }
  static HEADTUNE_DEVICE int sharer() { return key_wave(); }
  static HEADTUNE_DEVICE bool leads() { return depth() == 0; }
  static HEADTUNE_DEVICE int score_row(int slot) { return (row_wave() * ROW_BLOCKS + slot) * 16 + free(); }
  static HEADTUNE_DEVICE int score_key(int element) {
    return (key_wave() * KEY_BLOCKS + element / 4) * 16 + 4 * depth() + element % 4;
  }
  HEADTUNE_DEVICE float score(int slot, int element) const { return scores.block[element / 4][slot][element % 4]; }
  HEADTUNE_DEVICE void set_score(int slot, int element, float value) {
    scores.block[element / 4][slot][element % 4] = value;
  }

  /// A numerator as the product with V will see it, where that cuts it to 16 bit instead of rounding: what is summed
  /// must lose the same.
  static HEADTUNE_DEVICE float cut(float x) {
    if constexpr (pack_bias<Element> == 0) return x;
    constexpr unsigned kept = pack_bias < Element >> 0.002f ? 0xffff0000u : 0xffffe000u;  // bf16, fp16
    return __builtin_bit_cast(float, bits(x) & kept);
  }

  template <class Reduce>
  static HEADTUNE_DEVICE float across_keys(float x, Reduce both) {
    x = both(x, from_lane(x, lane_index() ^ 16));
    return both(x, from_lane(x, lane_index() ^ 32));
  }

  template <class RowAddress>
  HEADTUNE_DEVICE void load_query(RowAddress address) {
    if constexpr (QUERY_LDS_COLUMNS > 0) load_query_panels<Query, ROWS, QUERY_LDS_COLUMNS, THREADS>(query_lds, address);
    if constexpr (QUERY_LDS_DEPTH < DEPTH) load_query_registers(address);
  }

  /// `meanwhile` is work that may overlap with the products.
  template <class Meanwhile>
  HEADTUNE_DEVICE void multiply_keys(const char* tile, Meanwhile meanwhile) {
    meanwhile();
#pragma unroll
    for (auto& blocks : scores.block)
#pragma unroll
      for (F32x4& block : blocks) block = F32x4{0, 0, 0, 0};
    const char* keys_at[2] = {pinned(tile + key_at[0]), pinned(tile + key_at[1])};
#pragma unroll
    for (int step = 0; step < DEPTH; ++step)
#pragma unroll
      for (int kb = 0; kb < KEY_BLOCKS; ++kb) {
        const U32x4 keys =
            load_lds<U32x4>(keys_at[step % 2] + step / 2 * Keys::PANEL_BYTES + kb * 16 * Keys::ROW_BYTES);
#pragma unroll
        for (int rb = 0; rb < ROW_BLOCKS; ++rb) multiply(scores.block[kb][rb], keys, query_operand(rb, step));
      }
    order_key_products();
  }

  /// Rounds the scores (by now softmax numerators) to 16 bit into LDS.
  HEADTUNE_DEVICE void store_numerators() const {
#pragma unroll
    for (int kb = 0; kb < KEY_BLOCKS; ++kb)
#pragma unroll
      for (int rb = 0; rb < ROW_BLOCKS; ++rb) {
        const F32x4 p = scores.block[kb][rb];
        const int key = score_key(4 * kb);
        *reinterpret_cast<U32x2*>(numerators + Numerators::offset(score_row(rb), key / 8) + key % 8 * 2) =
            U32x2{pack_probabilities<Element>(p.x, p.y), pack_probabilities<Element>(p.z, p.w)};
      }
  }
  static HEADTUNE_DEVICE void publish_lds() {}

  HEADTUNE_DEVICE void multiply_values(const char* tile) {
    values.start(tile);
#pragma unroll
    for (int step = 0; step < V::BLOCK_N / 32; ++step) {
      U32x4 p[ALL_ROW_BLOCKS];
#pragma unroll
      for (int rb = 0; rb < ALL_ROW_BLOCKS; ++rb)
        p[rb] = load_lds<U32x4>(numerators + Numerators::offset(rb * 16 + free(), 4 * step + depth()));
#pragma unroll
      for (int group = 0; group < Values::GROUPS; ++group) {
        U32x4 operands[Values::GROUP_BLOCKS];
        values.load(operands, step, group);
#pragma unroll
        for (int block = 0; block < Values::GROUP_BLOCKS; ++block)
#pragma unroll
          for (int rb = 0; rb < ALL_ROW_BLOCKS; ++rb)
            multiply(output[group * Values::GROUP_BLOCKS + block][rb], operands[block], p[rb]);
      }
      order_value_products();
    }
  }

  HEADTUNE_DEVICE void scale_output(const float* factor) {
#pragma unroll
    for (int rb = 0; rb < ALL_ROW_BLOCKS; ++rb) {
      const float f = factor[rb * 16 + free()];
#pragma unroll
      for (auto& block : output) block[rb] *= f;
    }
  }

  /// Calls visit(row, first column, values) for everything this thread holds.
  template <class Visit>
  HEADTUNE_DEVICE void each_output(Visit visit) const {
#pragma unroll
    for (int rb = 0; rb < ALL_ROW_BLOCKS; ++rb)
      visit(rb * 16 + free(), [&](auto write) {
        Values::each_run([&](int block, int r) { return output[block][rb][r]; },
                         [&](int column, const auto& values) { write(first_column() + column, values); });
      });
  }

 private:
  template <class RowAddress>
  HEADTUNE_DEVICE void load_query_registers(RowAddress address) {
#pragma unroll
    for (int rb = 0; rb < ROW_BLOCKS; ++rb) {
      const char* row = static_cast<const char*>(address(score_row(rb)));
#pragma unroll
      for (auto& operand : query[rb]) operand = U32x4{0, 0, 0, 0};
      if (row != nullptr)
#pragma unroll
        for (int step = QUERY_LDS_DEPTH; step < DEPTH; ++step)
          query[rb][step - QUERY_LDS_DEPTH] = load_global<U32x4>(row + step * 64 + depth() * 16);
    }
  }

  /// Blocks of padding rows read the last real block.
  static HEADTUNE_DEVICE int query_row(int rb) {
    const int block = row_wave() * ROW_BLOCKS + rb;
    return (block < ALL_ROW_BLOCKS ? block : ALL_ROW_BLOCKS - 1) * 16 + free();
  }

  /// 32 deep, 16 rows.
  HEADTUNE_DEVICE U32x4 query_operand(int rb, int step) const {
    if constexpr (QUERY_LDS_DEPTH < DEPTH)
      if (step >= QUERY_LDS_DEPTH) return query[rb][step - QUERY_LDS_DEPTH];
    return load_lds<U32x4>(pinned(query_lds + query_at[rb][step % 2]) + step / 2 * Query::PANEL_BYTES);
  }

  /// LDS reads of multiply_keys are three steps ahead of its products.
  static HEADTUNE_DEVICE void order_key_products() {
    constexpr int AHEAD = 3, BOTH = KEY_BLOCKS + ROW_BLOCKS, PRODUCTS = KEY_BLOCKS * ROW_BLOCKS;
    constexpr int WITH_QUERY = QUERY_LDS_DEPTH > AHEAD ? QUERY_LDS_DEPTH - AHEAD : 0;
    lds_reads_next<AHEAD*(QUERY_LDS_DEPTH > 0 ? BOTH : KEY_BLOCKS)>();
#pragma unroll
    for (int step = 0; step < WITH_QUERY; ++step) products_next<PRODUCTS>(), lds_reads_next<BOTH>();
#pragma unroll
    for (int step = WITH_QUERY; step < DEPTH; ++step) products_next<PRODUCTS>(), lds_reads_next<KEY_BLOCKS>();
  }

  /// LDS reads of multiply_values are two blocks of columns ahead.
  static HEADTUNE_DEVICE void order_value_products() {
    constexpr int AHEAD = 2;
    lds_reads_next<ALL_ROW_BLOCKS + 2 * AHEAD>();
#pragma unroll
    for (int block = 0; block < Values::BLOCKS; ++block) products_next<ALL_ROW_BLOCKS>(), lds_reads_next<2>();
  }

  /// d += a * b over a depth of 32.
  static HEADTUNE_DEVICE void multiply(F32x4& d, U32x4 a, U32x4 b) { mma_scores<Element>(d, a, {b}); }

  static HEADTUNE_DEVICE int first_column() { return wave_index() * COLUMNS; }
};

/// Barrier that tells every thread whether any thread said yes. Turns alternate between two votes, each cleared a
/// barrier before it is used again.
HEADTUNE_DEVICE bool barrier_any(bool yes, unsigned* votes, int turn) {
  if (any_lane(yes)) votes[turn & 1] = 1;
  __syncthreads();
  const bool any = __builtin_amdgcn_readfirstlane(votes[turn & 1]) != 0;
  votes[~turn & 1] = 0;
  return any;
}

template <int N>
HEADTUNE_DEVICE void store_floats(float* destination, const float (&values)[N]) {
  if constexpr (N % 4 == 0) {
#pragma unroll
    for (int i = 0; i < N; i += 4)
      store_global(destination + i, F32x4{values[i], values[i + 1], values[i + 2], values[i + 3]});
  } else {
#pragma unroll
    for (int i = 0; i < N; i += 2) store_global(destination + i, F32x2{values[i], values[i + 1]});
  }
}

}  // namespace headtune::tile
