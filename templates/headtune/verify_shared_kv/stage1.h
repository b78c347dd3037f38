// verify_shared_kv, stage 1: attention of the new tokens' rows over one split of the prefix.
#pragma once

#include <headtune/verify_shared_kv/stage1_lds.h>
#include <headtune/verify_shared_kv/stage1_registers.h>

namespace headtune {

/// Body of the kernel verify_shared_kv_stage1. Grid and LDS: stage1_launch.
template <class Variant>
HEADTUNE_DEVICE void stage1(const VerifyParams& p) {
  tile::let_next_kernel_start();  // stage 2 scores the new tokens meanwhile and waits before it reads partials
  if constexpr (Variant::LOAD_PATH == 1)
    stage1_lds<Variant>(p);
  else
    stage1_registers<Variant>(p);
}

}  // namespace headtune
