// What a benchmark compares kernels with: the rows of K and V that a call must read, read and nothing else
// (plain_read), and the K cache's rows copied to the V cache's (plain_copy). Same arguments as verify_shared_kv.
#pragma once

#include <headtune/verify_shared_kv/key_rows.h>

namespace headtune {

/// 16-byte pieces of the slots of all prefixes, dealt out thread by thread: a slot's heads lie side by side and are
/// read together.
template <class Variant>
struct SlotPieces {
  using Slot = typename SlotOf<Variant::INDEX_BITS>::type;
  static constexpr int num_kv_heads = Variant::HAS_KV_HEADS ? Variant::NUM_Q_HEADS / Variant::KV_GROUP_NUM : 1;
  static constexpr int bytes = tile::ElementOf<Variant::KV_DTYPE>::type::bytes;  // of an element
  static constexpr int pieces = num_kv_heads * Variant::HEAD_DIM * bytes / 16;   // of one slot

  const VerifyParams& p;
  const Slot* slots;
  long long count;

  HEADTUNE_DEVICE explicit SlotPieces(const VerifyParams& params)
      : p(params),
        slots(static_cast<const Slot*>(params.kv_indices)),
        count(static_cast<long long>(params.kv_indptr[params.batch]) * pieces) {}

  HEADTUNE_DEVICE long long byte_of(long long item, long long stride) const {
    return static_cast<long long>(slots[item / pieces]) * stride * bytes + item % pieces * 16;
  }

  /// Calls visit(item) for this thread's share, `unroll` at a time.
  template <class Visit>
  HEADTUNE_DEVICE void each(const Visit& visit) const {
    const long long step = static_cast<long long>(gridDim.x) * Variant::NUM_WARPS * tile::wave_size;
    long long item = static_cast<long long>(blockIdx.x) * Variant::NUM_WARPS * tile::wave_size + tile::thread_index();
#pragma unroll 8
    for (; item < count; item += step) visit(item);
  }
};

template <class Variant>
HEADTUNE_DEVICE void plain_read(const VerifyParams& p) {
  const SlotPieces<Variant> all(p);
  unsigned seen = 0;
  all.each([&](long long item) {
    const tile::U32x4 k =
        tile::load_stream<tile::U32x4>(static_cast<const char*>(p.k_cache) + all.byte_of(item, p.k_cache_stride_slot));
    seen ^= k[0] ^ k[1] ^ k[2] ^ k[3];
    if constexpr (Variant::HEAD_DIM == Variant::V_HEAD_DIM) {
      const tile::U32x4 v = tile::load_stream<tile::U32x4>(static_cast<const char*>(p.v_cache) +
                                                           all.byte_of(item, p.v_cache_stride_slot));
      seen ^= v[0] ^ v[1] ^ v[2] ^ v[3];
    }
  });
  // Hardly ever true, and harmless; without it the compiler would drop the loads.
  if (seen == 0x9e3779b9u) tile::store_global(p.out, seen);
}

template <class Variant>
HEADTUNE_DEVICE void plain_copy(const VerifyParams& p) {
  static_assert(Variant::HEAD_DIM == Variant::V_HEAD_DIM, "rows of K and V must be of one size to be copied");
  const SlotPieces<Variant> all(p);
  all.each([&](long long item) {
    const long long byte = all.byte_of(item, p.k_cache_stride_slot);
    tile::store_global(const_cast<char*>(static_cast<const char*>(p.v_cache)) + byte,
                       tile::load_stream<tile::U32x4>(static_cast<const char*>(p.k_cache) + byte));
  });
}

}  // namespace headtune
