// LDS path, matrix products by mma.sync (sm_80 and newer). Scores are formed transposed (keys x rows), outputs too
// (columns x rows): K and V tiles are the A operand, query and softmax numerators the B operand of both products.
#pragma once

#include <headtune/tile/lds_layout.h>
#include <headtune/tile/lds_nvidia.h>
#include <headtune/tile/lds_stager.h>

namespace headtune::tile {

template <class V, int ROWS>
struct LdsTileSm80 : nvidia::ScoreLanes {
  using Element = typename ElementOf<V::DTYPE>::type;
  static constexpr int WAVES = V::NUM_WARPS, THREADS = WAVES * 32;

  static constexpr int KEY_WAVES = waves_along_keys(WAVES, V::BLOCK_N / 16, ROWS / 8);
  static constexpr int ROW_WAVES = WAVES / KEY_WAVES;
  static constexpr int KEY_BLOCKS = V::BLOCK_N / 16 / KEY_WAVES;
  static constexpr int ROW_BLOCKS = ROWS / 8 / ROW_WAVES;  ///< of a wave's scores
  static constexpr int COLUMN_BLOCKS = V::V_HEAD_DIM / 16 / WAVES;
  static constexpr bool LEGAL = ROWS / 8 % ROW_WAVES == 0 && V::V_HEAD_DIM % (16 * WAVES) == 0 && V::BLOCK_N % 16 == 0;

  static constexpr int SCORE_ROWS = 2 * ROW_BLOCKS, SCORE_KEYS = 2 * KEY_BLOCKS;
  static constexpr int SHARERS = KEY_WAVES;  ///< waves that hold scores of one row

  using Query = LdsPanels<ROWS, V::HEAD_DIM>;
  using Keys = LdsPanels<V::BLOCK_N, V::HEAD_DIM>;
  using Numerators = LdsPanels<ROWS, V::BLOCK_N>;

  struct Scores {
    F32x4 block[KEY_BLOCKS][ROW_BLOCKS];
  };

  char* query_lds;
  unsigned query, numerators;  ///< shared addresses
  Scores scores;
  F32x4 output[COLUMN_BLOCKS][ROWS / 8];

  HEADTUNE_DEVICE LdsTileSm80(char* query_lds, char* numerators_lds, char* /*exchange*/)
      : query_lds(query_lds),
        query(nvidia::shared_address(query_lds)),
        numerators(nvidia::shared_address(numerators_lds)),
        output{} {}

  static HEADTUNE_DEVICE int key_wave() { return warp() % KEY_WAVES; }
  static HEADTUNE_DEVICE int row_wave() { return warp() / KEY_WAVES; }
  static HEADTUNE_DEVICE int sharer() { return key_wave(); }
  static HEADTUNE_DEVICE int score_row(int slot) { return row_wave() * ROW_BLOCKS * 8 + row(slot); }
  static HEADTUNE_DEVICE int score_key(int element) { return key_wave() * KEY_BLOCKS * 16 + key(element); }
  HEADTUNE_DEVICE float score(int slot, int element) const {
    return scores.block[element / 2][slot / 2][element % 2 * 2 + slot % 2];
  }
  HEADTUNE_DEVICE void set_score(int slot, int element, float value) {
    scores.block[element / 2][slot / 2][element % 2 * 2 + slot % 2] = value;
  }

  template <class RowAddress>
  HEADTUNE_DEVICE void load_query(RowAddress address) const {
    load_query_panels<Query, ROWS, V::HEAD_DIM, THREADS>(query_lds, address);
  }

  /// `meanwhile` is work that may overlap with the products.
  template <class Meanwhile>
  HEADTUNE_DEVICE void multiply_keys(const char* tile, Meanwhile meanwhile) {
    meanwhile();
    const unsigned keys = nvidia::shared_address(tile);
#pragma unroll
    for (auto& blocks : scores.block)
      for (F32x4& block : blocks) block = {0, 0, 0, 0};
#pragma unroll 4
    for (int step = 0; step < V::HEAD_DIM / 16; ++step) {
      unsigned q[(ROW_BLOCKS + 1) / 2][4];
      load_rows(q, query, row_wave() * ROW_BLOCKS * 8, step);
#pragma unroll
      for (int kb = 0; kb < KEY_BLOCKS; ++kb) {
        unsigned k[4];
        const int key = (key_wave() * KEY_BLOCKS + kb) * 16 + lane() % 16;
        nvidia::load_matrices(k, keys + Keys::offset(key, 2 * step + lane() / 16));
#pragma unroll
        for (int rb = 0; rb < ROW_BLOCKS; ++rb)
          mma<Element>(scores.block[kb][rb], k[0], k[1], k[2], k[3], q[rb / 2][rb % 2 * 2], q[rb / 2][rb % 2 * 2 + 1]);
      }
    }
  }

