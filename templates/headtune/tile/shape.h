// How a wave lays output columns over its lanes, for host (LDS sizes) and device.
#pragma once

#include <headtune/tile/macros.h>

namespace headtune::tile {

/// A lane loads `vector` neighbouring columns of one value row; the lanes that differ in row of the matrix operand
/// (16 on AMD, 8 on NVIDIA) make a group of columns. `chunk`: columns that the merge of waves handles at a time.
struct ColumnShape {
  int vector;
  int group;
  int chunk;
};

constexpr HEADTUNE_HOST_DEVICE ColumnShape column_shape(int v_head_dim, int wave_size) {
  const int lanes = wave_size / 4;    // four lanes share a row of scores
  const int per_element = lanes / 4;  // accumulator elements of one output row
  const int vector = v_head_dim % (8 * lanes) == 0 ? 8 : v_head_dim % (4 * lanes) == 0 ? 4 : 2;
  const int elements = per_element < 16 / vector ? per_element : 16 / vector;
  return {vector, vector * lanes, 4 * elements * vector};
}

}  // namespace headtune::tile
