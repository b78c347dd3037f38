#include "tuner/verify.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "tuner/dtype.h"
#include "tuner/hip/check.h"
#include "tuner/op_device.h"
#include "tuner/tolerance.h"

namespace headtune {
namespace {

// Two poisons: NaN everywhere, then huge finite numbers. A kernel that reads what it did not write gives NaN with one
// or different bits with the other.
constexpr unsigned char poisons[] = {0xff, 0x7f};

/// The request that a token belongs to.
int request_of(const Inputs& inputs, long long token) {
  const auto after = std::upper_bound(inputs.qo_indptr.begin(), inputs.qo_indptr.end(), static_cast<int>(token));
  return static_cast<int>(after - inputs.qo_indptr.begin()) - 1;
}

std::string place(const Inputs& inputs, long long token, int head, int column) {
  const auto request = static_cast<std::size_t>(request_of(inputs, token));
  return fmt::format("out[token {}][head {}][{}] (new token {} of request {}, prefix {})", token, head, column,
                     token - inputs.qo_indptr[request], request, inputs.shape.prefix_lens[request]);
}

class Comparer {
 public:
  Comparer(const Inputs& inputs, const Reference& expected, std::span<const std::byte> out)
      : inputs_(inputs),
        expected_(expected),
        out_(out),
        tolerance_(tolerance(inputs.problem, expected.keys.empty()
                                                 ? 0
                                                 : *std::max_element(expected.keys.begin(), expected.keys.end()))) {}

  Comparison run(unsigned char poison) {
    result_.l2_bound = relative_l2_bound(tolerance_);
    for (int request = 0; request < inputs_.shape.batch(); ++request)
      compare_request(static_cast<std::size_t>(request));
    check_padding(poison);
    return result_;
  }

 private:
  void fail(const std::string& text) {
    if (result_.failure.empty()) result_.failure = text;
  }

  void compare_request(std::size_t request) {
    error2_ = reference2_ = 0;
    for (int token = inputs_.qo_indptr[request]; token < inputs_.qo_indptr[request + 1]; ++token)
      for (int head = 0; head < inputs_.problem.num_q_heads; ++head) compare_row(token, head);
    if (reference2_ == 0) return;
    const double relative = std::sqrt(error2_ / reference2_);
    result_.relative_l2 = std::max(result_.relative_l2, relative);
    if (relative > result_.l2_bound)
      fail(fmt::format("request {}: relative L2 error {:.2e}, allowed {:.2e}", request, relative, result_.l2_bound));
  }

  void compare_row(int token, int head) {
    const int dim = inputs_.problem.v_head_dim;
    const auto row = static_cast<std::size_t>(token) * static_cast<std::size_t>(inputs_.problem.num_q_heads) +
                     static_cast<std::size_t>(head);
    values_.resize(static_cast<std::size_t>(dim));
    decode_row(out_.data(), inputs_.out.type, inputs_.out.offset(token, head), dim, values_.data());
    for (int d = 0; d < dim; ++d) {
      const std::size_t at = row * static_cast<std::size_t>(dim) + static_cast<std::size_t>(d);
      compare_element(token, head, d, static_cast<double>(values_[static_cast<std::size_t>(d)]), expected_.out[at],
                      expected_.spread[at]);
    }
  }

  void compare_element(int token, int head, int column, double actual, double expected, double spread) {
    const double bound = element_bound(tolerance_, expected, spread);
    const double error = std::fabs(actual - expected);
    if (std::isfinite(actual)) {
      error2_ += error * error;
      reference2_ += expected * expected;
      result_.worst_element = std::max(result_.worst_element, error / bound);
      if (error <= bound) return;
    } else {
      result_.worst_element = std::numeric_limits<double>::infinity();
    }
    if (result_.failure.empty())
      fail(fmt::format("{} is {:.6g}, expected {:.6g} +- {:.2g}", place(inputs_, token, head, column), actual, expected,
                       bound));
  }

  void check_padding(unsigned char poison) {
    const Tensor& out = inputs_.out;
    const int bytes = element_bytes(out.type);
    const long long row_end = out.heads * out.stride_head;
    for (long long token = 0; token < out.rows; ++token)
      for (long long i = 0; i < out.stride_row; ++i)
        if ((i >= row_end || i % out.stride_head >= out.dim) &&
            !is_poison((token * out.stride_row + i) * bytes, poison))
          return fail(fmt::format("out: padding after token {} was overwritten at element {}", token, i));
  }

  bool is_poison(long long byte, unsigned char poison) const {
    return out_[static_cast<std::size_t>(byte)] == std::byte{poison};
  }

