// The workgroup that finishes a head block's last split combines them: one launch instead of two.
#pragma once

#include <headtune/verify_shared_kv/combine.h>

namespace headtune {

/// Whether this workgroup is the last of `used` that arrive at `counter`, which is left at zero. What the others wrote
/// before is then visible. Every thread must arrive; `lds` is one word.
HEADTUNE_DEVICE bool is_last_workgroup(unsigned* counter, int used, float* lds) {
  unsigned* last = reinterpret_cast<unsigned*>(lds);
  tile::release_device();
  __syncthreads();
  if (tile::thread_index() == 0) {
    *last = tile::atomic_increment(counter) + 1 == static_cast<unsigned>(used);
    if (*last) tile::store_global(counter, 0u);
  }
  __syncthreads();
  const bool is_last = *last != 0;
  __syncthreads();
  if (is_last) tile::acquire_device();
  return is_last;
}

/// To be called by every workgroup of a head block once it has written its partials; `used` splits were written, and
/// with used = 0 the one caller has nothing to wait for.
template <class Variant>
HEADTUNE_DEVICE void combine_when_last(const VerifyParams& p, const Request& request, const Rows<Variant>& rows,
                                       int used, float* lds) {
  __syncthreads();  // the caller's use of LDS has ended
  unsigned* counter = p.split_done + request.index * gridDim.x + blockIdx.x;
  if (used > 1 && !is_last_workgroup(counter, used, lds)) return;
  if (used == 1) {
    tile::release_device();
    __syncthreads();
  }
  Combine<Variant, Variant::BLOCK_H * Variant::EXTEND_LEN, Variant::NUM_WARPS * tile::wave_size>(p, request, rows, used,
                                                                                                 lds)
      .run([] {});
}

}  // namespace headtune
