// Compiles verify_shared_kv with the configuration that the shipped table has for one architecture, launches it, and
// compares with a loop over all keys on the CPU. The same source under hipcc and nvcc.
#include <headtune/tables/plan.h>
#include <headtune/variant.h>
#include <headtune/verify_shared_kv/stage1.h>
#include <headtune/verify_shared_kv/stage2.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <random>

#include "gpu.h"

using namespace headtune;

namespace {

constexpr int batch = 2, context = 1000;

/// The draft model's attention, and what the table knows of it.
struct Choice {
  static constexpr Problem problem{64, 64, 8, 2, 7, /*is_causal=*/false};
  static constexpr Arch arch = *find_arch(USE_TABLE_ARCH);
  static constexpr Config config = tables::lookup(problem, {arch.name, arch.cu_count, arch.wave_size}, 8192).config;
};
using Variant = VariantOf<Choice>;
constexpr Problem problem = Choice::problem;

}  // namespace

extern "C" __global__ void HEADTUNE_LAUNCH_BOUNDS(Variant::NUM_WARPS, Variant::WAVES_PER_EU)
    verify_stage1(const VerifyParams params) {
  stage1<Variant>(params);
}
extern "C" __global__ void HEADTUNE_LAUNCH_BOUNDS(Variant::STAGE2_WARPS, stage2_waves_per_eu<Variant>)
    verify_stage2(const VerifyParams params) {
  stage2<Variant>(params);
}

