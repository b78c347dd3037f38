#include "tuner/op.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "headtune/extend_attention/launch.h"
#include "headtune/verify_shared_kv/launch.h"
#include "tuner/error.h"

namespace headtune {
namespace {

KernelLaunch kernel_launch(std::string kernel, const Launch& launch) {
  const auto count = [](int n) { return static_cast<unsigned>(n); };
  return {std::move(kernel),
          {count(launch.grid_x), count(launch.grid_y), count(launch.grid_z)},
          count(launch.block_x),
          count(launch.dynamic_lds_bytes),
          launch.dependent};
}

class VerifySharedKv final : public Op {
 public:
  std::string name() const override { return "verify_shared_kv"; }

  std::vector<std::string> kernels() const override { return {"verify_shared_kv_stage1", "verify_shared_kv_stage2"}; }

  Plan plan(const Problem& problem, const Config& config, const Arch& arch, int batch, int context) const override {
    const DeviceLimits limits = limits_of(arch);
    Plan plan;
    plan.num_splits = num_splits(problem, config, limits, batch, context);
    plan.min_keys_per_split = config.min_keys_per_split;
    const Workspace space = workspace(problem, config, batch, plan.num_splits);
    plan.partial_out_bytes = static_cast<std::size_t>(space.partial_out_bytes);
    plan.partial_lse_bytes = static_cast<std::size_t>(space.partial_lse_bytes);
    plan.split_done_bytes = static_cast<std::size_t>(space.split_done_bytes);
    plan.launches.push_back(
        kernel_launch("verify_shared_kv_stage1", stage1_launch(problem, config, limits, batch, plan.num_splits)));
    if (!config.fuse_combine)
      plan.launches.push_back(
          kernel_launch("verify_shared_kv_stage2", stage2_launch(problem, config, limits, batch, plan.num_splits)));
    return plan;
  }

  int lds_bytes(const Problem& problem, const Config& config, const Arch& arch) const override {
    const DeviceLimits limits = limits_of(arch);
    const int stage2 = config.fuse_combine ? 0 : stage2_lds_bytes(problem, config, limits);
    return std::max(stage1_lds_bytes(problem, config, limits), stage2);
  }
};

class ExtendAttention final : public Op {
 public:
  std::string name() const override { return "extend_attention"; }

  std::vector<std::string> kernels() const override { return {"extend_attention"}; }

  Plan plan(const Problem& problem, const Config& config, const Arch& arch, int batch, int) const override {
    Plan plan;
    plan.launches.push_back(kernel_launch("extend_attention", extend_launch(problem, config, limits_of(arch), batch)));
    return plan;
  }

  int lds_bytes(const Problem& problem, const Config& config, const Arch& arch) const override {
    return extend_launch(problem, config, limits_of(arch), 1).dynamic_lds_bytes;
  }
};

/// Reads or copies rows and computes nothing: what `bench` compares with. 64 waves to a CU
/// keep enough bytes on the way.
class PlainMemory final : public Op {
 public:
  explicit PlainMemory(std::string name) : name_(std::move(name)) {}
  std::string name() const override { return name_; }
  std::vector<std::string> kernels() const override { return {name_}; }
  Plan plan(const Problem&, const Config& config, const Arch& arch, int, int) const override {
    const auto count = [](int n) { return static_cast<unsigned>(n); };
    Plan plan;
    plan.launches.push_back(
        {name_, {count(arch.cu_count * 64 / config.num_warps), 1, 1}, count(config.num_warps * arch.wave_size)});
    return plan;
  }
  int lds_bytes(const Problem&, const Config&, const Arch&) const override { return 0; }

 private:
  std::string name_;
};

const std::vector<const Op*>& all_ops() {
  static const VerifySharedKv verify_shared_kv;
  static const ExtendAttention extend_attention;
  static const std::vector<const Op*> ops = {&verify_shared_kv, &extend_attention};
  return ops;
}

}  // namespace

std::vector<std::string> op_names() {
  std::vector<std::string> names;
  for (const Op* op : all_ops()) names.push_back(op->name());
  return names;
}

const Op& find_op(const std::string& name) {
  static const PlainMemory plain_read("plain_read"), plain_copy("plain_copy");
  for (const Op* op : {&plain_read, &plain_copy})
    if (op->name() == name) return *op;
  for (const Op* op : all_ops())
    if (op->name() == name) return *op;
  throw UsageError(fmt::format("unknown operator '{}': use {}", name, fmt::join(op_names(), " or ")));
}

double byte_floor(const Problem& problem, const Case& shape) {
  const double key_row = problem.num_kv_heads * (problem.head_dim + (problem.is_mla() ? 0 : problem.v_head_dim));
  const double extend_row = problem.num_kv_heads * (problem.head_dim + problem.v_head_dim);
  const double query_row = problem.num_q_heads * (problem.head_dim + problem.v_head_dim);
  return static_cast<double>(shape.prefix_keys()) * key_row * element_bytes(problem.kv_dtype) +
         shape.total_tokens() * (extend_row + query_row) * element_bytes(problem.dtype);
}

double flop_count(const Problem& problem, const Case& shape) {
  double pairs = 0;  // of one query head: new token x key
  for (std::size_t b = 0; b < shape.prefix_lens.size(); ++b) {
    const double tokens = shape.extend_lens[b];
    pairs += tokens * shape.prefix_lens[b] + (problem.is_causal ? tokens * (tokens + 1) / 2 : tokens * tokens);
  }
  return 2 * pairs * problem.num_q_heads * (problem.head_dim + problem.v_head_dim);
}

}  // namespace headtune
