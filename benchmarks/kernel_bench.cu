// Checks and times rendered variants on an NVIDIA GPU without the tuner: kernels are cubins built beforehand, one
// manifest line each ("CUBIN KEY=VALUE ..."). Used while kernels are written; the tuner's own numbers come from
// `headtune sweep`.
//
// Usage: kernel_bench MANIFEST [check] [bench] [all] [variants] [stage1] [ordered]
// Output: one line per (variant, cell, split policy): microseconds (median, cold), GB/s of K and V.
#include <cuda.h>
#include <cuda_runtime.h>
#include <headtune/verify_shared_kv/launch.h>
#include <headtune/verify_shared_kv/params.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <numeric>
#include <random>
#include <sstream>
#include <string>
#include <vector>

using namespace headtune;

static void check(CUresult r, const char* what) {
  const char* name = "";
  if (r == CUDA_SUCCESS) return;
  cuGetErrorString(r, &name);
  std::printf("FAILED %s: %s\n", what, name);
  std::fflush(stdout);
  std::exit(1);
}
static void check(cudaError_t r, const char* what) {
  if (r == cudaSuccess) return;
  std::printf("FAILED %s: %s\n", what, cudaGetErrorString(r));
  std::fflush(stdout);
  std::exit(1);
}
#define CHECK(x) check((x), #x)

__host__ __device__ inline std::uint32_t hash(std::uint32_t x) {
  x ^= x >> 16, x *= 0x7feb352du, x ^= x >> 15, x *= 0x846ca68bu;
  return x ^ (x >> 16);
}
/// Roughly normal, standard deviation 1, as bf16 bits.
__host__ __device__ inline std::uint16_t random_bf16(std::uint32_t i, std::uint32_t seed) {
  const std::uint32_t a = hash(i * 2 + seed * 0x9e3779b9u), b = hash(i * 2 + 1 + seed * 0x9e3779b9u);
  const float sum = (a & 0xffff) + (a >> 16) + (b & 0xffff) + (b >> 16);
  const float x = (sum / 65536.0f - 2.0f) * 1.7320508f;
  std::uint32_t u;
  memcpy(&u, &x, 4);
  return static_cast<std::uint16_t>((u + 0x8000u) >> 16);
}
static double value(std::uint16_t bits) {
  const std::uint32_t u = static_cast<std::uint32_t>(bits) << 16;
  float x;
  memcpy(&x, &u, 4);
  return x;
}

__global__ void fill(std::uint16_t* to, std::size_t count, std::uint32_t seed) {
  for (std::size_t i = blockIdx.x * std::size_t{blockDim.x} + threadIdx.x; i < count;
       i += std::size_t{gridDim.x} * blockDim.x)
    to[i] = random_bf16(static_cast<std::uint32_t>(i), seed);
}
__global__ void nothing() {}
__global__ void read_all(const uint4* from, std::size_t count, unsigned* sink) {
  uint4 x{0, 0, 0, 0};
  const std::size_t step = std::size_t{gridDim.x} * blockDim.x;
#pragma unroll 8
  for (std::size_t i = blockIdx.x * std::size_t{blockDim.x} + threadIdx.x; i < count; i += step) {
    const uint4 y = __ldg(from + i);
    x.x ^= y.x, x.y ^= y.y, x.z ^= y.z, x.w ^= y.w;
  }
  if ((x.x ^ x.y ^ x.z ^ x.w) == 0x12345678u) *sink = 1;
}

struct Variant {
  std::string file, text;
  Problem problem;
  Config config;
  int index_bits = 32;
  CUfunction stage1 = nullptr, stage2 = nullptr;
};