namespace {

using Bf16 = unsigned short;

Bf16 encode(float x) {
  unsigned bits;
  std::memcpy(&bits, &x, 4);
  return static_cast<Bf16>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}
double decode(Bf16 x) {
  const unsigned bits = static_cast<unsigned>(x) << 16;
  float value;
  std::memcpy(&value, &bits, 4);
  return value;
}

constexpr int tokens = batch * problem.extend_len, slots = batch * context;
constexpr int q_row = problem.num_q_heads * problem.head_dim, kv_row = problem.num_kv_heads * problem.head_dim;

struct Inputs {
  std::vector<Bf16> q, k_extend, v_extend, k_cache, v_cache;
  std::vector<int> qo_indptr, kv_indptr, kv_indices;
};

Inputs make_inputs() {
  std::mt19937 random(1);
  std::normal_distribution<float> normal;
  const auto tensor = [&](int elements) {
    std::vector<Bf16> values(static_cast<std::size_t>(elements));
    for (Bf16& value : values) value = encode(normal(random));
    return values;
  };
  Inputs in{tensor(tokens * q_row),
            tensor(tokens * kv_row),
            tensor(tokens * kv_row),
            tensor(slots * kv_row),
            tensor(slots * kv_row),
            {},
            {},
            std::vector<int>(slots)};
  for (int b = 0; b <= batch; ++b) in.qo_indptr.push_back(b * problem.extend_len), in.kv_indptr.push_back(b * context);
  std::iota(in.kv_indices.begin(), in.kv_indices.end(), 0);
  std::shuffle(in.kv_indices.begin(), in.kv_indices.end(), random);
  return in;
}

/// Attention of one new token and head over its prefix and all new tokens of its request.
std::vector<double> reference(const Inputs& in, int token, int head) {
  const int request = token / problem.extend_len, kv = head / problem.kv_group_num() * problem.head_dim;
  std::vector<double> out(problem.v_head_dim);
  double sum = 0;
  const auto add = [&](const Bf16* k, const Bf16* v) {
    double score = 0;
    for (int i = 0; i < problem.head_dim; ++i)
      score += decode(in.q[token * q_row + head * problem.head_dim + i]) * decode(k[kv + i]);
    const double weight = std::exp(score / std::sqrt(problem.head_dim));
    sum += weight;
    for (int i = 0; i < problem.v_head_dim; ++i) out[i] += weight * decode(v[kv + i]);
  };
  for (int key = request * context; key < (request + 1) * context; ++key)
    add(&in.k_cache[in.kv_indices[key] * kv_row], &in.v_cache[in.kv_indices[key] * kv_row]);
  for (int other = request * problem.extend_len; other < (request + 1) * problem.extend_len; ++other)
    add(&in.k_extend[other * kv_row], &in.v_extend[other * kv_row]);
  for (double& x : out) x /= sum;
  return out;
}

double largest_error(const Inputs& in, const std::vector<Bf16>& out) {
  double worst = 0;
  for (int token = 0; token < tokens; ++token)
    for (int head = 0; head < problem.num_q_heads; ++head) {
      const std::vector<double> expected = reference(in, token, head);
      for (int i = 0; i < problem.v_head_dim; ++i)
        worst = std::fmax(worst, std::fabs(expected[i] - decode(out[token * q_row + head * problem.v_head_dim + i])));
    }
  return worst;
}

template <class Kernel>
void launch(Kernel kernel, const Launch& at, const VerifyParams& params) {
  const auto* entry = reinterpret_cast<const void*>(kernel);
  CHECK(GPU(FuncSetAttribute)(entry, GPU(FuncAttributeMaxDynamicSharedMemorySize), at.dynamic_lds_bytes));
  kernel<<<dim3(at.grid_x, at.grid_y, at.grid_z), at.block_x, at.dynamic_lds_bytes>>>(params);
  CHECK(GPU(GetLastError)());
}

/// Geometry from static shapes and the device's own CU count; nothing is read back before the result.
std::vector<Bf16> run(const Inputs& in, int cus) {
  constexpr Config config = Choice::config;
  DeviceLimits limits = limits_of(Choice::arch);
  limits.cu_count = cus;
  const int splits = num_splits(problem, config, limits, batch, context);
  const Workspace sizes = workspace(problem, config, batch, splits);
  const DeviceArray<Bf16> q(in.q), k_extend(in.k_extend), v_extend(in.v_extend), k_cache(in.k_cache),
      v_cache(in.v_cache), out(in.q.size());
  const DeviceArray<int> qo_indptr(in.qo_indptr), kv_indptr(in.kv_indptr), kv_indices(in.kv_indices);
  const DeviceArray<char> partial_out(sizes.partial_out_bytes), partial_lse(sizes.partial_lse_bytes),
      split_done(sizes.split_done_bytes);
  VerifyParams p{};
  p.q = q.data(), p.out = out.data();
  p.k_extend = k_extend.data(), p.v_extend = v_extend.data(), p.k_cache = k_cache.data(), p.v_cache = v_cache.data();
  p.qo_indptr = qo_indptr.data(), p.kv_indptr = kv_indptr.data(), p.kv_indices = kv_indices.data();
  p.partial_out = reinterpret_cast<float*>(partial_out.data());
  p.partial_lse = reinterpret_cast<float*>(partial_lse.data());
  p.split_done = reinterpret_cast<unsigned*>(split_done.data());
  p.q_stride_token = p.out_stride_token = q_row, p.q_stride_head = p.out_stride_head = problem.head_dim;
  p.k_extend_stride_token = p.v_extend_stride_token = p.k_cache_stride_slot = p.v_cache_stride_slot = kv_row;
  p.k_extend_stride_head = p.v_extend_stride_head = p.k_cache_stride_head = p.v_cache_stride_head = problem.head_dim;
  p.batch = batch, p.num_splits = splits, p.min_keys_per_split = config.min_keys_per_split;
  p.sm_scale = 1 / std::sqrt(static_cast<float>(problem.head_dim)), p.k_scale = p.v_scale = 1;
  launch(verify_stage1, stage1_launch(problem, config, limits, batch, splits), p);
  if (!config.fuse_combine) launch(verify_stage2, stage2_launch(problem, config, limits, batch, splits), p);
  return out.host();
}

}  // namespace

int main() {
  const Inputs in = make_inputs();
  const double error = largest_error(in, run(in, cu_count()));
  std::printf("%s, (%d, %d, %d): largest error %.4f\n", Choice::arch.name, Variant::BLOCK_H, Variant::BLOCK_N,
              Variant::NUM_WARPS, error);
  return error < 0.01 ? 0 : 1;
}
