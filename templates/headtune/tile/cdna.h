// Tile vocabulary of AMD CDNA: wave64, 16x16 MFMA. Shared by gfx90a, gfx942 (cdna3.h) and gfx950 (cdna4.h).
//
// Scores are formed transposed, S^T = K * Q^T, and so is the output, O^T = V^T * P^T: a lane then holds scores of one
// query row (lane % 16) for `keys_per_lane` keys, exactly what the second product wants as its operand.
#pragma once

#if !defined(__HIP__)
#error "AMD device code, for hipRTC or hipcc; headtune/tile/tile.h and lds_tile.h choose the family's file"
#endif

#include <headtune/tile/element.h>
#include <headtune/tile/macros.h>

namespace headtune::tile {

using U32x2 = unsigned __attribute__((ext_vector_type(2)));
using U32x4 = unsigned __attribute__((ext_vector_type(4)));
using F32x2 = float __attribute__((ext_vector_type(2)));
using F32x4 = float __attribute__((ext_vector_type(4)));
using I16x4 = short __attribute__((ext_vector_type(4)));
using F16x2 = _Float16 __attribute__((ext_vector_type(2)));
using F16x4 = _Float16 __attribute__((ext_vector_type(4)));

inline constexpr int wave_size = 64;
inline constexpr int free_lanes = 16;       // lanes of one quarter: rows of the matrix operand
inline constexpr int rows_per_lane = 1;     // query rows of a 16-row block that a lane holds
inline constexpr int elements_per_row = 4;  // accumulator elements per such row

HEADTUNE_DEVICE int thread_index() { return static_cast<int>(threadIdx.x); }
HEADTUNE_DEVICE int lane_index() { return thread_index() % wave_size; }
/// What the wave's first lane holds, in a scalar register.
HEADTUNE_DEVICE int first_lane(int x) { return __builtin_amdgcn_readfirstlane(x); }
/// The wave's number, in a scalar register.
HEADTUNE_DEVICE int wave_index() { return __builtin_amdgcn_readfirstlane(thread_index() / wave_size); }
/// Which of the four lanes that share a query row.
HEADTUNE_DEVICE int quarter(int lane) { return lane / 16; }
HEADTUNE_DEVICE int free_index(int lane) { return lane % 16; }

HEADTUNE_DEVICE float exp2(float x) {
#if __has_builtin(__builtin_amdgcn_exp2f)
  return __builtin_amdgcn_exp2f(x);
#else
  return __builtin_exp2f(x);
#endif
}
HEADTUNE_DEVICE float maximum(float a, float b) { return __builtin_fmaxf(a, b); }
HEADTUNE_DEVICE float log2(float x) { return __builtin_log2f(x); }
HEADTUNE_DEVICE float reciprocal(float x) { return __builtin_amdgcn_rcpf(x); }

HEADTUNE_DEVICE float from_lane(float x, int source) {
  return __builtin_bit_cast(float, __builtin_amdgcn_ds_bpermute(source * 4, __builtin_bit_cast(int, x)));
}
/// Maximum over the four lanes that share a query row.
HEADTUNE_DEVICE float row_max(float x) {
  const int lane = lane_index();
  x = __builtin_fmaxf(x, from_lane(x, lane ^ 16));
  return __builtin_fmaxf(x, from_lane(x, lane ^ 32));
}
/// The value of a lane whose number differs in the bit `step`, where all lanes that differ in lower bits hold the same:
/// within 16 lanes a modifier of the instruction that uses it, a tenth of the latency of a trip through LDS.
template <int step>
HEADTUNE_DEVICE float across(float x) {
  if constexpr (step > 8) return from_lane(x, lane_index() ^ step);
  constexpr int mirror_16 = 0x140, mirror_8 = 0x141, swap_pairs = 0x4e, swap_neighbours = 0xb1;
  constexpr int control = step == 8 ? mirror_16 : step == 4 ? mirror_8 : step == 2 ? swap_pairs : swap_neighbours;
  const int bits = __builtin_bit_cast(int, x);
  return __builtin_bit_cast(float, __builtin_amdgcn_update_dpp(bits, bits, control, 0xf, 0xf, true));
}
/// Sum over `width` neighbouring lanes (a power of two), in every one of them.
template <int width, int step = 1>
HEADTUNE_DEVICE float group_sum(float x) {
  if constexpr (step < width) return group_sum<width, step * 2>(x + across<step>(x));
  return x;
}
template <int width, int step = 1>
HEADTUNE_DEVICE float group_max(float x) {
  if constexpr (step < width) return group_max<width, step * 2>(__builtin_fmaxf(x, across<step>(x)));
  return x;
}
/// What is loaded above is asked for before anything below is done.
HEADTUNE_DEVICE void issue_first() {
#if __has_builtin(__builtin_amdgcn_sched_barrier)
  __builtin_amdgcn_sched_barrier(0);
#endif
}
/// `index`, once the words have been loaded: together, and not each where it is used, at the cost of a cache miss each
/// time. (Not a volatile statement, behind which the compiler would no longer load through the scalar cache.)
HEADTUNE_DEVICE int after_loading(int index, const void* a, const void* b, const void* c, const void* d, long long e,
                                  int f) {
#if defined(__AMDGCN__)
  asm("" : "+s"(index) : "s"(a), "s"(b), "s"(c), "s"(d), "s"(e), "s"(f));
#endif
  return index;
}
HEADTUNE_DEVICE bool any_lane(bool condition) {
#if __has_builtin(__builtin_amdgcn_ballot_w64)
  return __builtin_amdgcn_ballot_w64(condition) != 0;
#else
  constexpr int not_equal = 33;
  return __builtin_amdgcn_uicmp(static_cast<unsigned>(condition), 0u, not_equal) != 0;
#endif
}

template <class T>
HEADTUNE_DEVICE T load_global(const void* pointer) {
  return *(const __attribute__((address_space(1))) T*)(pointer);
}
/// `count` neighbouring 32-bit words at a 4-byte aligned address.
template <int count>
HEADTUNE_DEVICE void load_words(unsigned (&words)[count], const void* pointer) {
  using Words = unsigned __attribute__((ext_vector_type(count), aligned(4)));
  const Words loaded = load_global<Words>(pointer);
#pragma unroll
  for (int i = 0; i < count; ++i) words[i] = loaded[i];
}
template <class T>
HEADTUNE_DEVICE void store_global(void* pointer, T value) {
  *(__attribute__((address_space(1))) T*)(pointer) = value;
}
template <class T>
HEADTUNE_DEVICE T load_lds(const char* lds) {
  return *reinterpret_cast<const T*>(lds);
}
/// Read once: K and V rows of the prefix. Marked so that they do not displace what is read again.
template <class T>
HEADTUNE_DEVICE T load_stream(const void* pointer) {
  return load_global<T>(pointer);
}

/// Pair `lo`/`hi` halves of two words: element `odd` of each.
template <bool odd>
HEADTUNE_DEVICE unsigned interleave(unsigned first, unsigned second) {
  return __builtin_amdgcn_perm(second, first, odd ? 0x07060302u : 0x05040100u);
}

/// Bytes 0 and 1 (`upper`: 2 and 3) of both words: of the first, of the second, of the first, of the second.
template <bool upper>
HEADTUNE_DEVICE unsigned interleave_bytes(unsigned first, unsigned second) {
  return __builtin_amdgcn_perm(second, first, upper ? 0x07030602u : 0x05010400u);
}
/// Bytes 2 * half and 2 * half + 1 to the upper bytes of two halves.
template <int half>
HEADTUNE_DEVICE unsigned spread_bytes(unsigned word) {
  return __builtin_amdgcn_perm(0u, word, half ? 0x030c020cu : 0x010c000cu);
}

/// Two products per instruction.
HEADTUNE_DEVICE F32x4 scaled(F32x4 x, float factor) { return x * factor; }

HEADTUNE_DEVICE unsigned bits(float x) { return __builtin_bit_cast(unsigned, x); }

/// Two numbers rounded to nearest, for outputs.
HEADTUNE_DEVICE unsigned round_bf16(float x) {
  const unsigned u = bits(x);
  return (x != x ? 0x7fc00000u : u + 0x7fffu + ((u >> 16) & 1)) >> 16;
}
template <class T>
HEADTUNE_DEVICE unsigned pack_output(float lo, float hi);
template <>
HEADTUNE_DEVICE unsigned pack_output<Bf16>(float lo, float hi) {
  return round_bf16(lo) | round_bf16(hi) << 16;
}
template <>
HEADTUNE_DEVICE unsigned pack_output<Fp16>(float lo, float hi) {
  return __builtin_bit_cast(unsigned, F16x2{static_cast<_Float16>(lo), static_cast<_Float16>(hi)});
}

template <class T>
HEADTUNE_DEVICE float low(unsigned pair);
template <class T>
HEADTUNE_DEVICE float high(unsigned pair);
template <>
HEADTUNE_DEVICE float low<Bf16>(unsigned pair) {
  return __builtin_bit_cast(float, pair << 16);
}
template <>
HEADTUNE_DEVICE float high<Bf16>(unsigned pair) {
  return __builtin_bit_cast(float, pair & 0xffff0000u);
}
template <>
HEADTUNE_DEVICE float low<Fp16>(unsigned pair) {
  return static_cast<float>(__builtin_bit_cast(F16x2, pair).x);
}
template <>
HEADTUNE_DEVICE float high<Fp16>(unsigned pair) {
  return static_cast<float>(__builtin_bit_cast(F16x2, pair).y);
}

/// x, or NaN where x * factor overflows.
template <class V, class F>
HEADTUNE_DEVICE V unless_overflow(V x, F factor) {
  return x * factor * F(0) + x;
}

/// A pair times 2^exponent, subnormal numbers too; what comes out must be normal and fit. `or_nan`: 480 and more, where
/// e4m3fn has its NaN codes, become NaN; the next smaller number is 448.
template <class T, bool or_nan = false>
HEADTUNE_DEVICE unsigned times_power(unsigned pair, int exponent) {
  if constexpr (T::bias == Fp16::bias) {
    F16x2 x = __builtin_bit_cast(F16x2, pair) * __builtin_bit_cast(_Float16, static_cast<short>((15 + exponent) << 10));
    if constexpr (or_nan) x = unless_overflow(x, static_cast<_Float16>(0x1p16f / 464));
    return __builtin_bit_cast(unsigned, x);
  } else {
    F32x2 x = F32x2{low<Bf16>(pair), high<Bf16>(pair)} * __builtin_bit_cast(float, (127 + exponent) << 23);
    if constexpr (or_nan) x = unless_overflow(x, 0x1p119f / 464 * 0x1p9f);
    return __builtin_amdgcn_perm(bits(x.y), bits(x.x), 0x07060302u);
  }
}
inline constexpr bool overflows_to_nan = true;  // times_power<T, true> exists

/// Two ones, the value operand that makes the second product sum the probabilities.
template <class T>
constexpr unsigned ones = 0x3f803f80u;
template <>
inline constexpr unsigned ones<Fp16> = 0x3c003c00u;

// Between dies, memory is coherent only across these fences (each die has its own L2).
HEADTUNE_DEVICE void release_device() { __builtin_amdgcn_fence(__ATOMIC_RELEASE, "agent"); }
HEADTUNE_DEVICE void acquire_device() { __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "agent"); }
HEADTUNE_DEVICE unsigned atomic_increment(unsigned* counter) {
  return __hip_atomic_fetch_add(counter, 1u, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
}

}  // namespace headtune::tile