static Variant parse(const std::string& line) {
  Variant v;
  std::istringstream in(line);
  in >> v.file;
  std::map<std::string, int> values;
  for (std::string word; in >> word;) {
    const auto eq = word.find('=');
    values[word.substr(0, eq)] = std::atoi(word.c_str() + eq + 1);
  }
  v.problem = {values["HEAD_DIM"],    values["V_HEAD_DIM"],
               values["NUM_Q_HEADS"], values["HAS_KV_HEADS"] ? values["NUM_Q_HEADS"] / values["KV_GROUP_NUM"] : 1,
               values["EXTEND_LEN"],  values["IS_CAUSAL"] != 0};
  for (const Knob& knob : knobs)
    if (values.count(knob.name)) v.config.*knob.member = values[knob.name];
  v.index_bits = values["INDEX_BITS"];
  for (const char* name : {"LOAD_PATH", "BLOCK_H", "BLOCK_N", "NUM_WARPS", "ROW_WARPS", "NUM_STAGES", "WAVES_PER_EU",
                           "STAGE2_WARPS", "FUSE_COMBINE"})
    v.text += std::string(v.text.empty() ? "" : "/") + std::to_string(values[name]);
  return v;
}

static bool load(Variant& v, const DeviceLimits& device) {
  CUmodule module;
  if (cuModuleLoad(&module, v.file.c_str()) != CUDA_SUCCESS)
    return std::printf("%s: cannot load\n", v.file.c_str()), false;
  CHECK(cuModuleGetFunction(&v.stage1, module, "verify_shared_kv_stage1"));
  CHECK(cuModuleGetFunction(&v.stage2, module, "verify_shared_kv_stage2"));
  const int lds = stage1_lds_bytes(v.problem, v.config, device);
  if (cuFuncSetAttribute(v.stage1, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, lds) != CUDA_SUCCESS)
    return std::printf("%s: %d B of LDS\n", v.file.c_str(), lds), false;
  cuFuncSetAttribute(v.stage2, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                     stage2_lds_bytes(v.problem, v.config, device));
  return true;
}

static bool dependent_launches = true;  // "ordered" on the command line: stage 2 starts when stage 1 has ended

static void launch(const Variant& v, const DeviceLimits& device, VerifyParams p, cudaStream_t stream,
                   bool both = true) {
  void* arguments[] = {&p};
  const Launch a = stage1_launch(v.problem, v.config, device, p.batch, p.num_splits);
  CHECK(cuLaunchKernel(v.stage1, a.grid_x, a.grid_y, a.grid_z, a.block_x, 1, 1, a.dynamic_lds_bytes, stream, arguments,
                       nullptr));
  if (v.config.fuse_combine || !both) return;
  const Launch b = stage2_launch(v.problem, v.config, device, p.batch, p.num_splits);
  CUlaunchAttribute early{};
  early.id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
  early.value.programmaticStreamSerializationAllowed = 1;
  const CUlaunchConfig config{static_cast<unsigned>(b.grid_x),
                              static_cast<unsigned>(b.grid_y),
                              static_cast<unsigned>(b.grid_z),
                              static_cast<unsigned>(b.block_x),
                              1,
                              1,
                              static_cast<unsigned>(b.dynamic_lds_bytes),
                              stream,
                              &early,
                              b.dependent && dependent_launches ? 1u : 0u};
  CHECK(cuLaunchKernelEx(&config, v.stage2, arguments, nullptr));
}

template <class T>
static T* device_copy(const std::vector<T>& host) {
  T* to;
  CHECK(cudaMalloc(&to, std::max<std::size_t>(host.size(), 1) * sizeof(T)));
  CHECK(cudaMemcpy(to, host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice));
  return to;
}

/// Tensors of one problem; the pool is random, the prefixes are random distinct slots.
struct Data {
  Problem problem;
  int slots = 0, tokens = 0;
  std::uint16_t *q, *ke, *ve, *k, *v, *out;
  float *partial, *lse;
  unsigned* done;

