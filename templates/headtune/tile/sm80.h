// Tile vocabulary of NVIDIA sm_80 and newer: warp of 32, mma.sync m16n8k16.
//
// S = Q * K^T, then O = P * V: the accumulator layout of two score tiles (8 keys each) is the operand layout of one
// step of 16 keys in the second product. A lane holds scores of two query rows (lane / 4, and 8 below).
#pragma once

#if !defined(__CUDACC__)
#error "NVIDIA device code, for NVRTC or nvcc; headtune/tile/tile.h and lds_tile.h choose the family's file"
#endif

#include <headtune/tile/element.h>
#include <headtune/tile/macros.h>

namespace headtune::tile {

template <class T, int count>
struct alignas(sizeof(T) * count) Vector {
  T element[count];
  HEADTUNE_DEVICE T& operator[](int i) { return element[i]; }
  HEADTUNE_DEVICE const T& operator[](int i) const { return element[i]; }
};
using U32x2 = Vector<unsigned, 2>;
using U32x4 = Vector<unsigned, 4>;
using F32x4 = Vector<float, 4>;

inline constexpr int wave_size = 32;
inline constexpr int free_lanes = 8;
inline constexpr int rows_per_lane = 2;
inline constexpr int elements_per_row = 2;
inline constexpr int score_tiles = 2;

// Indices are said not to be negative: division by a power of 2 is then one shift, not four instructions.
HEADTUNE_DEVICE int thread_index() {
  const int index = static_cast<int>(threadIdx.x);
  __builtin_assume(index >= 0 && index < 1024);
  return index;
}
HEADTUNE_DEVICE int lane_index() { return thread_index() % wave_size; }
HEADTUNE_DEVICE int first_lane(int x) { return __shfl_sync(0xffffffffu, x, 0); }
HEADTUNE_DEVICE int wave_index() {
  const int index = first_lane(thread_index() / wave_size);
  __builtin_assume(index >= 0 && index < 1024 / wave_size);
  return index;
}
HEADTUNE_DEVICE int quarter(int lane) { return lane % 4; }
HEADTUNE_DEVICE int free_index(int lane) { return lane / 4; }

HEADTUNE_DEVICE float exp2(float x) {
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}
HEADTUNE_DEVICE float maximum(float a, float b) { return fmaxf(a, b); }
HEADTUNE_DEVICE float log2(float x) {
  float y;
  asm("lg2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}
HEADTUNE_DEVICE float reciprocal(float x) {
  float y;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

HEADTUNE_DEVICE float row_max(float x) {
  x = fmaxf(x, __shfl_xor_sync(0xffffffffu, x, 1));
  return fmaxf(x, __shfl_xor_sync(0xffffffffu, x, 2));
}
template <int width>
HEADTUNE_DEVICE float group_sum(float x) {
  for (int step = width / 2; step > 0; step /= 2) x += __shfl_xor_sync(0xffffffffu, x, step);
  return x;
}
template <int width>
HEADTUNE_DEVICE float group_max(float x) {
  for (int step = width / 2; step > 0; step /= 2) x = fmaxf(x, __shfl_xor_sync(0xffffffffu, x, step));
  return x;
}
HEADTUNE_DEVICE bool any_lane(bool condition) { return __any_sync(0xffffffffu, condition) != 0; }

template <class T>
HEADTUNE_DEVICE T load_global(const void* pointer) {
  return *static_cast<const T*>(pointer);
}
HEADTUNE_DEVICE void issue_first() {}
/// For kernel arguments, which lie in a constant bank here.
HEADTUNE_DEVICE int after_loading(int index, const void*, const void*, const void*, const void*, long long, int) {
  return index;
}
/// `count` neighbouring 32-bit words at a 4-byte aligned address.
template <int count>
HEADTUNE_DEVICE void load_words(unsigned (&words)[count], const void* pointer) {
#pragma unroll
  for (int i = 0; i < count; ++i) words[i] = load_global<unsigned>(static_cast<const unsigned*>(pointer) + i);
}
template <class T>
HEADTUNE_DEVICE void store_global(void* pointer, T value) {
  *static_cast<T*>(pointer) = value;
}
/// Spelled out: the compiler splits a struct of computed floats into stores of 4 bytes, parts of a sector each.
template <>
HEADTUNE_DEVICE void store_global<F32x4>(void* pointer, F32x4 x) {
  asm volatile("st.global.v4.f32 [%0], {%1, %2, %3, %4};" ::"l"(pointer), "f"(x[0]), "f"(x[1]), "f"(x[2]), "f"(x[3])
               : "memory");
}
/// Read once, through the read-only path.
template <class T>
HEADTUNE_DEVICE T load_stream(const void* pointer);
template <>
HEADTUNE_DEVICE U32x4 load_stream<U32x4>(const void* pointer) {
  U32x4 x;
  asm("ld.global.nc.v4.b32 {%0, %1, %2, %3}, [%4];" : "=r"(x[0]), "=r"(x[1]), "=r"(x[2]), "=r"(x[3]) : "l"(pointer));
  return x;
}
template <>
HEADTUNE_DEVICE U32x2 load_stream<U32x2>(const void* pointer) {
  U32x2 x;
  asm("ld.global.nc.v2.b32 {%0, %1}, [%2];" : "=r"(x[0]), "=r"(x[1]) : "l"(pointer));
  return x;
}
template <>
HEADTUNE_DEVICE unsigned load_stream<unsigned>(const void* pointer) {
  unsigned x;
  asm("ld.global.nc.b32 %0, [%1];" : "=r"(x) : "l"(pointer));
  return x;
}

template <bool odd>
HEADTUNE_DEVICE unsigned interleave(unsigned first, unsigned second) {
  return __byte_perm(first, second, odd ? 0x7632 : 0x5410);
}

/// Bytes 0 and 1 (`upper`: 2 and 3) of both words: of the first, of the second, of the first, of the second.
template <bool upper>
HEADTUNE_DEVICE unsigned interleave_bytes(unsigned first, unsigned second) {
  return __byte_perm(first, second, upper ? 0x7362 : 0x5140);
}
/// Bytes 2 * half and 2 * half + 1 to the upper bytes of two halves.
template <int half>
HEADTUNE_DEVICE unsigned spread_bytes(unsigned word) {
  return __byte_perm(word, 0, half ? 0x3424 : 0x1404);
}

HEADTUNE_DEVICE F32x4 scaled(const F32x4& x, float factor) {
  return {x[0] * factor, x[1] * factor, x[2] * factor, x[3] * factor};
}

template <class T>
HEADTUNE_DEVICE unsigned pack_output(float lo, float hi);
template <>
HEADTUNE_DEVICE unsigned pack_output<Bf16>(float lo, float hi) {
  unsigned pair;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(hi), "f"(lo));
  return pair;
}
template <>
HEADTUNE_DEVICE unsigned pack_output<Fp16>(float lo, float hi) {
  unsigned pair;
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(hi), "f"(lo));
  return pair;
}
/// Converted with rounding to nearest: no bias to take out.
template <class T>
constexpr float pack_bias = 0.0f;
template <class T>
HEADTUNE_DEVICE unsigned pack_probabilities(float lo, float hi) {
  return pack_output<T>(lo, hi);
}

template <class T>
HEADTUNE_DEVICE float low(unsigned pair);
template <class T>
HEADTUNE_DEVICE float high(unsigned pair);
template <>
HEADTUNE_DEVICE float low<Bf16>(unsigned pair) {
  return __uint_as_float(pair << 16);
}
template <>
HEADTUNE_DEVICE float high<Bf16>(unsigned pair) {
  return __uint_as_float(pair & 0xffff0000u);
}
template <>
HEADTUNE_DEVICE float low<Fp16>(unsigned pair) {
  float x;
  asm("{.reg .b16 l, h; mov.b32 {l, h}, %1; cvt.f32.f16 %0, l;}" : "=f"(x) : "r"(pair));
  return x;
}
template <>
HEADTUNE_DEVICE float high<Fp16>(unsigned pair) {
  return low<Fp16>(pair >> 16);
}

template <class T>
constexpr unsigned ones = 0x3f803f80u;
template <>
inline constexpr unsigned ones<Fp16> = 0x3c003c00u;

/// A pair times 2^exponent, subnormal numbers too; what comes out must be normal and fit.
template <class T>
HEADTUNE_DEVICE unsigned times_power(unsigned pair, int exponent);
template <>
HEADTUNE_DEVICE unsigned times_power<Bf16>(unsigned pair, int exponent) {
  unsigned product;
  const unsigned power = (127 + exponent) * 0x00800080u, minus_zero = 0x80008000u;
  asm("fma.rn.bf16x2 %0, %1, %2, %3;" : "=r"(product) : "r"(pair), "r"(power), "r"(minus_zero));
  return product;
}
template <>
HEADTUNE_DEVICE unsigned times_power<Fp16>(unsigned pair, int exponent) {
  unsigned product;
  const unsigned power = (15 + exponent) * 0x04000400u;
  asm("mul.rn.f16x2 %0, %1, %2;" : "=r"(product) : "r"(pair), "r"(power));
  return product;
}

inline constexpr bool overflows_to_nan = false;

/// Codes that the hardware converts: OCP, from sm_89 on.
template <class Kv>
inline constexpr bool converts_fp8 = false;
template <class T, int half>
HEADTUNE_DEVICE unsigned convert_fp8(unsigned codes);
#if __CUDA_ARCH__ >= 890
template <>
inline constexpr bool converts_fp8<E4m3fn> = true;

/// Bytes 2 * half and 2 * half + 1.
template <class T, int half>
HEADTUNE_DEVICE unsigned convert_fp8(unsigned codes) {
  unsigned pair;
  const auto two = static_cast<unsigned short>(half ? codes >> 16 : codes);
  asm("cvt.rn.f16x2.e4m3x2 %0, %1;" : "=r"(pair) : "h"(two));
  return ones<T> == ones<Fp16> ? pair : pack_output<T>(low<Fp16>(pair), high<Fp16>(pair));
}
#endif

template <class T>
HEADTUNE_DEVICE void mma(F32x4& d, unsigned a0, unsigned a1, unsigned a2, unsigned a3, unsigned b0, unsigned b1);
template <>
HEADTUNE_DEVICE void mma<Bf16>(F32x4& d, unsigned a0, unsigned a1, unsigned a2, unsigned a3, unsigned b0, unsigned b1) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
      "{%0, %1, %2, %3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
}
template <>
HEADTUNE_DEVICE void mma<Fp16>(F32x4& d, unsigned a0, unsigned a1, unsigned a2, unsigned a3, unsigned b0, unsigned b1) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
      "{%0, %1, %2, %3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
}

/// Adds the products of 32 dims (16 bytes of each lane) to the scores of 8 keys and 16 rows.
template <class T>
HEADTUNE_DEVICE void mma_scores(F32x4& scores, const U32x4& keys, const U32x4 (&queries)[rows_per_lane]) {
  mma<T>(scores, queries[0][0], queries[1][0], queries[0][1], queries[1][1], keys[0], keys[1]);
  mma<T>(scores, queries[0][2], queries[1][2], queries[0][3], queries[1][3], keys[2], keys[3]);
}

/// Adds probabilities times values of one key step to 8 columns of 16 rows.
template <class T>
HEADTUNE_DEVICE void mma_values(F32x4& output, const unsigned (&values)[2], const unsigned (&probabilities)[4]) {
  mma<T>(output, probabilities[0], probabilities[1], probabilities[2], probabilities[3], values[0], values[1]);
}

HEADTUNE_DEVICE void release_device() { __threadfence(); }
HEADTUNE_DEVICE void acquire_device() { __threadfence(); }
HEADTUNE_DEVICE unsigned atomic_increment(unsigned* counter) { return atomicAdd(counter, 1u); }

}  // namespace headtune::tile
