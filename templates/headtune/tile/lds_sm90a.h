// LDS path on Hopper, matrix products by wgmma: a warpgroup reads both operands from LDS once, where mma.sync reads
// them once per warp. Compiled for sm_90a only. Two warpgroups: each forms the scores of half the rows, and half the
// columns of the output for all rows. As in lds_sm80.h, scores are keys x rows and outputs columns x rows.
#pragma once

#include <headtune/tile/lds_layout.h>
#include <headtune/tile/lds_nvidia.h>
#include <headtune/tile/lds_stager.h>
#include <headtune/tile/wgmma.h>

namespace headtune::tile {

template <class V, int ROWS>
struct LdsTileSm90a : nvidia::ScoreLanes {
  using Element = typename ElementOf<V::DTYPE>::type;
  static constexpr int WAVES = V::NUM_WARPS, THREADS = WAVES * 32, GROUPS = 2;

  static constexpr int SCORE_COUNT = ROWS / GROUPS;  ///< rows whose scores a warpgroup ends up with
  /// Narrow products are slow: where LDS allows, each warpgroup forms the scores of all rows over half the depth.
  static constexpr bool SPLIT_DEPTH = exchange_bytes(ROWS, V::BLOCK_N, WAVES) > 0;
  static constexpr int COLUMN_BLOCKS = V::V_HEAD_DIM / 64 / GROUPS;
  static constexpr bool LEGAL =
      WAVES == 8 && V::BLOCK_N == 64 && V::V_HEAD_DIM % 128 == 0 && wgmma_rows(ROWS) && wgmma_rows(SCORE_COUNT);

  static constexpr int SCORE_ROWS = SCORE_COUNT / 4, SCORE_KEYS = 2;
  static constexpr int SHARERS = 4;

  using Query = LdsPanels<ROWS, V::HEAD_DIM>;
  using Keys = LdsPanels<64, V::HEAD_DIM>;
  using Numerators = LdsPanels<ROWS, 64>;

  struct Scores {
    float d[SCORE_COUNT / 2];
  };

  char *query_lds, *exchange;
  unsigned query, numerators;  ///< shared addresses
  Scores scores;
  float output[COLUMN_BLOCKS][ROWS / 2];

  HEADTUNE_DEVICE LdsTileSm90a(char* query_lds, char* numerators_lds, char* exchange_lds)
      : query_lds(query_lds),
        exchange(exchange_lds),
        query(nvidia::shared_address(query_lds)),
        numerators(nvidia::shared_address(numerators_lds)),
        output{} {}

  static HEADTUNE_DEVICE int group() { return __shfl_sync(0xffffffffu, warp() / 4, 0); }  // uniform, for descriptors
  static HEADTUNE_DEVICE int sharer() { return warp() % 4; }
  static HEADTUNE_DEVICE int score_row(int slot) { return warp() / 4 * SCORE_COUNT + row(slot); }
  static HEADTUNE_DEVICE int score_key(int element) { return sharer() * 16 + key(element); }
  HEADTUNE_DEVICE float score(int slot, int element) const { return scores.d[slot / 2 * 4 + element * 2 + slot % 2]; }
  HEADTUNE_DEVICE void set_score(int slot, int element, float value) {
    scores.d[slot / 2 * 4 + element * 2 + slot % 2] = value;
  }

  template <class RowAddress>
  HEADTUNE_DEVICE void load_query(RowAddress address) const {
    load_query_panels<Query, ROWS, V::HEAD_DIM, THREADS>(query_lds, address);
  }

  /// `meanwhile` runs while the products do.
  template <class Meanwhile>
  HEADTUNE_DEVICE void multiply_keys(const char* tile, Meanwhile meanwhile) {
    if constexpr (SPLIT_DEPTH) {
      float partial[ROWS / 2];
      multiply_depths<2>(partial, nvidia::shared_address(tile) + group() * 32, query + group() * 32, meanwhile);
      exchange_halves(partial);
    } else {
      multiply_depths<1>(scores.d, nvidia::shared_address(tile), query + group() * SCORE_COUNT * 128, meanwhile);
    }
  }

