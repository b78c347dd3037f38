// Checks and times the LDS path of verify_shared_kv for MLA on an NVIDIA GPU, without the tuner:
//   nvcc -std=c++17 -O3 -gencode=arch=compute_90a,code=sm_90a -Itemplates benchmarks/stage1_lds.cu -o stage1_lds
// Check: float64 reference on the GPU, ragged prefixes, NaN in every slot that no request names. Timing: scattered
// kv_indices, key pools rotated past the L2, many launches in one captured graph, median of several replays.
#include <cuda_bf16.h>
#include <headtune/verify_shared_kv/launch.h>
#include <headtune/verify_shared_kv/stage1_lds.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>
#if __has_include(<headtune/verify_shared_kv/stage2.h>)
#include <headtune/verify_shared_kv/stage2.h>
#define WITH_STAGE2 1
#endif

#define CHECK(call)                                                                    \
  do {                                                                                 \
    const cudaError_t e = (call);                                                      \
    if (e != cudaSuccess) {                                                            \
      std::printf("%s:%d %s: %s\n", __FILE__, __LINE__, #call, cudaGetErrorString(e)); \
      std::exit(1);                                                                    \
    }                                                                                  \
  } while (0)

namespace {

using headtune::VerifyParams;
constexpr int D = 576, DV = 512;

template <int HEADS, int L, int H, int N, int WARPS, int STAGES>
struct Mla {
  static constexpr int HEAD_DIM = D, V_HEAD_DIM = DV, NUM_Q_HEADS = HEADS, KV_GROUP_NUM = HEADS, HAS_KV_HEADS = 0;
  static constexpr int IS_CAUSAL = 1, EXTEND_LEN = L, DTYPE = 0, KV_DTYPE = 0, INDEX_BITS = 32;
  static constexpr int BLOCK_H = H, BLOCK_N = N, NUM_WARPS = WARPS, ROW_WARPS = 1, LOAD_PATH = 1, NUM_STAGES = STAGES;
  static constexpr int WAVES_PER_EU = 1, WORKGROUPS_PER_CU = 1, MIN_KEYS_PER_SPLIT = 128, MAX_SPLITS = 128;
  static constexpr int STAGE2_WARPS = 4, STAGE2_ROWS = 1, FUSE_COMBINE = 0;
};

template <class V>
__global__ void HEADTUNE_LAUNCH_BOUNDS(V::NUM_WARPS, 1) stage1_kernel(const VerifyParams p) {
  headtune::stage1_lds<V>(p);
}

#ifdef WITH_STAGE2
template <class V>
__global__ void stage2_kernel(const VerifyParams p) {
  headtune::stage2<V>(p);
}
#endif

struct Kernel {
  std::string name;
  headtune::Problem problem;
  headtune::Config config;
  void (*stage1)(VerifyParams);
  void (*stage2)(VerifyParams);
};

template <class V>
Kernel kernel(const char* name) {
  Kernel k;
  k.name = name;
  k.problem.head_dim = D, k.problem.v_head_dim = DV, k.problem.num_q_heads = V::NUM_Q_HEADS;
  k.problem.num_kv_heads = 1, k.problem.extend_len = V::EXTEND_LEN;
  k.config.block_h = V::BLOCK_H, k.config.block_n = V::BLOCK_N, k.config.num_warps = V::NUM_WARPS;
  k.config.load_path = 1, k.config.num_stages = V::NUM_STAGES, k.config.waves_per_eu = V::WAVES_PER_EU;
  k.config.workgroups_per_cu = V::WORKGROUPS_PER_CU, k.config.min_keys_per_split = V::MIN_KEYS_PER_SPLIT;
  k.config.max_splits = V::MAX_SPLITS, k.config.stage2_warps = V::STAGE2_WARPS;
  k.stage1 = stage1_kernel<V>;
  k.stage2 = nullptr;
#ifdef WITH_STAGE2
  k.stage2 = stage2_kernel<V>;
#endif
  CHECK(cudaFuncSetAttribute(stage1_kernel<V>, cudaFuncAttributeMaxDynamicSharedMemorySize, 227 * 1024));
  return k;
}

__device__ float random_value(unsigned long long i) {  // hash to [-1, 1), shaped a little
  i = (i + 0x9e3779b97f4a7c15ull) * 0xbf58476d1ce4e5b9ull;
  i = (i ^ (i >> 27)) * 0x94d049bb133111ebull;
  i ^= i >> 31;
  return static_cast<int>(i & 0xffffff) / 8388608.f - 1.f;
}

__global__ void fill(__nv_bfloat16* x, long long n, unsigned long long seed, float scale) {
  for (long long i = blockIdx.x * 1ll * blockDim.x + threadIdx.x; i < n; i += 1ll * gridDim.x * blockDim.x)
    x[i] = __float2bfloat16(random_value(i + seed) * scale);
}

__global__ void fill_nan(unsigned short* x, long long n) {
  for (long long i = blockIdx.x * 1ll * blockDim.x + threadIdx.x; i < n; i += 1ll * gridDim.x * blockDim.x)
    x[i] = 0x7fff;
}

__global__ void fill_rows(__nv_bfloat16* pool, const int* slots, unsigned long long seed) {
  for (int d = threadIdx.x; d < D; d += blockDim.x)
    pool[slots[blockIdx.x] * 1ll * D + d] = __float2bfloat16(random_value(blockIdx.x * 1ull * D + d + seed) * 2);
}

/// grid (heads * L, batch), 256 threads: float64 attention over the prefix. scratch: [batch][rows][longest].
__global__ void reference(VerifyParams p, int heads, int L, double* scratch, long long longest, double* out,
                          double* lse) {
  const int row = blockIdx.x, b = blockIdx.y, head = row / L, token = row % L, rows = heads * L;
  const int begin = p.kv_indptr[b], n = p.kv_indptr[b + 1] - begin;
  const auto* q =
      static_cast<const __nv_bfloat16*>(p.q) + (p.qo_indptr[b] + token) * p.q_stride_token + head * p.q_stride_head;
  const auto* pool = static_cast<const __nv_bfloat16*>(p.k_cache);
  const int* indices = static_cast<const int*>(p.kv_indices);
  double* s = scratch + (b * 1ll * rows + row) * longest;
  __shared__ double red[256];
  double highest = -INFINITY;
  for (int t = threadIdx.x; t < n; t += 256) {
    const auto* k = pool + indices[begin + t] * 1ll * D;
    double dot = 0;
    for (int d = 0; d < D; ++d) dot += double(__bfloat162float(q[d])) * double(__bfloat162float(k[d]));
    s[t] = dot * p.sm_scale * p.k_scale;
    highest = fmax(highest, s[t]);
  }
  red[threadIdx.x] = highest;
  __syncthreads();
  for (int i = 0; i < 256; ++i) highest = fmax(highest, red[i]);
  double sum = 0;
  for (int t = threadIdx.x; t < n; t += 256) sum += exp(s[t] - highest);
  __syncthreads();
  red[threadIdx.x] = sum;
  __syncthreads();
  sum = 0;
  for (int i = 0; i < 256; ++i) sum += red[i];
  for (int d = threadIdx.x; d < DV; d += 256) {
    double o = 0;
    for (int t = 0; t < n; ++t)
      o += exp(s[t] - highest) * double(__bfloat162float(pool[indices[begin + t] * 1ll * D + d]));
    out[(b * 1ll * rows + row) * DV + d] = n ? o / sum * p.v_scale : 0;
  }
  if (threadIdx.x == 0) lse[b * 1ll * rows + row] = n ? highest + log(sum) : -INFINITY;
}

struct Device {
  VerifyParams p{};
  std::vector<void*> owned;
  template <class T>
  T* make(long long n) {
    void* m;
    CHECK(cudaMalloc(&m, n * sizeof(T) + 256));
    owned.push_back(m);
    return static_cast<T*>(m);
  }
  template <class T>
  T* upload(const std::vector<T>& v) {
    T* m = make<T>(v.size());
    CHECK(cudaMemcpy(m, v.data(), v.size() * sizeof(T), cudaMemcpyHostToDevice));
    return m;
  }
  ~Device() {
    for (void* m : owned) cudaFree(m);
  }
};

const headtune::DeviceLimits h200{headtune::Family::nvidia, 132, 227 * 1024, 32};

void strides(VerifyParams& p, int heads) {
  p.q_stride_token = heads * D, p.q_stride_head = D;
  p.k_extend_stride_token = p.k_extend_stride_head = p.v_extend_stride_token = p.v_extend_stride_head = D;
  p.k_cache_stride_slot = p.k_cache_stride_head = p.v_cache_stride_slot = p.v_cache_stride_head = D;
  p.out_stride_token = heads * DV, p.out_stride_head = DV;
  p.sm_scale = 1 / std::sqrt(float(D)), p.k_scale = 1.25f, p.v_scale = 0.75f;
}

/// Relative L2 error of the merged partials; lengths may hold zeros.
bool check(const Kernel& k, const std::vector<int>& lengths, int splits, float query_scale) {
  const int batch = lengths.size(), heads = k.problem.num_q_heads, L = k.problem.extend_len, rows = heads * L;
  Device device;
  VerifyParams& p = device.p;
  strides(p, heads);
  std::vector<int> kv{0}, qo{0}, slots;
  for (int n : lengths) kv.push_back(kv.back() + n), qo.push_back(qo.back() + L);
  const int total = kv.back(), pool_slots = 2 * total + 77;
  for (int i = 0; i < total; ++i) slots.push_back(1 + (i * 7919ll) % total * 2);
  auto* q = device.make<__nv_bfloat16>(1ll * qo.back() * heads * D);
  fill<<<256, 256>>>(q, 1ll * qo.back() * heads * D, 17, query_scale);
  auto* pool = device.make<__nv_bfloat16>(1ll * pool_slots * D);
  fill_nan<<<256, 256>>>(reinterpret_cast<unsigned short*>(pool), 1ll * pool_slots * D);
  int* index = device.upload(slots);
  if (total) fill_rows<<<total, 128>>>(pool, index, 99);
  p.q = q, p.k_cache = p.v_cache = pool, p.kv_indices = index;
  p.qo_indptr = device.upload(qo), p.kv_indptr = device.upload(kv);
  p.batch = batch, p.num_splits = splits, p.min_keys_per_split = k.config.min_keys_per_split;
  const long long out_rows = 1ll * batch * splits * rows;
  p.partial_out = device.make<float>(out_rows * DV), p.partial_lse = device.make<float>(out_rows);
  CHECK(cudaMemset(p.partial_out, 0xff, out_rows * DV * 4));
  CHECK(cudaMemset(p.partial_lse, 0xff, out_rows * 4));
  const int longest = std::max(1, *std::max_element(lengths.begin(), lengths.end()));
  double* scratch = device.make<double>(1ll * batch * rows * longest);
  double* want_out = device.make<double>(1ll * batch * rows * DV);
  double* want_lse = device.make<double>(1ll * batch * rows);
  reference<<<dim3(rows, batch), 256>>>(p, heads, L, scratch, longest, want_out, want_lse);
  CHECK(cudaGetLastError());
  const headtune::Launch launch = headtune::stage1_launch(k.problem, k.config, h200, batch, splits);
  k.stage1<<<dim3(launch.grid_x, launch.grid_y, launch.grid_z), launch.block_x, launch.dynamic_lds_bytes>>>(p);
  CHECK(cudaGetLastError());
  CHECK(cudaDeviceSynchronize());
  std::vector<float> po(out_rows * DV), pl(out_rows);
  std::vector<double> wo(1ll * batch * rows * DV), wl(1ll * batch * rows);
  CHECK(cudaMemcpy(po.data(), p.partial_out, po.size() * 4, cudaMemcpyDeviceToHost));
  CHECK(cudaMemcpy(pl.data(), p.partial_lse, pl.size() * 4, cudaMemcpyDeviceToHost));
  CHECK(cudaMemcpy(wo.data(), want_out, wo.size() * 8, cudaMemcpyDeviceToHost));
  CHECK(cudaMemcpy(wl.data(), want_lse, wl.size() * 8, cudaMemcpyDeviceToHost));
  double error = 0, norm = 0, lse_error = 0, worst = 0;
  for (int b = 0; b < batch; ++b) {
    const auto cut = headtune::cut_prefix(lengths[b], splits, p.min_keys_per_split, k.config.block_n);
    for (int r = 0; r < rows; ++r) {
      double highest = -INFINITY, sum = 0;
      std::vector<double> o(DV, 0.0);
      for (int s = 0; s < cut.used; ++s) highest = std::max(highest, double(pl[(b * splits + s) * rows + r]));
      for (int s = 0; s < cut.used; ++s) {
        const long long at = (b * 1ll * splits + s) * rows + r;
        const double w = std::exp(pl[at] - highest);
        sum += w;
        for (int d = 0; d < DV; ++d) o[d] += w * po[at * DV + d];
      }
      const long long at = b * 1ll * rows + r;
      if (cut.used)
        lse_error = std::fmax(lse_error, std::isfinite(highest) ? std::fabs(highest + std::log(sum) - wl[at]) : 1e9);
      for (int d = 0; d < DV; ++d) {
        const double got = cut.used ? o[d] / sum : 0, want = wo[at * DV + d];
        const double e = std::isfinite(got) ? got - want : 1e9;
        error += e * e, norm += want * want, worst = std::fmax(worst, std::fabs(e));
      }
    }
  }
  const double relative = norm > 0 ? std::sqrt(error / norm) : error;
  const bool good = relative < 5e-3 && lse_error < 2e-3;
  std::printf("check %-24s batch %d splits %d q %g: rel %.2e worst %.2e lse %.1e %s\n", k.name.c_str(), batch, splits,
              query_scale, relative, worst, lse_error, good ? "ok" : "WRONG");
  return good;
}

void time_cell(const std::vector<Kernel>& kernels, int batch, int context) {
  Device device;
  VerifyParams& p = device.p;
  const int heads = kernels[0].problem.num_q_heads, L = kernels[0].problem.extend_len;
  const long long keys = 1ll * batch * context;
  const int rotations = std::max(1ll, 160000000 / (keys * D * 2) + 1);
  long long pool_slots = 1;
  while (pool_slots < keys * rotations) pool_slots *= 2;
  strides(p, heads);
  auto* q = device.make<__nv_bfloat16>(1ll * batch * L * heads * D);
  fill<<<1024, 256>>>(q, 1ll * batch * L * heads * D, 17, 1);
  auto* pool = device.make<__nv_bfloat16>(pool_slots * D);
  fill<<<4096, 256>>>(pool, pool_slots * D, 99, 1);
  std::vector<int> kv, qo, slots(keys * rotations);
  for (int b = 0; b <= batch; ++b) kv.push_back(b * context), qo.push_back(b * L);
  for (long long i = 0; i < keys * rotations; ++i) slots[i] = (i * 2654435761ull) & (pool_slots - 1);
  const int* index = device.upload(slots);
  p.q = q, p.k_cache = p.v_cache = pool, p.qo_indptr = device.upload(qo), p.kv_indptr = device.upload(kv);
  auto* extend = device.make<__nv_bfloat16>(1ll * batch * L * D);
  fill<<<64, 256>>>(extend, 1ll * batch * L * D, 5, 1);
  p.k_extend = p.v_extend = extend, p.out = device.make<__nv_bfloat16>(1ll * batch * L * heads * DV);
  p.batch = batch;
  cudaStream_t stream;
  CHECK(cudaStreamCreate(&stream));
  for (const Kernel& k : kernels) {
    p.num_splits = headtune::num_splits(k.problem, k.config, h200, batch, context);
    if (const char* splits = std::getenv("SPLITS")) p.num_splits = std::atoi(splits);
    p.min_keys_per_split = k.config.min_keys_per_split;
    const auto space = headtune::workspace(k.problem, k.config, batch, p.num_splits);
    CHECK(cudaMalloc(&p.partial_out, space.partial_out_bytes));
    CHECK(cudaMalloc(&p.partial_lse, space.partial_lse_bytes));
    const auto one = headtune::stage1_launch(k.problem, k.config, h200, batch, p.num_splits);
    const auto two = headtune::stage2_launch(k.problem, k.config, h200, batch, p.num_splits);
    float micros[2] = {0, 0};
    for (int both = 0; both < (k.stage2 ? 2 : 1); ++both) {
      const int launches = std::max<int>(rotations, keys > 200000 ? 4 : 20);
      cudaGraph_t graph;
      cudaGraphExec_t exec;
      CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
      for (int i = 0; i < launches; ++i) {
        p.kv_indices = index + i % rotations * keys;
        k.stage1<<<dim3(one.grid_x, one.grid_y, one.grid_z), one.block_x, one.dynamic_lds_bytes, stream>>>(p);
        if (both) k.stage2<<<dim3(two.grid_x, two.grid_y, two.grid_z), two.block_x, two.dynamic_lds_bytes, stream>>>(p);
      }
      CHECK(cudaStreamEndCapture(stream, &graph));
      CHECK(cudaGraphInstantiate(&exec, graph, 0));
      cudaEvent_t begin, end;
      CHECK(cudaEventCreate(&begin));
      CHECK(cudaEventCreate(&end));
      std::vector<float> samples;
      for (int i = 0; i < 9; ++i) {
        CHECK(cudaEventRecord(begin, stream));
        CHECK(cudaGraphLaunch(exec, stream));
        CHECK(cudaEventRecord(end, stream));
        CHECK(cudaEventSynchronize(end));
        float ms;
        CHECK(cudaEventElapsedTime(&ms, begin, end));
        if (i > 1) samples.push_back(ms * 1000 / launches);
      }
      std::sort(samples.begin(), samples.end());
      micros[both] = samples[samples.size() / 2];
      cudaGraphExecDestroy(exec);
      cudaGraphDestroy(graph);
    }
    const double flop = 2.0 * keys * heads * L * (D + DV);
    std::printf("time %-24s %2d x %5d splits %3d: stage1 %8.1f us both %8.1f us  %6.1f TFLOP/s floor %.1f us\n",
                k.name.c_str(), batch, context, p.num_splits, micros[0], micros[1], flop / micros[0] / 1e6,
                keys * D * 2 / 4.242e6);
    cudaFree(p.partial_out);
    cudaFree(p.partial_lse);
  }
  cudaStreamDestroy(stream);
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<Kernel> k3{
      kernel<Mla<12, 8, 6, 64, 8, 2>>("12x8 h6 n64 w8 s2"),
      kernel<Mla<12, 8, 4, 64, 8, 2>>("12x8 h4 n64 w8 s2"),
      kernel<Mla<12, 8, 3, 64, 8, 2>>("12x8 h3 n64 w8 s2"),
      kernel<Mla<12, 8, 2, 64, 8, 2>>("12x8 h2 n64 w8 s2"),
  };
  const std::vector<Kernel> others{
      kernel<Mla<12, 8, 4, 32, 8, 3>>("12x8 h4 n32 w8 s3 sync"),
      kernel<Mla<12, 8, 4, 64, 4, 2>>("12x8 h4 n64 w4 s2 sync"),
      kernel<Mla<16, 1, 16, 64, 8, 2>>("16x1 h16 n64"),
      kernel<Mla<16, 7, 8, 64, 8, 2>>("16x7 h8 n64"),
      kernel<Mla<6, 3, 16, 64, 8, 2>>("6x3 h16 n64"),
  };
  bool good = true;
  for (const auto* list : {&k3, &others})
    for (const Kernel& k : *list) {
      good &= check(k, {1, 0, 63, 64, 65, 4097, 300}, 8, 1);
      good &= check(k, {1000, 129}, 1, 30);
    }
  if (argc > 1 && std::string(argv[1]) == "check") return good ? 0 : 1;
  if (argc > 1 && std::string(argv[1]) == "one") {  // the first kernel on two large cells
    time_cell({k3[0]}, 8, 32768);
    time_cell({k3[0]}, 32, 32768);
    return 0;
  }
  for (int batch : {1, 8, 32})
    for (int context : {8192, 16384, 32768}) time_cell(k3, batch, context);
  return good ? 0 : 1;
}
