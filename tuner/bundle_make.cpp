#include "tuner/bundle_make.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <limits>

#include "headtune/verify_shared_kv/launch.h"
#include "headtune/verify_shared_kv/params.h"
#include "tuner/bundle_reference.h"
#include "tuner/dtype.h"
#include "tuner/error.h"
#include "tuner/op_inputs.h"
#include "tuner/op_reference.h"
#include "tuner/sim/launch.h"
#include "tuner/sim/loader.h"
#include "tuner/tolerance.h"

namespace headtune {
namespace {

constexpr const char* kCode = "kernels.bin";
constexpr std::uint8_t kPoison = 0xff;  ///< repeated: NaN as float, bf16 and fp16

/// Where each pointer of VerifyParams lies and what it points at.
struct Field {
  std::size_t offset;
  const char* buffer;
};

constexpr Field kFields[] = {
    {offsetof(VerifyParams, q), "q"},
    {offsetof(VerifyParams, k_extend), "k_extend"},
    {offsetof(VerifyParams, v_extend), "v_extend"},
    {offsetof(VerifyParams, k_cache), "k_cache"},
    {offsetof(VerifyParams, v_cache), "v_cache"},
    {offsetof(VerifyParams, out), "out"},
    {offsetof(VerifyParams, qo_indptr), "qo_indptr"},
    {offsetof(VerifyParams, kv_indptr), "kv_indptr"},
    {offsetof(VerifyParams, kv_indices), "kv_indices"},
    {offsetof(VerifyParams, partial_out), "partial_out"},
    {offsetof(VerifyParams, partial_lse), "partial_lse"},
    {offsetof(VerifyParams, split_done), "split_done"},
};

template <class T>
std::vector<std::byte> bytes_of(const std::vector<T>& values) {
  std::vector<std::byte> bytes(values.size() * sizeof(T));
  if (!bytes.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

class Maker {
 public:
  Maker(const BundleRequest& request, std::vector<std::byte> code)
      : request_(request), inputs_(make_inputs(request.problem, shape())), plan_(planned()) {
    bundle_.arch = request.arch.name;
    bundle_.files[kCode] = std::move(code);
  }

  Bundle make() {
    add_inputs();
    add_workspace();
    for (const KernelLaunch& launch : plan_.launches)
      if (runs(launch)) add_launch(launch);
    add_expectations();
    return std::move(bundle_);
  }

 private:
  Case shape() const {
    Case shape = uniform_case("bundle", request_.batch, request_.context, request_.problem.extend_len);
    shape.seed = request_.seed;
    return shape;
  }

  Plan planned() const {
    Plan plan =
        find_op(request_.op).plan(request_.problem, request_.config, request_.arch, request_.batch, request_.context);
    if (request_.splits == 0) return plan;
    plan.num_splits = request_.splits;
    plan.launches.front().grid[1] = static_cast<unsigned>(request_.splits);
    const Workspace space = workspace(request_.problem, request_.config, request_.batch, request_.splits);
    plan.partial_out_bytes = static_cast<std::size_t>(space.partial_out_bytes);
    plan.partial_lse_bytes = static_cast<std::size_t>(space.partial_lse_bytes);
    plan.split_done_bytes = static_cast<std::size_t>(space.split_done_bytes);
    return plan;
  }

  bool runs(const KernelLaunch& launch) const {
    if (request_.stage == BundleStage::all) return true;
    return (&launch == &plan_.launches.front()) == (request_.stage == BundleStage::prefix);
  }

  void add_file(const std::string& buffer, std::vector<std::byte> contents) {
    const std::string file = buffer + ".bin";
    bundle_.buffers[buffer] = {contents.size(), file, 0};
    bundle_.files[file] = std::move(contents);
  }

  void add_filled(const std::string& buffer, std::uint64_t bytes, std::uint8_t fill) {
    if (bytes) bundle_.buffers[buffer] = {bytes, "", fill};
  }

  void add_inputs() {
    add_file("q", inputs_.q.bytes);
    add_file("k_extend", inputs_.k_extend.bytes);
    add_file("v_extend", inputs_.v_extend.bytes);
    add_file("k_cache", inputs_.k_cache.bytes);
    if (!request_.problem.is_mla()) add_file("v_cache", inputs_.v_cache.bytes);
    add_file("qo_indptr", bytes_of(inputs_.qo_indptr));
    add_file("kv_indptr", bytes_of(inputs_.kv_indptr));
    add_file("kv_indices", bytes_of(std::vector<int>(inputs_.kv_indices.begin(), inputs_.kv_indices.end())));
  }

  void add_workspace() {
    const Tensor& out = inputs_.out;
    add_filled("out", static_cast<std::uint64_t>(out.rows * out.stride_row * element_bytes(out.type)), kPoison);
    add_filled("split_done", plan_.split_done_bytes, 0);
    if (request_.stage == BundleStage::all) {
      add_filled("partial_out", plan_.partial_out_bytes, kPoison);
      add_filled("partial_lse", plan_.partial_lse_bytes, kPoison);
      return;
    }
    const PrefixPartials partials =
        prefix_partials(inputs_, plan_.num_splits, plan_.min_keys_per_split, request_.config.block_n);
    if (request_.stage == BundleStage::combine) {
      add_file("partial_out", bytes_of(partials.out));
      add_file("partial_lse", bytes_of(partials.lse));
      return;
    }
    add_filled("partial_out", plan_.partial_out_bytes, kPoison);
    add_filled("partial_lse", plan_.partial_lse_bytes, kPoison);
    expect("partial_out", bytes_of(partials.out), "f32", relative_l2_bound(bounds()));
    // Kernels may sum the weights as rounded for the second product.
    expect("partial_lse", bytes_of(partials.lse), "f32", bounds().weight_roundoff);
  }

  Tolerance bounds() const { return tolerance(request_.problem, request_.context + request_.problem.extend_len); }

  VerifyParams params() const {
    const Tensor& values = inputs_.values();
    VerifyParams p{};
    p.q_stride_token = inputs_.q.stride_row, p.q_stride_head = inputs_.q.stride_head;
    p.k_extend_stride_token = inputs_.k_extend.stride_row, p.k_extend_stride_head = inputs_.k_extend.stride_head;
    p.v_extend_stride_token = inputs_.v_extend.stride_row, p.v_extend_stride_head = inputs_.v_extend.stride_head;
    p.k_cache_stride_slot = inputs_.k_cache.stride_row, p.k_cache_stride_head = inputs_.k_cache.stride_head;
    p.v_cache_stride_slot = values.stride_row, p.v_cache_stride_head = values.stride_head;
    p.out_stride_token = inputs_.out.stride_row, p.out_stride_head = inputs_.out.stride_head;
    p.batch = request_.batch;
    p.num_splits = plan_.num_splits;
    p.min_keys_per_split = plan_.min_keys_per_split;
    p.sm_scale = inputs_.sm_scale;
    p.k_scale = inputs_.shape.k_scale;
    p.v_scale = inputs_.shape.v_scale;
    return p;
  }

  /// Explicit and hidden arguments as the code object's metadata places them.
  std::vector<std::byte> arguments(const KernelLaunch& launch) const {
    VerifyParams p = params();
    if (request_.arch.family == Family::nvidia) {
      std::vector<std::byte> bytes(sizeof p);
      std::memcpy(bytes.data(), &p, sizeof p);
      return bytes;
    }
    const sim::CodeObject object = sim::load(bundle_.files.at(kCode));
    sim::Launch packed;
    packed.kernel = &object.kernels.at(launch.kernel);
    packed.grid = {launch.grid[0], launch.grid[1], launch.grid[2]};
    packed.block = {launch.block, 1, 1};
    packed.dynamic_lds = launch.dynamic_lds_bytes;
    const void* addresses[] = {&p};
    sim::pack_arguments(packed, addresses);
    return packed.kernarg;
  }

  void add_launch(const KernelLaunch& launch) {
    BundleLaunch entry;
    entry.code_object = kCode;
    entry.kernel = launch.kernel;
    entry.grid = {launch.grid[0], launch.grid[1], launch.grid[2]};
    entry.block = {launch.block, 1, 1};
    entry.dynamic_lds = launch.dynamic_lds_bytes;
    entry.kernarg = arguments(launch);
    for (const Field& field : kFields) {
      const bool shared = request_.problem.is_mla() && field.buffer == std::string_view("v_cache");
      const std::string buffer = shared ? "k_cache" : field.buffer;
      if (bundle_.buffers.contains(buffer))
        entry.pointers.push_back({static_cast<std::uint32_t>(field.offset), buffer, 0});
    }
    bundle_.launches.push_back(std::move(entry));
  }

  void expect(const std::string& buffer, std::vector<std::byte> reference, const std::string& dtype, double rel_l2) {
    const std::string file = buffer + ".expected.f32";
    bundle_.files[file] = std::move(reference);
    bundle_.expect.push_back({buffer, file, dtype, rel_l2});
  }

  void add_expectations() {
    if (request_.stage == BundleStage::prefix) return;
    const Tensor& out = inputs_.out;
    const Reference expected = reference(inputs_);
    std::vector<float> values(static_cast<std::size_t>(out.rows * out.stride_row),
                              std::numeric_limits<float>::quiet_NaN());
    const int dim = request_.problem.v_head_dim;
    for (long long row = 0; row < out.rows * out.heads; ++row)
      for (int d = 0; d < dim; ++d)
        values[static_cast<std::size_t>(out.offset(row / out.heads, static_cast<int>(row % out.heads)) + d)] =
            static_cast<float>(expected.out[static_cast<std::size_t>(row * dim + d)]);
    expect("out", bytes_of(values), to_string(out.type), relative_l2_bound(bounds()));
  }

  const BundleRequest& request_;
  Inputs inputs_;
  Plan plan_;
  Bundle bundle_;
};

}  // namespace

BundleRequest settle(BundleRequest request) {
  if (request.op != "verify_shared_kv" && (request.stage != BundleStage::all || request.splits != 0))
    throw UsageError(fmt::format("{} has neither stages nor splits", request.op));
  if (request.stage != BundleStage::all) request.config.fuse_combine = 0;
  request.config.max_splits = std::max(request.config.max_splits, request.splits);
  return request;
}

Bundle make_bundle(const BundleRequest& settled, std::vector<std::byte> code) {
  return Maker(settled, std::move(code)).make();
}

}  // namespace headtune