  HEADTUNE_DEVICE void store_numerators() const {
#pragma unroll
    for (int block = 0; block < SCORE_COUNT / 8; ++block)
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const float* pair = &scores.d[block * 4 + 2 * half];
        const unsigned keys = nvidia::transpose(pack_probabilities<Element>(pair[0], pair[1]));
        const int row = warp() / 4 * SCORE_COUNT + block * 8 + lane() / 4;
        nvidia::store_shared(numerators + Numerators::offset(row, sharer() * 2 + half) + lane() % 4 * 4, keys);
      }
  }
  static HEADTUNE_DEVICE void publish_lds() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }

  HEADTUNE_DEVICE void multiply_values(const char* tile) {
    const unsigned long long values =
        row_major(nvidia::shared_address(tile) + group() * COLUMN_BLOCKS * Keys::PANEL_BYTES);
    const unsigned long long rows = depth_major(numerators);
#pragma unroll
    for (auto& block : output) wgmma_begin(block);
#pragma unroll
    for (int step = 0; step < 4; ++step)
#pragma unroll
      for (int block = 0; block < COLUMN_BLOCKS; ++block)
        Wgmma<Element, ROWS>::template multiply<1>(
            output[block], values + (block * Keys::PANEL_BYTES + step * 16 * 128) / 16, rows + step * 32 / 16, true);
    wgmma_commit();
    wgmma_wait(output[0]);
#pragma unroll
    for (auto& block : output) wgmma_pin(block);
  }

  HEADTUNE_DEVICE void scale_output(const float* factor) {
#pragma unroll
    for (int slot = 0; slot < ROWS / 4; ++slot) {
      const float f = factor[row(slot)];
#pragma unroll
      for (auto& block : output) {
        block[slot / 2 * 4 + slot % 2] *= f;
        block[slot / 2 * 4 + slot % 2 + 2] *= f;
      }
    }
  }

  template <class Visit>
  HEADTUNE_DEVICE void each_output(Visit visit) const {
#pragma unroll
    for (int slot = 0; slot < ROWS / 4; ++slot)
      visit(row(slot), [&](auto write) {
#pragma unroll
        for (int block = 0; block < COLUMN_BLOCKS; ++block)
#pragma unroll
          for (int half = 0; half < 2; ++half) {
            const float value[1] = {output[block][slot / 2 * 4 + half * 2 + slot % 2]};
            const int column = (warp() / 4 * COLUMN_BLOCKS + block) * 64 + sharer() * 16 + half * 8 + lane() / 4;
            write(column, value);
          }
      });
  }

 private:
  /// Scores over every STRIDE-th depth of 16.
  template <int STRIDE, int N, class Meanwhile>
  static HEADTUNE_DEVICE void multiply_depths(float (&d)[N], unsigned keys, unsigned rows, Meanwhile meanwhile) {
    wgmma_begin(d);
#pragma unroll
    for (int step = 0; step < V::HEAD_DIM / 16; step += STRIDE) {
      const int panel = step / 4, within = step % 4 * 32;
      Wgmma<Element, 2 * N>::template multiply<0>(d, depth_major(keys) + (panel * Keys::PANEL_BYTES + within) / 16,
                                                  depth_major(rows) + (panel * Query::PANEL_BYTES + within) / 16,
                                                  step > 0);
    }
    wgmma_commit();
    meanwhile();
    wgmma_wait(d);
  }

  /// Each warpgroup gives away its sums of the other's rows and adds what it gets to its own.
  HEADTUNE_DEVICE void exchange_halves(const float (&partial)[ROWS / 2]) {
    constexpr int MINE = SCORE_COUNT / 2;
    const bool second = group() != 0;
    const auto slot = [&](int owner, int i) {
      return reinterpret_cast<F32x4*>(exchange) + (owner * MINE / 4 + i / 4) * 128 + thread_index() % 128;
    };
#pragma unroll
    for (int i = 0; i < MINE; i += 4)
      *slot(second ? 0 : 1, i) =
          second ? F32x4{partial[i], partial[i + 1], partial[i + 2], partial[i + 3]}
                 : F32x4{partial[MINE + i], partial[MINE + i + 1], partial[MINE + i + 2], partial[MINE + i + 3]};
    __syncthreads();
#pragma unroll
    for (int i = 0; i < MINE; i += 4) {
      const F32x4 other = *slot(second ? 1 : 0, i);
#pragma unroll
      for (int j = i; j < i + 4; ++j) scores.d[j] = (second ? partial[MINE + j] : partial[j]) + other[j - i];
    }
  }
};

}  // namespace headtune::tile
