// verify_shared_kv, stage 2: merges the splits and adds the attention among the new tokens.
#pragma once

#include <headtune/verify_shared_kv/combine.h>

namespace headtune {

/// Body of the kernel verify_shared_kv_stage2. Grid: stage2_launch.
template <class Variant>
HEADTUNE_DEVICE void stage2(const VerifyParams& p) {
  constexpr int rows_of_workgroup = Variant::STAGE2_ROWS;
  const Request request = Request::read(p, blockIdx.z);
  const int first = blockIdx.y * rows_of_workgroup;
  if (first >= request.qo_len) return;
  const SplitCut cut = cut_prefix(request.prefix_len, p.num_splits, p.min_keys_per_split, Variant::BLOCK_N);
  const int count = Variant::EXTEND_LEN - first < rows_of_workgroup ? Variant::EXTEND_LEN - first : rows_of_workgroup;
  const Rows<Variant> rows = Rows<Variant>::of_head(blockIdx.x, first, count);
  Combine<Variant, rows_of_workgroup, Variant::STAGE2_WARPS * tile::wave_size>(p, request, rows, cut.used,
                                                                               tile::dynamic_lds())
      .run();
}

}  // namespace headtune
