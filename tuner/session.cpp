#include "tuner/session.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <type_traits>

#include "tuner/error.h"
#include "tuner/fake_compiler.h"

namespace headtune {
namespace {

const Arch& require_arch(const std::string& name) {
  std::vector<std::string> names;
  for (const Arch& arch : archs) names.emplace_back(arch.name);
  if (name.empty()) throw UsageError(fmt::format("--device none needs --arch, one of {}", fmt::join(names, ", ")));
  if (const Arch* arch = find_arch(name.c_str())) return *arch;
  throw UsageError(fmt::format("unknown architecture '{}'; known: {}", name, fmt::join(names, ", ")));
}

StoredEnvironment stored(const Environment& e) {
  return {e.provider, e.arch,    e.features, e.cu_count,  e.wave_size,  static_cast<int>(e.lds_per_workgroup),
          e.driver,   e.runtime, e.compiler, e.estimated, e.device_name};
}

StoredEnvironment no_device(const Arch& arch, const std::string& compiler) {
  return {"none", arch.name, "",       arch.cu_count, arch.wave_size, arch.lds_bytes,
          "none", "none",    compiler, false,         "no device"};
}

/// The architecture's entry with the device's own counts.
Arch arch_with(const Environment& environment) {
  const Arch* known = find_arch(environment.arch.c_str());
  if (known == nullptr) throw UnavailableError("no kernels for architecture " + environment.arch);
  Arch arch = *known;
  const auto refine = [](auto& figure, long long value) {
    if (value > 0) figure = static_cast<std::remove_reference_t<decltype(figure)>>(value);
  };
  refine(arch.cu_count, environment.cu_count);
  refine(arch.wave_size, environment.wave_size);
  refine(arch.lds_bytes, environment.lds_per_workgroup);
  refine(arch.l2_bytes, environment.l2_bytes);
  refine(arch.llc_bytes, environment.llc_bytes);
  return arch;
}

}  // namespace

Session::Session(const SessionOptions& options) {
  if (options.device == "none") {
    arch_ = require_arch(options.arch);
    target_ = options.arch;
    open_compiler(options);
    environment_ = no_device(arch_, toolchain_->version(target_));
  } else {
    open_device(options);
  }
}

void Session::open_device(const SessionOptions& options) {
  RunnerOptions runner_options;
  runner_options.device = options.device;
  runner_options.rocm = options.rocm;
  runner_options.timeout_seconds = options.timeout_seconds;
  runner_ = std::make_unique<Runner>(runner_options);
  Environment environment = runner_->environment("");
  arch_ = arch_with(environment);
  target_ = environment.arch + environment.features;
  open_compiler(options);
  environment.compiler = toolchain_ ? toolchain_->version(target_) : "scripted";
  environment_ = stored(environment);
}

Session::~Session() = default;

void Session::open_compiler(const SessionOptions& options) {
  constexpr std::string_view fake = "fake:";
  if (options.device.rfind(fake, 0) == 0) {
    scripted_ = fake_compiler(options.device.substr(fake.size()));
    return;
  }
  ToolchainOptions toolchain_options;
  toolchain_options.rocm = options.rocm;
  toolchain_options.jobs = options.jobs;
  toolchain_options.timeout_seconds = options.timeout_seconds;
  toolchain_ = std::make_unique<Toolchain>(toolchain_options);
}

CompileAll Session::compile() const {
  if (scripted_) return scripted_;
  return [toolchain = toolchain_.get()](std::span<const CompileJob> jobs,
                                        const std::function<void(std::size_t, Binary)>& done) {
    toolchain->compile_all(jobs, done);
  };
}

}  // namespace headtune
