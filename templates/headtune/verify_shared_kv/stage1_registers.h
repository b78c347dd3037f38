// Stage 1 where waves own keys and walk them without a barrier of the workgroup.
#pragma once

#include <headtune/verify_shared_kv/fuse_combine.h>
#include <headtune/verify_shared_kv/merge_waves.h>
#include <headtune/verify_shared_kv/walk_prefix.h>

namespace headtune {

/// Writes a workgroup's rows to the partials of its split.
template <class Variant>
struct PartialWriter {
  const Request& request;
  const Rows<Variant>& rows;
  float *log_sums, *out;  ///< of row 0

  HEADTUNE_DEVICE PartialWriter(const VerifyParams& p, const Request& request_of, const Rows<Variant>& rows_of,
                                int split)
      : request(request_of),
        rows(rows_of),
        log_sums(p.partial_lse + partial_row(p, request.index, split, rows)),
        out(p.partial_out + partial_row(p, request.index, split, rows) * Variant::V_HEAD_DIM) {}

  HEADTUNE_DEVICE void lse(int row, float value) const {
    if (rows.valid(row, request)) tile::store_global(log_sums + row, value);
  }
  HEADTUNE_DEVICE void columns(int row, int column, const tile::F32x4& values) const {
    if (rows.valid(row, request)) tile::store_global(out + row * Variant::V_HEAD_DIM + column, values);
  }
};

template <class Variant>
HEADTUNE_DEVICE void attend_split(const VerifyParams& p, const Request& request, const Rows<Variant>& rows, int split,
                                  int begin, int end) {
  using Shape = WaveShape<Variant, Variant::BLOCK_H * Variant::EXTEND_LEN>;
  Queries<Shape> queries;
  WaveState<Shape> state;
  walk_prefix(state, queries, p, request, rows, begin, end);
  if constexpr (walk_uses_lds<Variant, Shape>) __syncthreads();
  merge_waves(state, tile::dynamic_lds(), p.v_scale, PartialWriter<Variant>(p, request, rows, split));
}

/// Grid: (head blocks, splits, batch).
template <class Variant>
HEADTUNE_DEVICE void stage1_registers(const VerifyParams& p) {
  const int split = blockIdx.y;
  const Request request = Request::read(p, blockIdx.z);
  if (!request.has_token(0)) return;
  const SplitCut cut = cut_prefix(request.prefix_len, p.num_splits, p.min_keys_per_split, Variant::BLOCK_N);
  const Rows<Variant> rows = Rows<Variant>::of_head_block(blockIdx.x);
  if (cut.holds(split, request.prefix_len)) {
    const int begin = split * cut.keys_per_split;
    const int end = begin + cut.keys_per_split < request.prefix_len ? begin + cut.keys_per_split : request.prefix_len;
    attend_split<Variant>(p, request, rows, split, begin, end);
  } else if (!(Variant::FUSE_COMBINE && split == 0)) {
    return;
  }
  if constexpr (Variant::FUSE_COMBINE) combine_when_last<Variant>(p, request, rows, cut.used, tile::dynamic_lds());
}

}  // namespace headtune
