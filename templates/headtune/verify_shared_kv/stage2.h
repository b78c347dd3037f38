// verify_shared_kv, stage 2: merges the splits and adds the attention among the new tokens.
#pragma once

#include <headtune/verify_shared_kv/combine.h>

namespace headtune {

/// Body of the kernel verify_shared_kv_stage2. Grid: (query heads, EXTEND_LEN, batch): one workgroup per output row.
template <class Variant>
HEADTUNE_DEVICE void stage2(const VerifyParams& p) {
  const Request request = Request::read(p, blockIdx.z);
  if (static_cast<int>(blockIdx.y) >= request.qo_len) return;
  const SplitCut cut = cut_prefix(request.prefix_len, p.num_splits, p.min_keys_per_split, Variant::BLOCK_N);
  const Rows<Variant> rows = Rows<Variant>::of_head(blockIdx.x, blockIdx.y, 1);
  Combine<Variant, 1, Variant::STAGE2_WARPS * tile::wave_size>(p, request, rows, cut.used, tile::dynamic_lds()).run();
}

}  // namespace headtune
