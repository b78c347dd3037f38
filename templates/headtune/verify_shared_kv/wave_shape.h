// The static shape of one wave's work in the register path.
#pragma once

#include <headtune/tile/tile.h>
#include <headtune/verify_shared_kv/lds_layout.h>
#include <headtune/verify_shared_kv/ring_layout.h>

namespace headtune {

/// `rows`: (head, new token) rows of the workgroup. Waves are laid row_warps x key_warps.
template <class Variant, int rows_>
struct WaveShape {
  using Element = typename tile::ElementOf<Variant::DTYPE>::type;
  using Prefix = typename tile::ElementOf<Variant::KV_DTYPE>::type;

  static constexpr int rows = rows_;
  static constexpr int num_warps = Variant::NUM_WARPS;
  static constexpr int row_warps = Variant::ROW_WARPS;
  static constexpr int key_warps = num_warps / row_warps;
  static constexpr int padded_rows = row_blocks(rows, row_warps) * 16;
  static constexpr int blocks = padded_rows / 16 / row_warps;  // 16-row blocks of one wave

  static constexpr int steps_wanted = Variant::BLOCK_N / (tile::keys_per_step * key_warps);
  static constexpr int steps = steps_wanted > 0 ? steps_wanted : 1;  // key steps of one wave's tile
  static constexpr int tile_keys = steps * tile::keys_per_step;

  /// Of 32 dims, eight for each of the four lanes that share a key row: 16 bytes of an operand.
  static constexpr int chunks = Variant::HEAD_DIM / 32;
  /// The dims of a lane in one row, neighbours in 16 bytes of the prefix: 8 of one chunk, or 16 of two.
  static constexpr int lane_dims = 16 / Prefix::bytes;
  /// First dim of a chunk, for the first lane; the others' follow by lane_dims.
  static constexpr HEADTUNE_DEVICE int first_dim(int chunk) {
    return chunk * 8 / lane_dims * lane_dims * 4 + chunk * 8 % lane_dims;
  }
  static constexpr tile::ColumnShape columns = tile::column_shape(Variant::V_HEAD_DIM, tile::wave_size);
  static constexpr int vector = columns.vector;
  static constexpr int groups = Variant::V_HEAD_DIM / columns.group;

  static constexpr bool queries_in_lds = register_path::queries_in_lds(Variant::HEAD_DIM, tile::wave_size);
  static constexpr int ring_bytes = Variant::LOAD_PATH == 2
                                        ? ring_path::ring_bytes(Variant::BLOCK_N, Variant::HEAD_DIM,
                                                                Variant::V_HEAD_DIM, Variant::NUM_STAGES, Prefix::bytes)
                                        : 0;
  static constexpr register_path::MergeShape merge =
      register_path::merge_shape(num_warps, row_warps, rows, Variant::V_HEAD_DIM, tile::wave_size,
                                 ring_bytes > register_path::merge_budget ? ring_bytes : register_path::merge_budget);

  static_assert(num_warps % row_warps == 0, "NUM_WARPS must be a multiple of ROW_WARPS");
  static_assert(Variant::HEAD_DIM % 32 == 0, "HEAD_DIM must be a multiple of 32");
  static_assert(groups * columns.group == Variant::V_HEAD_DIM, "V_HEAD_DIM must fill the lanes of the wave");
  static_assert(Variant::KV_DTYPE == Variant::DTYPE || Prefix::bytes == 1, "a 16-bit prefix has the element type of Q");
  static_assert(Prefix::bytes == 2 || (Variant::HEAD_DIM % 64 == 0 && Variant::V_HEAD_DIM % 64 == 0),
                "rows of an fp8 prefix are read 64 elements at a time");
};

}  // namespace headtune
