// verify_shared_kv, stage 2: merges the splits and adds the attention among the new tokens.
#pragma once

#include <headtune/verify_shared_kv/combine.h>

namespace headtune {

/// Waves per SIMD that the registers of stage 2 leave room for. On NVIDIA it starts beside stage 1, and all its
/// workgroups should be on the device at once: with 80 registers instead of 64 the last ones waited for others to end.
template <class Variant>
inline constexpr int stage2_waves_per_eu = device_family == Family::nvidia ? 8 : 4;

/// `rows_of_workgroup` new tokens of one head by `warps` waves. Grid: (query heads, blocks of new tokens, batch).
template <class Variant, int rows_of_workgroup, int warps, bool many>
HEADTUNE_DEVICE void combine_rows(const VerifyParams& p) {
  const Request request = Request::read(p, blockIdx.z);
  const int first = blockIdx.y * rows_of_workgroup;
  if (!request.has_token(first)) return;  // nothing to wait for either
  const SplitCut cut = cut_prefix(request.prefix_len, p.num_splits, p.min_keys_per_split, Variant::BLOCK_N);
  const int count = Variant::EXTEND_LEN - first < rows_of_workgroup ? Variant::EXTEND_LEN - first : rows_of_workgroup;
  const Rows<Variant> rows = Rows<Variant>::of_head(blockIdx.x, first, count);
  Combine<Variant, rows_of_workgroup, warps * tile::wave_size, many>(p, request, rows, cut.used, tile::dynamic_lds())
      .run([] { tile::wait_previous_kernel(); });
}

/// Body of the kernel verify_shared_kv_stage2. Grid and block: stage2_launch, which say which shape is meant.
template <class Variant>
HEADTUNE_DEVICE void stage2(const VerifyParams& p) {
  constexpr int wide = Variant::STAGE2_WARPS, narrow = stage2_narrow_warps(wide);
  if constexpr (Variant::STAGE2_ROWS > 1)
    if (gridDim.y < Variant::EXTEND_LEN) return combine_rows<Variant, Variant::STAGE2_ROWS, narrow, false>(p);
  if (p.num_splits >= many_splits) return combine_rows<Variant, 1, wide, true>(p);
  combine_rows<Variant, 1, narrow, false>(p);
}

}  // namespace headtune