  void allocate(const Problem& pr, int pool_slots, int max_tokens, long long partial_bytes) {
    problem = pr, slots = pool_slots, tokens = max_tokens;
    make(q, 1LL * tokens * pr.num_q_heads * pr.head_dim, 1);
    make(ke, 1LL * tokens * pr.num_kv_heads * pr.head_dim, 2);
    make(ve, 1LL * tokens * pr.num_kv_heads * pr.v_head_dim, 3);
    make(k, 1LL * slots * pr.num_kv_heads * pr.head_dim, 4);
    if (pr.is_mla())
      v = k;
    else
      make(v, 1LL * slots * pr.num_kv_heads * pr.v_head_dim, 5);
    make(out, 1LL * tokens * pr.num_q_heads * pr.v_head_dim, 6);
    CHECK(cudaMalloc(&partial, partial_bytes));
    CHECK(cudaMalloc(&lse, partial_bytes / pr.v_head_dim + 4096));
    CHECK(cudaMalloc(&done, 1 << 20));
    CHECK(cudaMemset(done, 0, 1 << 20));
  }
  void release() {
    for (void* x : {(void*)q, (void*)ke, (void*)ve, (void*)k, (void*)out, (void*)partial, (void*)lse, (void*)done})
      cudaFree(x);
    if (v != k) cudaFree(v);
  }
  static void make(std::uint16_t*& to, long long count, std::uint32_t seed) {
    CHECK(cudaMalloc(&to, count * 2));
    fill<<<1024, 256>>>(to, count, seed);
    CHECK(cudaGetLastError());
  }
  VerifyParams params(const int* qo, const int* kv, const void* indices, int batch, int splits, int min_keys) const {
    const Problem& pr = problem;
    VerifyParams p{};
    p.q = q, p.k_extend = ke, p.v_extend = ve, p.k_cache = k, p.v_cache = v, p.out = out;
    p.qo_indptr = qo, p.kv_indptr = kv, p.kv_indices = indices;
    p.partial_out = partial, p.partial_lse = lse, p.split_done = done;
    p.q_stride_token = 1LL * pr.num_q_heads * pr.head_dim, p.q_stride_head = pr.head_dim;
    p.k_extend_stride_token = p.k_cache_stride_slot = 1LL * pr.num_kv_heads * pr.head_dim;
    p.k_extend_stride_head = p.k_cache_stride_head = pr.head_dim;
    p.v_extend_stride_token = 1LL * pr.num_kv_heads * pr.v_head_dim, p.v_extend_stride_head = pr.v_head_dim;
    p.v_cache_stride_slot = pr.is_mla() ? p.k_cache_stride_slot : p.v_extend_stride_token;
    p.v_cache_stride_head = pr.is_mla() ? p.k_cache_stride_head : pr.v_head_dim;
    p.out_stride_token = 1LL * pr.num_q_heads * pr.v_head_dim, p.out_stride_head = pr.v_head_dim;
    p.batch = batch, p.num_splits = splits, p.min_keys_per_split = min_keys;
    p.sm_scale = 1.0f / std::sqrt(float(pr.head_dim)), p.k_scale = 1, p.v_scale = 1;
    return p;
  }
};

