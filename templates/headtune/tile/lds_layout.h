// How matrices of 16-bit elements lie in LDS (shared memory) on every architecture: panels of 128-byte rows whose
// 16-byte chunks are permuted by the row, so that reading one chunk column (8 rows with 32 banks, 16 with 64), or one
// whole row, touches every bank once.
//
// 32 banks: by the row. The same layout is the 128-byte swizzle that Hopper's matrix descriptors expect.
// 64 banks (gfx950): by the row's Gray code. Each of the following then takes every bank once: 16 rows of a chunk
// column (ds_read_b128 in order of lanes), 8 rows of it beside the other 8 of the next (MI350 serves lanes 0..3, 12..15
// and 20..27 together), and 32 bytes of rows r..r+3 and r+8..r+11 (ds_read_b64_tr_b16).
#pragma once

#include <headtune/tile/macros.h>

namespace headtune::tile {

/// ROWS x COLS elements of 2 bytes. A panel holds WIDTH columns of every row; panels follow each other.
template <int ROWS, int COLS, int BANKS = 32>
struct LdsPanels {
  static constexpr int WIDTH = COLS < 64 ? COLS : 64;
  static constexpr int CHUNKS = WIDTH / 8;  ///< 16-byte chunks of one panel row
  static constexpr int ROW_BYTES = WIDTH * 2;
  static constexpr int PANEL_BYTES = ROWS * ROW_BYTES;
  static constexpr int BYTES = ROWS * COLS * 2;
  static constexpr int PERIOD = (BANKS == 64 ? 16 : 8);  ///< rows after which 128-byte rows are permuted alike
  static_assert(COLS % WIDTH == 0 && (WIDTH == 16 || WIDTH == 32 || WIDTH == 64), "whole panels only");
  static_assert(BANKS == 32 || BANKS == 64, "banks of 4 bytes");

  /// Place of chunk `chunk` (< CHUNKS) within its panel row. Narrow rows share a 128-byte line, hence the division.
  static constexpr HEADTUNE_HOST_DEVICE int slot(int row, int chunk) {
    const int permutation = BANKS == 64 ? row ^ (row >> 1) : row;
    return chunk ^ ((permutation / (64 / WIDTH)) & (CHUNKS - 1));
  }

  /// Byte offset of the chunk that holds columns [8 * chunk, 8 * chunk + 8) of `row`.
  static constexpr HEADTUNE_HOST_DEVICE int offset(int row, int chunk) {
    return chunk / CHUNKS * PANEL_BYTES + row * ROW_BYTES + slot(row, chunk % CHUNKS) * 16;
  }
};

constexpr HEADTUNE_HOST_DEVICE int round_up(int value, int multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

/// Of `waves`, how many lie along the keys of a score tile when the rest lie along its rows: the most for which whole
/// blocks go to each wave; where rows never divide, the most that divides the keys (some waves then compute padding).
constexpr HEADTUNE_HOST_DEVICE int waves_along_keys(int waves, int key_blocks, int row_blocks) {
  int fallback = 1;
  for (int along_keys = waves; along_keys > 0; --along_keys) {
    if (waves % along_keys != 0 || key_blocks % along_keys != 0) continue;
    if (row_blocks % (waves / along_keys) == 0) return along_keys;
    if (fallback == 1) fallback = along_keys;
  }
  return fallback;
}

/// Rows of the score tile on AMD, whole 16-row blocks for every wave.
constexpr HEADTUNE_HOST_DEVICE int score_rows(int rows, int block_n, int waves) {
  return round_up(rows, 16 * (waves / waves_along_keys(waves, block_n / 16, (rows + 15) / 16)));
}

/// Keys that all threads of a workgroup cover when eight of them copy a panel row of a key, 16 bytes each. Where
/// threads are left they take further panels.
constexpr HEADTUNE_HOST_DEVICE int keys_per_pass(int threads, int block_n) {
  return threads > block_n * 8 ? block_n : threads / 8;
}

/// Bytes through which two warpgroups exchange partial scores, where they fit beside two tiles of 64 keys: up to 48
/// rows.
constexpr HEADTUNE_HOST_DEVICE int exchange_bytes(int rows, int block_n, int warps) {
  return block_n == 64 && warps == 8 && rows <= 48 ? round_up(rows, 16) * block_n * 4 : 0;
}

}  // namespace headtune::tile
