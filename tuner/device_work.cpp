#include "tuner/device_work.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <stdexcept>

#include "tuner/hip/check.h"
#include "tuner/op_device.h"
#include "tuner/same_problem.h"

namespace headtune {
namespace {

constexpr const char* status_names[] = {"ok", "verify_failed", "device_fault", "unavailable", "crashed", "timed_out"};

double now_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// Illegal address up to launch failure: the context is lost and nothing else can run in this process.
bool is_fault(hip::Error error) {
  constexpr hip::Error out_of_resources = 701;  // a launch that asks for too much; harmless
  return error >= hip::error_illegal_address && error <= hip::error_launch_failure && error != out_of_resources;
}

std::string step_name(const TimedShape& shape) { return fmt::format("measure {}x{}", shape.batch, shape.context); }

/// Output counters and partials of one variant, large enough for every shape.
struct WorkBuffers {
  WorkBuffers(const hip::Api& api, const Plan& plan)
      : partial_out(api, plan.partial_out_bytes),
        partial_lse(api, plan.partial_lse_bytes),
        split_done(api, plan.split_done_bytes) {
    split_done.fill(0);
  }
  hip::DeviceBuffer partial_out, partial_lse, split_done;
};

/// A variant ready to be launched at one shape.
class Loaded {
 public:
  Loaded(const hip::Api& api, const VariantJob& job, const Arch& arch, const TimingInputs& inputs,
         const TimedShape& shape)
      : kernels_(api, job.code, find_op(job.op).kernels()),
        plan_(job.plan ? *job.plan : find_op(job.op).plan(job.problem, job.config, arch, shape.batch, shape.context)),
        buffers_(api, plan_) {
    for (int pool = 0; pool < inputs.pools(shape); ++pool) params_.push_back(bound(inputs.params(shape, pool)));
  }

  void enqueue(hip::Stream stream, int pool) const {
    kernels_.launch(plan_, params_[static_cast<std::size_t>(pool)], stream);
  }

 private:
  VerifyParams bound(VerifyParams params) const {
    params.partial_out = buffers_.partial_out.as<float>();
    params.partial_lse = buffers_.partial_lse.as<float>();
    params.split_done = buffers_.split_done.as<unsigned>();
    params.num_splits = plan_.num_splits;
    params.min_keys_per_split = plan_.min_keys_per_split;
    return params;
  }

  LoadedKernels kernels_;
  Plan plan_;
  WorkBuffers buffers_;
  std::vector<VerifyParams> params_;
};

}  // namespace

const char* name(RunStatus status) { return status_names[static_cast<int>(status)]; }

RunStatus parse_run_status(const std::string& text) {
  const auto found = std::find(std::begin(status_names), std::end(status_names), text);
  if (found == std::end(status_names)) throw std::invalid_argument("no run status: " + text);
  return static_cast<RunStatus>(found - std::begin(status_names));
}

struct DeviceWork::Impl {
  hip::Device device;
  Arch arch;
  long long llc_bytes;
  std::vector<TimedShape> shapes;

  // Made for one problem at a time: a sweep goes problem by problem, and its pools fill much of the device.
  std::string op;
  Problem problem;
  int index_bits = 0;
  std::optional<Verifier> verifier;
  std::optional<TimingInputs> inputs;

  void turn_to(const VariantJob& job) {
    if (op == job.op && same_problem(problem, job.problem) && index_bits == job.index_bits) return;
    verifier.reset();
    inputs.reset();
    shapes.clear();
    op = job.op, problem = job.problem, index_bits = job.index_bits;
  }

  /// Shapes named before the first is timed share one set of inputs.
  void announce(const VariantJob& job, std::span<const TimedShape> more) {
    turn_to(job);
    for (const TimedShape& shape : more)
      if (std::find(shapes.begin(), shapes.end(), shape) == shapes.end()) shapes.push_back(shape);
  }

  VerifyResult verify(const VariantJob& job) {
    turn_to(job);
    if (!verifier) verifier.emplace(device, find_op(op), problem, quick_cases(problem), index_bits);
    return verifier->check(job.config, job.code);
  }

