#include "tuner/engine/engine.h"

#include <fmt/format.h>

#include "codegen/render.h"
#include "tables/tables.h"
#include "tuner/error.h"
#include "tuner/op_device.h"
#include "tuner/space.h"
#include "tuner/toolchain.h"
#include "tuner/verify.h"

namespace headtune {
namespace {

/// Kernels need 16-byte aligned partials; 256 keeps each part on cache lines of its own.
constexpr std::size_t workspace_alignment = 256;

std::size_t aligned(std::size_t bytes) {
  return (bytes + workspace_alignment - 1) / workspace_alignment * workspace_alignment;
}

/// Where the parts of a workspace begin. The counters come first: their size depends on the batch alone, so one
/// clearing of the largest workspace is valid for every smaller batch.
struct WorkspaceParts {
  std::size_t partial_lse, partial_out, total;

  explicit WorkspaceParts(const Plan& plan)
      : partial_lse(aligned(plan.split_done_bytes)),
        partial_out(partial_lse + aligned(plan.partial_lse_bytes)),
        total(partial_out + aligned(plan.partial_out_bytes)) {}
};

ToolchainOptions toolchain_near(const std::filesystem::path& near) {
  ToolchainOptions options;
  options.jobs = 1;
  if (!near.empty()) options.program = near / "headtune-toolchain";
  return options;
}

Binary compile_or_throw(Toolchain& toolchain, const std::string& op, const Problem& problem, const Config& config,
                        const std::string& target, int index_bits) {
  const CompileJob job{render(op, problem, config, index_bits), target, compile_options(target, templates_dir())};
  Binary binary = toolchain.compile(job);
  if (binary.status != CompileStatus::ok)
    throw CompileFailed(fmt::format("{} for {} does not compile: {}", op, target, binary.log));
  return binary;
}

/// The kernels' device is the thread's current one while this lives; the caller may work on another.
class OnDevice {
 public:
  explicit OnDevice(const hip::Device& device) : api_(*device.api) {
    hip::check(api_, api_.get_device(&before_), "hipGetDevice");
    hip::check(api_, api_.set_device(device.ordinal), "hipSetDevice");
    changed_ = before_ != device.ordinal;
  }
  ~OnDevice() {
    if (changed_) api_.set_device(before_);
  }
  OnDevice(const OnDevice&) = delete;
  OnDevice& operator=(const OnDevice&) = delete;

 private:
  const hip::Api& api_;
  int before_ = 0;
  bool changed_ = false;
};

}  // namespace

/// One operator's kernels with the configuration they were built for.
struct LoadedOp {
  const Op& op;
  Config config;
  LoadedKernels kernels;
};

struct Engine::Impl {
  hip::Device device;
  Arch arch;
  Problem problem;
  int max_context;
  std::string description;
  std::unique_ptr<LoadedOp> verify_shared_kv, extend_attention;

  Plan plan(const LoadedOp& loaded, int batch) const {
    return loaded.op.plan(problem, loaded.config, arch, batch, max_context);
  }

  std::unique_ptr<LoadedOp> load(Toolchain& toolchain, const std::string& name, const Config& config, int index_bits) {
    const Op& op = find_op(name);
    const Binary binary = compile_or_throw(toolchain, name, problem, config, device.target, index_bits);
    return std::make_unique<LoadedOp>(LoadedOp{op, config, LoadedKernels(*device.api, binary.code, op.kernels())});
  }
};

Engine::Engine(const std::string& device, const Problem& problem, int index_bits, int max_context,
               const std::filesystem::path& near)
    : impl_(std::make_unique<Impl>()) {
  validate(problem);
  Impl& impl = *impl_;
  impl.device = hip::open_device(device);
  impl.arch = arch_of(impl.device);
  impl.problem = problem;
  impl.max_context = max_context;
  Toolchain toolchain(toolchain_near(near));
  const DeviceKey key{impl.device.target.c_str(), impl.arch.cu_count, impl.arch.wave_size};
  const Match match = tables::lookup(problem, key, max_context);
  impl.verify_shared_kv = impl.load(toolchain, "verify_shared_kv", match.config, index_bits);
  if (const auto fallback = extend_config(problem, impl.arch, templates_dir()))
    impl.extend_attention = impl.load(toolchain, "extend_attention", *fallback, index_bits);
  impl.description =
      fmt::format("{} {} with {} ({}), {}", impl.device.spec, impl.device.target, to_string(match.config),
                  match_level_text(match.level), toolchain.version(impl.device.target));
}

Engine::~Engine() {
  if (!impl_) return;
  int before = 0;  // unloading wants the device current; a destructor cannot report that it is lost
  const hip::Api& api = *impl_->device.api;
  const bool known = api.get_device(&before) == hip::success && api.set_device(impl_->device.ordinal) == hip::success;
  impl_.reset();
  if (known) api.set_device(before);
}

std::size_t Engine::workspace_bytes(int batch) const {
  return WorkspaceParts(impl_->plan(*impl_->verify_shared_kv, batch)).total;
}

void Engine::clear_workspace(void* workspace, std::size_t bytes, hip::Stream stream) const {
  const OnDevice current(impl_->device);
  const hip::Api& api = *impl_->device.api;
  hip::check(api, api.memset_async(workspace, 0, bytes, stream), "hipMemsetAsync(workspace)");
}

void Engine::verify_shared_kv(VerifyParams params, void* workspace, std::size_t bytes, hip::Stream stream) const {
  const LoadedOp& loaded = *impl_->verify_shared_kv;
  const Plan plan = impl_->plan(loaded, params.batch);
  const WorkspaceParts parts(plan);
  if (bytes < parts.total)
    throw WorkspaceTooSmall(
        fmt::format("batch {} needs {} bytes of workspace, got {}", params.batch, parts.total, bytes));
  char* base = static_cast<char*>(workspace);
  params.split_done = reinterpret_cast<unsigned*>(base);
  params.partial_lse = reinterpret_cast<float*>(base + parts.partial_lse);
  params.partial_out = reinterpret_cast<float*>(base + parts.partial_out);
  params.num_splits = plan.num_splits;
  params.min_keys_per_split = plan.min_keys_per_split;
  const OnDevice current(impl_->device);
  loaded.kernels.launch(plan, params, stream);
}

void Engine::extend_attention(const VerifyParams& params, hip::Stream stream) const {
  if (!impl_->extend_attention) throw UsageError("extend_attention does not compute this problem");
  const LoadedOp& loaded = *impl_->extend_attention;
  const OnDevice current(impl_->device);
  loaded.kernels.launch(impl_->plan(loaded, params.batch), params, stream);
}

const std::string& Engine::description() const { return impl_->description; }

}  // namespace headtune