  /// Rounds the scores (by now softmax numerators) to 16 bit into LDS.
  HEADTUNE_DEVICE void store_numerators() const {
#pragma unroll
    for (int kb = 0; kb < KEY_BLOCKS; ++kb)
#pragma unroll
      for (int rb = 0; rb < ROW_BLOCKS; ++rb)
#pragma unroll
        for (int half = 0; half < 2; ++half) {
          const F32x4& block = scores.block[kb][rb];
          const unsigned keys = nvidia::transpose(pack_probabilities<Element>(block[2 * half], block[2 * half + 1]));
          const int row = (row_wave() * ROW_BLOCKS + rb) * 8 + lane() / 4;
          const int chunk = (key_wave() * KEY_BLOCKS + kb) * 2 + half;
          nvidia::store_shared(numerators + Numerators::offset(row, chunk) + lane() % 4 * 4, keys);
        }
  }
  static HEADTUNE_DEVICE void publish_lds() {}

  HEADTUNE_DEVICE void multiply_values(const char* tile) {
    const unsigned values = nvidia::shared_address(tile);
    using Values = LdsPanels<V::BLOCK_N, V::V_HEAD_DIM>;
#pragma unroll
    for (int step = 0; step < V::BLOCK_N / 16; ++step) {
      unsigned p[(ROWS / 8 + 1) / 2][4];
      load_rows_of<Numerators, ROWS / 8>(p, numerators, 0, step);
#pragma unroll
      for (int cb = 0; cb < COLUMN_BLOCKS; ++cb) {
        unsigned v[4];
        const int key = step * 16 + lane() / 16 * 8 + lane() % 8;
        const int chunk = (warp() * COLUMN_BLOCKS + cb) * 2 + lane() / 8 % 2;
        nvidia::load_matrices_transposed(v, values + Values::offset(key, chunk));
#pragma unroll
        for (int rb = 0; rb < ROWS / 8; ++rb)
          mma<Element>(output[cb][rb], v[0], v[1], v[2], v[3], p[rb / 2][rb % 2 * 2], p[rb / 2][rb % 2 * 2 + 1]);
      }
    }
  }

  /// factor: one float per row, in LDS.
  HEADTUNE_DEVICE void scale_output(const float* factor) {
#pragma unroll
    for (int rb = 0; rb < ROWS / 8; ++rb) {
      const float even = factor[row(2 * rb)], odd = factor[row(2 * rb + 1)];
#pragma unroll
      for (auto& column : output) {
        column[rb][0] *= even, column[rb][1] *= odd;
        column[rb][2] *= even, column[rb][3] *= odd;
      }
    }
  }

  /// Calls visit(row, first column, values) for everything this thread holds.
  template <class Visit>
  HEADTUNE_DEVICE void each_output(Visit visit) const {
#pragma unroll
    for (int rb = 0; rb < ROWS / 8; ++rb)
#pragma unroll
      for (int j = 0; j < 2; ++j)
        visit(row(2 * rb + j), [&](auto write) {
#pragma unroll
          for (int cb = 0; cb < COLUMN_BLOCKS; ++cb)
#pragma unroll
            for (int half = 0; half < 2; ++half) {
              const float value[1] = {output[cb][rb][2 * half + j]};
              write((warp() * COLUMN_BLOCKS + cb) * 16 + 8 * half + lane() / 4, value);
            }
        });
  }

 private:
  HEADTUNE_DEVICE void load_rows(unsigned (&m)[(ROW_BLOCKS + 1) / 2][4], unsigned base, int first_row, int step) const {
    load_rows_of<Query, ROW_BLOCKS>(m, base, first_row, step);
  }

  /// B operands (16 deep, 8 rows each) of BLOCKS row blocks, two per load; an odd last one is loaded twice.
  template <class Matrix, int BLOCKS>
  static HEADTUNE_DEVICE void load_rows_of(unsigned (&m)[(BLOCKS + 1) / 2][4], unsigned base, int first_row, int step) {
#pragma unroll
    for (int pair = 0; pair < (BLOCKS + 1) / 2; ++pair) {
      const int block = 2 * pair + lane() / 16 < BLOCKS ? 2 * pair + lane() / 16 : 2 * pair;
      const int r = first_row + block * 8 + lane() % 8;
      nvidia::load_matrices(m[pair], base + Matrix::offset(r, 2 * step + lane() / 8 % 2));
    }
  }
};

}  // namespace headtune::tile