/// Ragged requests against float64. Returns the relative L2 error.
static double verify(const Variant& v, const DeviceLimits& device) {
  const Problem& pr = v.problem;
  const std::vector<int> prefix = {0, 1, 63, 64, 65, 1000, 4099, 127}, extend = {pr.extend_len,
                                                                                 1,
                                                                                 pr.extend_len,
                                                                                 0,
                                                                                 2 < pr.extend_len ? 2 : 1,
                                                                                 pr.extend_len,
                                                                                 pr.extend_len,
                                                                                 pr.extend_len};
  const int batch = static_cast<int>(prefix.size()), slots = 8192;
  std::vector<int> qo(batch + 1, 0), kv(batch + 1, 0);
  for (int b = 0; b < batch; ++b) qo[b + 1] = qo[b] + extend[b], kv[b + 1] = kv[b] + prefix[b];
  std::vector<int> order(slots);
  std::iota(order.begin(), order.end(), 0);
  std::shuffle(order.begin(), order.end(), std::mt19937(1));
  order.resize(kv[batch]);
  Data d;
  const int splits = 8, min_keys = v.config.min_keys_per_split;
  d.allocate(pr, slots, qo[batch], workspace(pr, v.config, batch, splits).partial_out_bytes);
  const int *dqo = device_copy(qo), *dkv = device_copy(kv);
  const void* indices = v.index_bits == 64
                            ? static_cast<const void*>(device_copy(std::vector<long long>(order.begin(), order.end())))
                            : device_copy(order);
  VerifyParams p = d.params(dqo, dkv, indices, batch, splits, min_keys);
  p.k_scale = 1.25f, p.v_scale = 0.75f;
  const std::size_t out_count = std::size_t(qo[batch]) * pr.num_q_heads * pr.v_head_dim;
  std::vector<std::uint16_t> first(out_count), out(out_count);
  for (int run = 0; run < 2; ++run) {
    CHECK(cudaMemset(d.out, 0xff, out_count * 2));
    CHECK(cudaMemset(d.partial, 0xff, workspace(pr, v.config, batch, splits).partial_out_bytes));
    CHECK(cudaMemset(d.lse, 0xff, workspace(pr, v.config, batch, splits).partial_lse_bytes));
    launch(v, device, p, nullptr);
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaMemcpy((run ? out : first).data(), d.out, out_count * 2, cudaMemcpyDeviceToHost));
  }
  const bool repeat = out == first;
  const auto host = [](const std::uint16_t* from, std::size_t n) {
    std::vector<std::uint16_t> bits(n);
    CHECK(cudaMemcpy(bits.data(), from, n * 2, cudaMemcpyDeviceToHost));
    std::vector<float> x(n);
    for (std::size_t i = 0; i < n; ++i) x[i] = static_cast<float>(value(bits[i]));
    return x;
  };
  const int D = pr.head_dim, DV = pr.v_head_dim, HK = pr.num_kv_heads;
  const auto q = host(d.q, std::size_t(qo[batch]) * pr.num_q_heads * D),
             ke = host(d.ke, std::size_t(qo[batch]) * HK * D), ve = host(d.ve, std::size_t(qo[batch]) * HK * DV),
             k = host(d.k, std::size_t(slots) * HK * D);
  const auto vc = pr.is_mla() ? k : host(d.v, std::size_t(slots) * HK * DV);
  double error = 0, norm = 0, worst = 0;
  for (int b = 0; b < batch; ++b)
    for (int i = 0; i < extend[b]; ++i)
      for (int h = 0; h < pr.num_q_heads; ++h) {
        const int g = h / pr.kv_group_num();
        const float* qr = &q[(std::size_t(qo[b] + i) * pr.num_q_heads + h) * D];
        const int n = prefix[b] + (pr.is_causal ? i + 1 : extend[b]);
        std::vector<double> s(n), o(DV, 0.0);
        double top = -1e300, total = 0;
        for (int t = 0; t < n; ++t) {
          const bool cached = t < prefix[b];
          const float* kr = cached ? &k[(std::size_t(order[kv[b] + t]) * HK + g) * D]
                                   : &ke[(std::size_t(qo[b] + t - prefix[b]) * HK + g) * D];
          double dot = 0;
          for (int x = 0; x < D; ++x) dot += double(qr[x]) * kr[x];
          s[t] = dot * p.sm_scale * (cached ? p.k_scale : 1);
          top = std::max(top, s[t]);
        }
        for (int t = 0; t < n; ++t) {
          const bool cached = t < prefix[b];
          const float* vr = cached ? (pr.is_mla() ? &vc[(std::size_t(order[kv[b] + t]) * HK + g) * D]
                                                  : &vc[(std::size_t(order[kv[b] + t]) * HK + g) * DV])
                                   : &ve[(std::size_t(qo[b] + t - prefix[b]) * HK + g) * DV];
          const double w = std::exp(s[t] - top);
          total += w;
          for (int x = 0; x < DV; ++x) o[x] += w * vr[x] * (cached ? p.v_scale : 1);
        }
        for (int x = 0; x < DV; ++x) {
          const double want = o[x] / total, got = value(out[(std::size_t(qo[b] + i) * pr.num_q_heads + h) * DV + x]);
          error += (got - want) * (got - want), norm += want * want;
          worst = std::max(worst, std::fabs(got - want));
        }
      }
  const double relative = std::sqrt(error / norm);
  std::printf("CHECK %-4d %-26s rel %.2e max %.2e %s %s\n", pr.head_dim, v.text.c_str(), relative, worst,
              relative < 5e-3 ? "ok" : "WRONG", repeat ? "" : "NOT REPEATABLE");
  std::fflush(stdout);
  d.release();
  return relative;
}

