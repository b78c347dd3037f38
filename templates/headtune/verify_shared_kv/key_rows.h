// Where the rows of K and V lie: in a paged pool (the prefix) or side by side (the new tokens).
#pragma once

#include <headtune/tile/tile.h>
#include <headtune/verify_shared_kv/request.h>

namespace headtune {

/// Base addresses of one KV head and the distance of rows in bytes. A row is at base + slot * stride; with 32-bit slots
/// a 32 by 32 bit product added to a 64-bit base, one instruction, right for pools beyond 4 GiB.
struct RowAddresses {
  const char* base;
  unsigned stride;

  HEADTUNE_DEVICE const char* row(unsigned slot) const { return base + static_cast<unsigned long long>(slot) * stride; }
  HEADTUNE_DEVICE const char* row(unsigned long long slot) const { return base + slot * stride; }
};

template <int bits>
struct SlotOf {
  using type = unsigned;
};
template <>
struct SlotOf<64> {
  using type = unsigned long long;
};

/// Prefix: position t of the request lies in pool slot kv_indices[t].
template <class Variant>
struct PagedSlots {
  using Slot = typename SlotOf<Variant::INDEX_BITS>::type;
  const char* indices;  ///< of position 0
  int last;             ///< positions behind the last one read the last one's row instead, and are masked

  /// Slots of `first` + `lane_offset` + [0, count); `first` is the same for the whole wave. Unless `whole`, they may
  /// lie behind the end.
  template <bool whole, int count>
  HEADTUNE_DEVICE void load(Slot (&slots)[count], int first, unsigned lane_offset) const {
    constexpr int bytes = Variant::INDEX_BITS / 8;
    if constexpr (whole && bytes == 4) {
      tile::load_words(slots, indices + first * 4LL + lane_offset * 4);
    } else {
#pragma unroll
      for (int j = 0; j < count; ++j) {
        const int position = first + static_cast<int>(lane_offset) + j;
        const int t = whole || position < last ? position : last;
        slots[j] = tile::load_global<Slot>(indices + static_cast<long long>(t) * bytes);
      }
    }
  }
};

/// New tokens: position t is row t.
struct DenseSlots {
  using Slot = unsigned;
  int last;

  template <bool whole, int count>
  HEADTUNE_DEVICE void load(unsigned (&slots)[count], int first, unsigned lane_offset) const {
#pragma unroll
    for (int j = 0; j < count; ++j) {
      const int position = first + static_cast<int>(lane_offset) + j;
      slots[j] = static_cast<unsigned>(position < last ? position : last);
    }
  }
};

/// `Slots` say which rows, `Element` what they consist of.
template <class Slots_, class Element_>
struct KeyRows {
  using Slots = Slots_;
  using Element = Element_;
  RowAddresses keys, values;
  Slots slots;
};

template <class Variant>
using PrefixRows = KeyRows<PagedSlots<Variant>, typename tile::ElementOf<Variant::KV_DTYPE>::type>;
template <class Variant>
using NewTokenRows = KeyRows<DenseSlots, typename tile::ElementOf<Variant::DTYPE>::type>;

template <class Variant>
HEADTUNE_DEVICE PrefixRows<Variant> prefix_rows(const VerifyParams& p, const Request& request, int kv_head, int end) {
  constexpr int bytes = PrefixRows<Variant>::Element::bytes;
  const char* keys = static_cast<const char*>(p.k_cache);
  const char* values = static_cast<const char*>(p.v_cache);
  if constexpr (Variant::HAS_KV_HEADS) {
    keys += kv_head * p.k_cache_stride_head * bytes;
    values += kv_head * p.v_cache_stride_head * bytes;
  }
  constexpr int index_bytes = Variant::INDEX_BITS / 8;
  return {{keys, static_cast<unsigned>(p.k_cache_stride_slot * bytes)},
          {values, static_cast<unsigned>(p.v_cache_stride_slot * bytes)},
          {static_cast<const char*>(p.kv_indices) + static_cast<long long>(request.kv_begin) * index_bytes, end - 1}};
}

template <class Variant>
HEADTUNE_DEVICE NewTokenRows<Variant> new_token_rows(const VerifyParams& p, const Request& request, int kv_head) {
  const int head = Variant::HAS_KV_HEADS ? kv_head : 0;
  return {{tensor_row<2>(p.k_extend, request.qo_begin, p.k_extend_stride_token, head, p.k_extend_stride_head),
           static_cast<unsigned>(p.k_extend_stride_token * 2)},
          {tensor_row<2>(p.v_extend, request.qo_begin, p.v_extend_stride_token, head, p.v_extend_stride_head),
           static_cast<unsigned>(p.v_extend_stride_token * 2)},
          {request.qo_len - 1}};
}

}  // namespace headtune
