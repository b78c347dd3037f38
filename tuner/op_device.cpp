#include "tuner/op_device.h"

#include <fmt/format.h>

#include <algorithm>

#include "tuner/dtype.h"
#include "tuner/hip/check.h"

namespace headtune {
namespace {

constexpr unsigned char float_nan = 0xff;  // repeated: NaN as float, bf16, fp16 and e4m3fn

unsigned char guard_byte(DType type) { return type == DType::fp8_e4m3fnuz ? 0x80 : float_nan; }

template <class T>
GuardedBuffer upload(const hip::Api& api, const std::vector<T>& values, unsigned char guard, const char* name) {
  const std::span bytes = std::as_bytes(std::span(values));
  GuardedBuffer buffer(api, bytes.size(), guard, name);
  buffer.upload(bytes);
  return buffer;
}

GuardedBuffer upload(const hip::Api& api, const Tensor& tensor, const char* name) {
  return upload(api, tensor.bytes, guard_byte(tensor.type), name);
}

/// kv_indices as the device reads them.
template <class Index>
std::vector<std::byte> index_bytes(const Inputs& inputs) {
  std::vector<Index> indices;
  for (long long slot : inputs.kv_indices) indices.push_back(static_cast<Index>(slot + inputs.shape.layout.slot_shift));
  const std::span bytes = std::as_bytes(std::span(indices));
  return {bytes.begin(), bytes.end()};
}

std::vector<std::byte> index_bytes(const Inputs& inputs) {
  return inputs.shape.layout.index_bits == 64 ? index_bytes<long long>(inputs) : index_bytes<int>(inputs);
}

/// Where slot 0 of a pool would lie: kernels only ever add index * stride to it. Unsigned, since it may wrap.
const void* pool_base(const GuardedBuffer& pool, const Tensor& tensor, long long slot_shift) {
  const auto bytes = static_cast<std::uintptr_t>(slot_shift * tensor.stride_row * element_bytes(tensor.type));
  return reinterpret_cast<const void*>(reinterpret_cast<std::uintptr_t>(pool.data()) - bytes);
}

}  // namespace

DeviceInputs::DeviceInputs(const hip::Api& api, const Inputs& inputs)
    : inputs_(inputs),
      q_(upload(api, inputs.q, "q")),
      k_extend_(upload(api, inputs.k_extend, "k_extend")),
      v_extend_(upload(api, inputs.v_extend, "v_extend")),
      k_cache_(upload(api, inputs.k_cache, "k_cache")),
      v_cache_(upload(api, inputs.v_cache, "v_cache")),
      qo_indptr_(upload(api, inputs.qo_indptr, 0, "qo_indptr")),
      kv_indptr_(upload(api, inputs.kv_indptr, 0, "kv_indptr")),
      kv_indices_(upload(api, index_bytes(inputs), 0, "kv_indices")) {}  // a read past the end leads to slot 0, NaN

void DeviceInputs::overwrite(const Inputs& other) {
  q_.upload(other.q.bytes);
  k_extend_.upload(other.k_extend.bytes);
  v_extend_.upload(other.v_extend.bytes);
  k_cache_.upload(other.k_cache.bytes);
  v_cache_.upload(other.v_cache.bytes);
  qo_indptr_.upload(std::as_bytes(std::span(other.qo_indptr)));
  kv_indptr_.upload(std::as_bytes(std::span(other.kv_indptr)));
  kv_indices_.upload(index_bytes(other));
}

VerifyParams DeviceInputs::params() const {
  const Tensor& values = inputs_.values();
  VerifyParams p{};
  p.q = q_.data();
  p.k_extend = k_extend_.data();
  p.v_extend = v_extend_.data();
  p.k_cache = pool_base(k_cache_, inputs_.k_cache, inputs_.shape.layout.slot_shift);
  p.v_cache =
      inputs_.problem.is_mla() ? p.k_cache : pool_base(v_cache_, inputs_.v_cache, inputs_.shape.layout.slot_shift);
  p.qo_indptr = static_cast<const int*>(qo_indptr_.data());
  p.kv_indptr = static_cast<const int*>(kv_indptr_.data());
  p.kv_indices = kv_indices_.data();
  p.q_stride_token = inputs_.q.stride_row, p.q_stride_head = inputs_.q.stride_head;
  p.k_extend_stride_token = inputs_.k_extend.stride_row, p.k_extend_stride_head = inputs_.k_extend.stride_head;
  p.v_extend_stride_token = inputs_.v_extend.stride_row, p.v_extend_stride_head = inputs_.v_extend.stride_head;
  p.k_cache_stride_slot = inputs_.k_cache.stride_row, p.k_cache_stride_head = inputs_.k_cache.stride_head;
  p.v_cache_stride_slot = values.stride_row, p.v_cache_stride_head = values.stride_head;
  p.out_stride_token = inputs_.out.stride_row, p.out_stride_head = inputs_.out.stride_head;
  p.batch = inputs_.shape.batch();
  p.sm_scale = inputs_.sm_scale;
  p.k_scale = inputs_.shape.k_scale;
  p.v_scale = inputs_.shape.v_scale;
  return p;
}

DeviceOutputs::DeviceOutputs(const hip::Api& api, const Inputs& inputs, const Plan& plan)
    : plan_(plan),
      out_(api, static_cast<std::size_t>(inputs.out.rows * inputs.out.stride_row * element_bytes(inputs.out.type)),
           float_nan, "out"),
      partial_out_(api, plan.partial_out_bytes, float_nan, "partial_out"),
      partial_lse_(api, plan.partial_lse_bytes, float_nan, "partial_lse"),
      split_done_(api, plan.split_done_bytes, float_nan, "split_done") {}

void DeviceOutputs::bind(VerifyParams& params) const {
  params.out = out_.data();
  params.partial_out = static_cast<float*>(partial_out_.data());
  params.partial_lse = static_cast<float*>(partial_lse_.data());
  params.split_done = static_cast<unsigned*>(split_done_.data());
  params.num_splits = plan_.num_splits;
  params.min_keys_per_split = plan_.min_keys_per_split;
}

void DeviceOutputs::poison(unsigned char byte) {
  out_.fill(byte);
  partial_out_.fill(byte);
  partial_lse_.fill(byte);
  split_done_.fill(0);
}

std::vector<std::byte> DeviceOutputs::read_out() const {
  std::vector<std::byte> bytes(out_.bytes());
  out_.download(bytes);
  return bytes;
}

std::string DeviceOutputs::damage() const {
  for (const GuardedBuffer* buffer : {&out_, &partial_out_, &partial_lse_, &split_done_})
    if (std::string text = buffer->guard_damage(); !text.empty()) return text;
  std::vector<std::byte> counters(split_done_.bytes());
  split_done_.download(counters);
  const bool zero = std::all_of(counters.begin(), counters.end(), [](std::byte b) { return b == std::byte{0}; });
  return zero ? "" : "split_done: not zero after the call";
}

LoadedKernels::LoadedKernels(const hip::Api& api, std::span<const std::byte> code,
                             const std::vector<std::string>& names)
    : api_(api), module_(hip::load_module(api, code)) {
  for (const std::string& name : names) functions_[name] = hip::get_function(api, module_, name);
}

void LoadedKernels::launch(const Plan& plan, const VerifyParams& params, hip::Stream stream) const {
  VerifyParams copy = params;
  void* arguments[] = {&copy};
  for (const KernelLaunch& one : plan.launches) {
    if (one.grid[0] == 0 || one.grid[1] == 0 || one.grid[2] == 0) continue;  // an empty batch
    const hip::Function function = functions_.at(one.kernel);
    const hip::Error error = one.dependent && api_.launch_dependent != nullptr
                                 ? api_.launch_dependent(function, one.grid[0], one.grid[1], one.grid[2], one.block,
                                                         one.dynamic_lds_bytes, stream, arguments)
                                 : api_.module_launch_kernel(function, one.grid[0], one.grid[1], one.grid[2], one.block,
                                                             1, 1, one.dynamic_lds_bytes, stream, arguments, nullptr);
    hip::check(api_, error,
               fmt::format("launch {} on {}x{}x{} workgroups of {} threads", one.kernel, one.grid[0], one.grid[1],
                           one.grid[2], one.block));
  }
}

}  // namespace headtune