struct Timer {
  cudaStream_t stream;
  cudaEvent_t begin, end;
  Timer() {
    CHECK(cudaStreamCreate(&stream));
    CHECK(cudaEventCreate(&begin));
    CHECK(cudaEventCreate(&end));
  }
  /// Median microseconds per launch; `one(i)` enqueues launch i.
  template <class F>
  float run(F one, float expect_us) {
    const int launches = std::max(4, std::min(64, int(1500 / expect_us)));
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    for (int i = 0; i < launches; ++i) one(i);
    CHECK(cudaStreamEndCapture(stream, &graph));
    CHECK(cudaGraphInstantiate(&exec, graph, 0));
    std::vector<float> us;
    for (int sample = 0; sample < 9; ++sample) {
      CHECK(cudaEventRecord(begin, stream));
      CHECK(cudaGraphLaunch(exec, stream));
      CHECK(cudaEventRecord(end, stream));
      CHECK(cudaEventSynchronize(end));
      float ms;
      CHECK(cudaEventElapsedTime(&ms, begin, end));
      if (sample > 1) us.push_back(ms * 1000 / launches);
    }
    CHECK(cudaGraphExecDestroy(exec));
    CHECK(cudaGraphDestroy(graph));
    std::nth_element(us.begin(), us.begin() + us.size() / 2, us.end());
    return us[us.size() / 2];
  }
};

