#include "tuner/timing_inputs.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

#include "headtune/arch.h"
#include "tuner/dtype.h"
#include "tuner/measure.h"
#include "tuner/random.h"

namespace headtune {
namespace {

constexpr long long first_slot = 1;  // servers keep slot 0 for padding

long long keys(const TimedShape& shape) { return 1LL * shape.batch * shape.context; }

int max_batch(std::span<const TimedShape> shapes) {
  int batch = 0;
  for (const TimedShape& shape : shapes) batch = std::max(batch, shape.batch);
  return batch;
}

/// Normal values; a block of 1 MiB is drawn and then doubled on the device, which no cache can exploit.
hip::DeviceBuffer random_buffer(const hip::Api& api, DType type, long long elements, std::uint64_t seed) {
  const auto size = static_cast<std::size_t>(element_bytes(type));
  const std::size_t bytes = static_cast<std::size_t>(elements) * size;
  std::vector<std::byte> block(std::min<std::size_t>(bytes, 1 << 20));
  for (std::size_t i = 0; i < block.size() / size; ++i)
    store_bits(block.data(), type, static_cast<long long>(i), encode(type, random_normal(seed, i)));
  hip::DeviceBuffer buffer(api, bytes);
  buffer.upload(block.data(), block.size());
  for (std::size_t done = block.size(); done < bytes; done *= 2)
    check(api, api.memcpy(buffer.at(done), buffer.get(), std::min(done, bytes - done), hip::memcpy_device_to_device),
          "hipMemcpy on device");
  return buffer;
}

/// 0, step, 2 step, ...
hip::DeviceBuffer steps(const hip::Api& api, int batch, int step) {
  std::vector<int> values;
  for (int i = 0; i <= batch; ++i) values.push_back(i * step);
  return hip::DeviceBuffer::of<int>(api, values);
}

}  // namespace

long long prefix_bytes(const Problem& problem, const TimedShape& shape) {
  const int row = problem.is_mla() ? problem.head_dim : problem.head_dim + problem.v_head_dim;
  return keys(shape) * problem.num_kv_heads * row * element_bytes(problem.kv_dtype);
}

TimingInputs::TimingInputs(const hip::Api& api, const Problem& problem, std::span<const TimedShape> shapes,
                           int index_bits, long long llc_bytes)
    : problem_(problem), index_bits_(index_bits), llc_bytes_(llc_bytes) {
  const long long tokens = 1LL * max_batch(shapes) * problem.extend_len;
  long long slots = first_slot;
  for (const TimedShape& shape : shapes) slots = std::max(slots, first_slot + keys(shape) * pools(shape));
  const long long k_row = 1LL * problem.num_kv_heads * problem.head_dim;
  const long long v_row = 1LL * problem.num_kv_heads * problem.v_head_dim;
  q_ = random_buffer(api, problem.dtype, tokens * problem.num_q_heads * problem.head_dim, 1);
  k_extend_ = random_buffer(api, problem.dtype, tokens * k_row, 2);
  v_extend_ = random_buffer(api, problem.dtype, tokens * v_row, 3);
  out_ = random_buffer(api, problem.dtype, tokens * problem.num_q_heads * problem.v_head_dim, 4);
  k_cache_ = random_buffer(api, problem.kv_dtype, slots * k_row, 5);
  if (!problem.is_mla()) v_cache_ = random_buffer(api, problem.kv_dtype, slots * v_row, 6);
  upload_indices(api, slots);
  qo_indptr_ = steps(api, max_batch(shapes), problem.extend_len);
  for (const TimedShape& shape : shapes) indptr_[shape] = steps(api, shape.batch, shape.context);
}

/// One permutation of all slots; each shape and pool takes a stretch of it.
void TimingInputs::upload_indices(const hip::Api& api, long long slots) {
  std::vector<long long> wide(static_cast<std::size_t>(slots - first_slot));
  std::iota(wide.begin(), wide.end(), first_slot);
  std::shuffle(wide.begin(), wide.end(), std::mt19937_64(7));
  if (index_bits_ == 64) {
    indices_ = hip::DeviceBuffer::of<long long>(api, wide);
    return;
  }
  const std::vector<int> narrow(wide.begin(), wide.end());
  indices_ = hip::DeviceBuffer::of<int>(api, narrow);
}

int TimingInputs::pools(const TimedShape& shape) const { return pool_count(prefix_bytes(problem_, shape), llc_bytes_); }

VerifyParams TimingInputs::params(const TimedShape& shape, int pool) const {
  const Problem& p = problem_;
  VerifyParams params{};
  params.q = q_.get();
  params.k_extend = k_extend_.get();
  params.v_extend = v_extend_.get();
  params.k_cache = k_cache_.get();
  params.v_cache = p.is_mla() ? k_cache_.get() : v_cache_.get();
  params.out = out_.get();
  params.qo_indptr = qo_indptr_.as<int>();
  params.kv_indptr = indptr_.at(shape).as<int>();
  params.kv_indices = indices_.at(static_cast<std::size_t>(pool * keys(shape) * index_bits_ / 8));
  params.q_stride_head = p.head_dim, params.q_stride_token = 1LL * p.num_q_heads * p.head_dim;
  params.k_extend_stride_head = p.head_dim, params.k_extend_stride_token = 1LL * p.num_kv_heads * p.head_dim;
  params.v_extend_stride_head = p.v_head_dim, params.v_extend_stride_token = 1LL * p.num_kv_heads * p.v_head_dim;
  params.k_cache_stride_head = p.head_dim, params.k_cache_stride_slot = 1LL * p.num_kv_heads * p.head_dim;
  const int v_width = p.is_mla() ? p.head_dim : p.v_head_dim;  // MLA: V is the first part of the K row
  params.v_cache_stride_head = v_width, params.v_cache_stride_slot = 1LL * p.num_kv_heads * v_width;
  params.out_stride_head = p.v_head_dim, params.out_stride_token = 1LL * p.num_q_heads * p.v_head_dim;
  params.batch = shape.batch;
  params.sm_scale = static_cast<float>(1 / std::sqrt(double(p.head_dim)));
  params.k_scale = params.v_scale = 1;
  return params;
}

}  // namespace headtune