  const TimingInputs& timing_inputs(const VariantJob& job, const TimedShape& shape) {
    announce(job, {&shape, 1});
    if (!inputs || !inputs->covers(shape)) {
      inputs.reset();  // frees its memory before the new one takes more
      inputs.emplace(*device.api, problem, shapes, index_bits, llc_bytes);
    }
    return *inputs;
  }

  std::vector<Timing> time(std::span<const VariantJob> jobs, const TimedShape& shape, MeasureOptions options) {
    const TimingInputs& data = timing_inputs(jobs.front(), shape);
    std::vector<std::unique_ptr<Loaded>> loaded;
    std::vector<Enqueue> candidates;
    for (const VariantJob& job : jobs) {
      loaded.push_back(std::make_unique<Loaded>(*device.api, job, arch, data, shape));
      candidates.push_back([one = loaded.back().get()](hip::Stream stream, int pool) { one->enqueue(stream, pool); });
    }
    options.pools = device.estimated ? 1 : data.pools(shape);
    return headtune::race(device, candidates, options);
  }

  void run(const VariantJob& job, const RunPlan& plan, const Progress& progress, RunOutcome& outcome) {
    if (plan.verify) {
      progress("verify");
      const double start = now_seconds();
      outcome.verification = verify(job);
      outcome.verify_seconds = now_seconds() - start;
      if (!outcome.verification.passed()) {
        outcome.status = RunStatus::verify_failed;
        outcome.reason = outcome.verification.failure;
        return;
      }
    }
    const double start = now_seconds();
    announce(job, plan.inputs_for);
    announce(job, plan.shapes);
    for (const TimedShape& shape : plan.shapes) {
      progress(step_name(shape));
      outcome.timings.push_back({shape, time({&job, 1}, shape, plan.measure).front()});
    }
    outcome.measure_seconds = now_seconds() - start;
  }
};

namespace {

/// Turns what a variant did wrong into its outcome.
template <class Work>
void guarded(const hip::Device& device, RunOutcome& outcome, Work&& work) {
  try {
    work();
  } catch (const hip::DeviceError& error) {
    outcome.status = is_fault(error.code) ? RunStatus::device_fault : RunStatus::unavailable;
    outcome.reason = error.what();
    const bool told = device.fault_text && (is_fault(error.code) || error.code == hip::error_invalid_image);
    if (const std::string detail = told ? device.fault_text() : ""; !detail.empty()) outcome.reason += "; " + detail;
  }
}

}  // namespace

DeviceWork::DeviceWork(hip::Device device, long long llc_bytes)
    : impl_(new Impl{.device = device,
                     .arch = arch_of(device),
                     .llc_bytes = device.estimated ? 0 : llc_bytes,
                     .shapes = {},
                     .op = {},
                     .problem = {},
                     .verifier = {},
                     .inputs = {}}) {}

DeviceWork::~DeviceWork() = default;

RunOutcome DeviceWork::run(const VariantJob& job, const RunPlan& plan, const Progress& progress) {
  RunOutcome outcome;
  const Progress quiet = [](const std::string&) {};
  guarded(impl_->device, outcome, [&] { impl_->run(job, plan, progress ? progress : quiet, outcome); });
  return outcome;
}

std::vector<RunOutcome> DeviceWork::race(std::span<const VariantJob> jobs, const TimedShape& shape,
                                         const MeasureOptions& measure, const Progress& progress) {
  std::vector<RunOutcome> outcomes(jobs.size());
  RunOutcome whole;
  if (progress) progress(step_name(shape));
  guarded(impl_->device, whole, [&] {
    const auto timings = impl_->time(jobs, shape, measure);
    for (std::size_t i = 0; i < jobs.size(); ++i) outcomes[i].timings = {{shape, timings[i]}};
  });
  for (RunOutcome& outcome : outcomes) outcome.status = whole.status, outcome.reason = whole.reason;
  return outcomes;
}

}  // namespace headtune
