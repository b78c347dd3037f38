// Copies tiles of scattered cache rows from global memory into LDS panels; the order of work is the same everywhere,
// the copy itself (`Copier`) is the architecture's.
#pragma once

#include <headtune/tile/lds_layout.h>
#include <headtune/tile/tile.h>

namespace headtune::tile {

/// Which part of each tile a thread copies: one chunk column of the panels, for KEYS keys. Threads beyond one panel
/// take every PANEL_STEP-th panel. LDS addresses are linear in the thread; the swizzle is in the global address.
template <int THREADS, int BLOCK_N, int COLUMNS>
struct StagerShape {
  static constexpr int PANELS = COLUMNS / 64;
  static constexpr int KEYS_PER_PASS = keys_per_pass(THREADS, BLOCK_N);
  static constexpr int PANEL_STEP = THREADS / 8 / KEYS_PER_PASS;
  static constexpr int PASSES = BLOCK_N / KEYS_PER_PASS;
  static constexpr int STEPS = (PANELS + PANEL_STEP - 1) / PANEL_STEP;
  static constexpr int COPIES = PASSES * STEPS;  ///< 16-byte copies per thread and tile
  static_assert(COLUMNS % 64 == 0 && BLOCK_N % KEYS_PER_PASS == 0 && KEYS_PER_PASS % 8 == 0, "even split of a tile");
};

/// The stager of one matrix (K, or a separate V), whose elements have `BYTES` bytes in global memory.
template <int THREADS, int BLOCK_N, int COLUMNS, int BYTES = 2>
struct Stager {
  using Shape = StagerShape<THREADS, BLOCK_N, COLUMNS>;
  using Panels = LdsPanels<BLOCK_N, COLUMNS, lds_banks>;
  static_assert(Shape::KEYS_PER_PASS % Panels::PERIOD == 0, "a thread's keys are permuted alike");

  int key, panel, chunk;  ///< this thread's first key, first panel and chunk of a panel row
  int lds_offset;

  /// `by_wave`: each() gives the LDS offset of the wave's first lane, the others follow side by side.
  HEADTUNE_DEVICE explicit Stager(int thread, bool by_wave = false) {
    const int within = thread % (Shape::KEYS_PER_PASS * 8);
    panel = thread / (Shape::KEYS_PER_PASS * 8);
    key = within / 8;
    chunk = Panels::slot(key, within % 8);
    lds_offset = panel * BLOCK_N * 128 + within * 16;
    if (by_wave) panel = first_lane(panel), lds_offset = first_lane(lds_offset);
  }

  /// Calls copy(step, lds offset, global address) for every chunk of this thread; row(pass) is the address of a key's
  /// row.
  template <class Row, class Copy>
  HEADTUNE_DEVICE void each(Row row_of, Copy copy) const {
#pragma unroll
    for (int pass = 0; pass < Shape::PASSES; ++pass) {
      const char* row = row_of(pass) + panel * (64 * BYTES) + chunk * (8 * BYTES);
      const int lds = lds_offset + pass * Shape::KEYS_PER_PASS * 128;
#pragma unroll
      for (int step = 0; step < Shape::STEPS; ++step)
        if (Shape::PANELS % Shape::PANEL_STEP == 0 || step * Shape::PANEL_STEP + panel < Shape::PANELS)
          copy(pass * Shape::STEPS + step, lds + step * Shape::PANEL_STEP * BLOCK_N * 128,
               row + step * Shape::PANEL_STEP * (64 * BYTES));
    }
  }
};

/// Copies the query rows into their panels; rows without an address are zero.
template <class Panels, int ROWS, int COLUMNS, int THREADS, class RowAddress>
HEADTUNE_DEVICE void load_query_panels(char* destination, RowAddress address) {
  constexpr int CHUNKS = COLUMNS / 8;
  for (int i = thread_index(); i < ROWS * CHUNKS; i += THREADS) {
    const int row = i / CHUNKS, chunk = i % CHUNKS;
    const void* source = address(row);
    U32x4 value{0, 0, 0, 0};
    if (source != nullptr) value = load_global<U32x4>(static_cast<const char*>(source) + chunk * 16);
    *reinterpret_cast<U32x4*>(destination + Panels::offset(row, chunk)) = value;
  }
}

}  // namespace headtune::tile