int main(int argc, char** argv) {
  const auto has = [&](const char* word) {
    return std::any_of(argv + 2, argv + argc, [&](char* a) { return !strcmp(a, word); });
  };
  dependent_launches = !has("ordered");
  CHECK(cudaFree(nullptr));
  cudaDeviceProp prop;
  CHECK(cudaGetDeviceProperties(&prop, 0));
  const DeviceLimits device{Family::nvidia, prop.multiProcessorCount, static_cast<int>(prop.sharedMemPerBlockOptin),
                            32};
  std::vector<Variant> variants;
  std::ifstream manifest(argv[1]);
  for (std::string line; std::getline(manifest, line);)
    if (!line.empty()) {
      Variant v = parse(line);
      if (load(v, device)) variants.push_back(v);
    }
  if (has("check"))
    for (const Variant& v : variants) verify(v, device);
  if (!has("bench")) return 0;
  Timer timer;
  CHECK(cudaFuncSetAttribute(nothing, cudaFuncAttributeMaxDynamicSharedMemorySize, 64 << 10));
  {
    uint4* big;
    unsigned* sink;
    const std::size_t bytes = std::size_t{2} << 30;
    CHECK(cudaMalloc(&big, bytes));
    CHECK(cudaMalloc(&sink, 4));
    const float us = timer.run(
        [&](int) { read_all<<<prop.multiProcessorCount * 8, 512, 0, timer.stream>>>(big, bytes / 16, sink); }, 500);
    std::printf("READ %.0f GB/s, empty kernel of 256 workgroups %.2f us\n", bytes / us / 1e3,
                timer.run([&](int) { nothing<<<256, 128, 64 << 10, timer.stream>>>(); }, 20));
    CHECK(cudaFree(big));
  }
  std::map<std::string, std::vector<const Variant*>> by_problem;
  for (const Variant& v : variants) {
    const Problem& p = v.problem;
    char key[64];
    std::snprintf(key, sizeof key, "%d/%d h%d/%d L%d", p.head_dim, p.v_head_dim, p.num_q_heads, p.num_kv_heads,
                  p.extend_len);
    by_problem[key].push_back(&v);
  }
  for (const auto& [key, list] : by_problem) {
    const Problem& pr = list.front()->problem;
    const int slots = 32 * 32768;
    std::vector<int> order(slots);
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(), std::mt19937(7));
    Data d;
    d.allocate(pr, slots, 32 * pr.extend_len, 1LL << 28);
    const int* indices = device_copy(order);
    for (int batch : {1, 8, 32})
      for (int context : {8192, 16384, 32768}) {
        std::vector<int> qo(batch + 1), kv(batch + 1);
        for (int b = 0; b <= batch; ++b) qo[b] = b * pr.extend_len, kv[b] = b * context;
        const int *dqo = device_copy(qo), *dkv = device_copy(kv);
        const double bytes =
            2.0 * batch * context * pr.num_kv_heads * (pr.is_mla() ? pr.head_dim : pr.head_dim + pr.v_head_dim);
        const int sets = std::max(1, std::min(64, slots / (batch * context)));
        float best = 1e9f;
        std::string best_text;
        for (const Variant* v : list) {
          float mine = 1e9f, mine_stage1 = 0;
          std::string mine_text;
          std::vector<std::pair<int, int>> tried;
          for (int per_cu : {1, 2, 3, 4, 6, 8})
            for (int min_keys : {64, 128, 256, 512}) {
              if (min_keys % v->config.block_n) continue;
              Config c = v->config;
              c.workgroups_per_cu = per_cu, c.min_keys_per_split = min_keys;
              const int splits = num_splits(pr, c, device, batch, context);
              const SplitCut cut = cut_prefix(context, splits, min_keys, c.block_n);
              if (workspace(pr, c, batch, splits).partial_out_bytes > 1LL << 28) continue;
              const std::pair<int, int> id{cut.keys_per_split, cut.used};
              if (std::find(tried.begin(), tried.end(), id) != tried.end()) continue;
              tried.push_back(id);
              const auto time = [&](bool both) {
                return timer.run(
                    [&](int i) {
                      const int* slots_of = indices + std::size_t(i % sets) * batch * context;
                      launch(*v, device, d.params(dqo, dkv, slots_of, batch, splits, min_keys), timer.stream, both);
                    },
                    float(bytes / 4e6 + 10));
              };
              const float us = time(true);
              char text[64];
              std::snprintf(text, sizeof text, "wg/cu %d min %d splits %d", per_cu, min_keys, cut.used);
              if (has("all"))
                std::printf("  all %s %dx%d %s %s %.1f\n", key.c_str(), batch, context, v->text.c_str(), text, us);
              if (us < mine) {
                mine = us, mine_text = text;
                mine_stage1 = has("stage1") && !v->config.fuse_combine ? time(false) : 0;
              }
            }
          if (has("variants"))
            std::printf("  %s %dx%d %-26s %.1f us (stage 1 %.1f) %s\n", key.c_str(), batch, context, v->text.c_str(),
                        mine, mine_stage1, mine_text.c_str());
          if (mine < best) best = mine, best_text = v->text + " " + mine_text;
        }
        std::printf("BEST %s %dx%d %.1f us %.0f GB/s floor_copy %.1f | %s\n", key.c_str(), batch, context, best,
                    bytes / best / 1e3, bytes / 4242e3, best_text.c_str());
        std::fflush(stdout);
      }
    d.release();
  }
}