  const Inputs& inputs_;
  const Reference& expected_;
  std::span<const std::byte> out_;
  const Tolerance tolerance_;
  Comparison result_;
  double error2_ = 0, reference2_ = 0;
  std::vector<float> values_;
};

/// One case on the device.
struct Prepared {
  Prepared(const hip::Api& api, const Problem& problem, const Case& shape)
      : inputs(make_inputs(problem, shape)), expected(reference(inputs)), device(api, inputs) {}

  Inputs inputs;
  Reference expected;
  DeviceInputs device;
};

std::string first_difference(const Inputs& inputs, std::span<const std::byte> a, std::span<const std::byte> b) {
  const Tensor& out = inputs.out;
  for (long long token = 0; token < out.rows; ++token)
    for (int head = 0; head < out.heads; ++head)
      for (int d = 0; d < out.dim; ++d) {
        const long long at = out.offset(token, head) + d;
        const std::uint16_t x = load_bits(a.data(), out.type, at), y = load_bits(b.data(), out.type, at);
        if (x != y)
          return fmt::format("two runs differ: {} is {:.6g}, then {:.6g}", place(inputs, token, head, d),
                             decode(out.type, x), decode(out.type, y));
      }
  return {};
}

}  // namespace

Comparison compare(const Inputs& inputs, const Reference& expected, std::span<const std::byte> out,
                   unsigned char poison) {
  return Comparer(inputs, expected, out).run(poison);
}

struct Verifier::Impl {
  const hip::Device device;
  const Op& op;
  const Problem problem;
  const Arch arch;
  std::vector<std::unique_ptr<Prepared>> cases;

  /// One run of a case on freshly poisoned memory; returns the output and what was damaged.
  std::string run(const Prepared& prepared, const Plan& plan, const LoadedKernels& kernels, DeviceOutputs& outputs,
                  unsigned char poison, std::vector<std::byte>& out) const {
    VerifyParams params = prepared.device.params();
    outputs.bind(params);
    outputs.poison(poison);
    kernels.launch(plan, params);
    hip::check(*device.api, device.api->device_synchronize(), "run " + op.name());
    out = outputs.read_out();
    return outputs.damage();
  }

  /// The plan for this device; and, where the last kernel is then shaped otherwise, those for devices so small that any
  /// batch crowds them and so large that none does: other batches take those shapes here.
  std::vector<Plan> plans(const Case& shape, const Config& config) const {
    const int context = std::max(shape.planned_context, shape.longest_prefix());
    std::vector<Plan> all;
    for (const int cu_count : {arch.cu_count, 0, 4096}) {
      Arch device_of = arch;
      device_of.cu_count = cu_count;
      Plan plan = op.plan(problem, config, device_of, shape.batch(), context);
      const auto same = [&](const Plan& other) {
        const KernelLaunch &x = plan.launches.back(), &y = other.launches.back();
        return x.grid == y.grid && x.block == y.block;
      };
      if (std::none_of(all.begin(), all.end(), same)) all.push_back(std::move(plan));
    }
    return all;
  }

  Comparison check_case(const Prepared& prepared, const Plan& plan, const LoadedKernels& kernels) const {
    DeviceOutputs outputs(*device.api, prepared.inputs, plan);
    std::vector<std::byte> first, second;
    std::string damage = run(prepared, plan, kernels, outputs, poisons[0], first);
    Comparison result = compare(prepared.inputs, prepared.expected, first, poisons[0]);
    if (damage.empty()) damage = run(prepared, plan, kernels, outputs, poisons[1], second);
    if (!damage.empty()) result.failure = damage;
    if (result.failure.empty()) result.failure = first_difference(prepared.inputs, first, second);
    return result;
  }
};

Verifier::Verifier(const hip::Device& device, const Op& op, const Problem& problem, std::vector<Case> cases,
                   int index_bits)
    : impl_(new Impl{device, op, problem, arch_of(device), {}}) {
  for (Case& one : cases) {
    one.layout.index_bits = index_bits;
    impl_->cases.push_back(std::make_unique<Prepared>(*device.api, problem, one));
  }
}

Verifier::~Verifier() = default;
Verifier::Verifier(Verifier&&) noexcept = default;

VerifyResult Verifier::check(const Config& config, std::span<const std::byte> code) {
  const LoadedKernels kernels(*impl_->device.api, code, impl_->op.kernels());
  VerifyResult result;
  for (const auto& prepared : impl_->cases) {
    ++result.cases;
    for (const Plan& plan : impl_->plans(prepared->inputs.shape, config)) {
      const Comparison one = impl_->check_case(*prepared, plan, kernels);
      result.relative_l2 = std::max(result.relative_l2, one.relative_l2);
      result.worst_element = std::max(result.worst_element, one.worst_element);
      if (one.failure.empty()) continue;
      result.failure = prepared->inputs.shape.name + ": " + one.failure;
      return result;
    }
  }
  return result;
}

}  // namespace headtune
