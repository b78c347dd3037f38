#include "tuner/runner.h"

#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>

#include <chrono>
#include <map>
#include <optional>

#include "tuner/error.h"
#include "tuner/hip/provider.h"
#include "tuner/runner_wire.h"
#include "tuner/toolchain/child_process.h"
#include "tuner/toolchain/wire.h"

namespace headtune {
namespace {

using nlohmann::json;
using Clock = std::chrono::steady_clock;
using toolchain::ChildProcess;

std::vector<std::string> child_command(const RunnerOptions& options) {
  std::vector<std::string> command = options.command;
  if (command.empty()) command = {std::filesystem::read_symlink("/proc/self/exe").string(), "runner"};
  command.insert(command.end(), {"--device", options.device});
  if (!options.rocm.empty()) command.insert(command.end(), {"--rocm", options.rocm.string()});
  return command;
}

std::string last_line(const std::string& text) {
  const auto end = text.find_last_not_of("\r\n");
  if (end == std::string::npos) return "";
  const auto begin = text.find_last_of('\n', end);
  return text.substr(begin == std::string::npos ? 0 : begin + 1,
                     end - (begin == std::string::npos ? 0 : begin + 1) + 1);
}

/// How a child that gave no answer ended.
struct Death {
  RunStatus status;
  std::string reason;
};

/// One runner process at a time, started when needed.
class Child {
 public:
  explicit Child(const RunnerOptions& options) : command_(child_command(options)), timeout_(options.timeout_seconds) {}

  /// The body of the answer, or how the child died.
  std::optional<json> request(const json& message, Death& death) {
    if (!process_ || !process_->alive()) process_ = std::make_unique<ChildProcess>(command_);
    process_->send(wire::to_line(message));
    step_ = "start";
    extend_deadline();
    return await(death);
  }

  void discard() { process_.reset(); }

 private:
  void extend_deadline() { deadline_ = Clock::now() + std::chrono::duration_cast<Clock::duration>(timeout_); }

  std::optional<json> await(Death& death) {
    while (true) {
      const bool open = process_->read_available();
      while (auto line = process_->next_line()) {
        json answer = json::parse(*line);
        if (!answer.contains("step")) return answer;
        step_ = answer["step"];
        extend_deadline();
      }
      if (!open || Clock::now() >= deadline_) {
        death = bury(!open);
        return std::nullopt;
      }
      wait();
    }
  }

  void wait() const {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline_ - Clock::now()).count();
    pollfd descriptors[] = {{process_->answers(), POLLIN, 0}, {process_->errors(), POLLIN, 0}};
    poll(descriptors, 2, static_cast<int>(std::max<long long>(left, 0)));
  }

  Death bury(bool ended) {
    const int status = process_->finish(!ended);
    process_->read_available();
    const std::string said = last_line(process_->take_errors());
    process_.reset();
    const std::string tail = said.empty() ? "" : ": " + said;
    if (!ended)
      return {RunStatus::timed_out, fmt::format("killed after {:g} s in step {}{}", timeout_.count(), step_, tail)};
    const int signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    const std::string how =
        signal ? fmt::format("signal {} ({})", signal, strsignal(signal)) : fmt::format("exit {}", WEXITSTATUS(status));
    return {RunStatus::crashed, fmt::format("{} in step {}{}", how, step_, tail)};
  }

  std::vector<std::string> command_;
  std::chrono::duration<double> timeout_;
  std::unique_ptr<ChildProcess> process_;
  Clock::time_point deadline_;
  std::string step_;
};

bool ends_process(RunStatus status) {
  return status == RunStatus::crashed || status == RunStatus::timed_out || status == RunStatus::device_fault;
}

std::size_t code_hash(const VariantJob& job) {
  return std::hash<std::string_view>{}({reinterpret_cast<const char*>(job.code.data()), job.code.size()});
}

}  // namespace

struct Runner::Impl {
  explicit Impl(RunnerOptions given) : options(std::move(given)), child(options) {}

  RunnerOptions options;
  Child child;
  std::unique_ptr<DeviceWork> local;  ///< not isolated
  Environment local_environment;
  std::map<std::size_t, RunOutcome> quarantine;
  int restarts = 0;

  DeviceWork& work() {
    if (!local) {
      hip::ProviderOptions providers;
      providers.rocm = options.rocm;
      const hip::Device device = hip::open_device(options.device, providers);
      local_environment = read_environment(device, "");
      local = std::make_unique<DeviceWork>(device, local_environment.llc_bytes);
    }
    return *local;
  }

  json ask(const json& message, Death& death) {
    const auto answer = child.request(message, death);
    if (!answer) return nullptr;
    if (answer->contains("failed"))
      throw Failure(static_cast<Exit>(answer->at("exit").get<int>()), answer->at("failed").get<std::string>());
    return answer->at("outcome");
  }

  std::vector<RunOutcome> outcomes(const json& message, std::size_t count) {
    Death death{};
    const json list = ask(message, death);
    std::vector<RunOutcome> result;
    if (list.is_null()) {
      RunOutcome dead;
      dead.status = death.status, dead.reason = death.reason;
      result.assign(count, dead);
    } else {
      for (const json& one : list) result.push_back(wire::outcome_from_json(one));
    }
    if (result.front().status == RunStatus::device_fault) child.discard();  // it is about to end
    if (ends_process(result.front().status)) ++restarts;
    return result;
  }

  RunOutcome run(const VariantJob& job, const RunPlan& plan) {
    if (!options.isolated) return work().run(job, plan);
    return outcomes({{"do", "run"}, {"jobs", {wire::to_json(job)}}, {"plan", wire::to_json(plan)}}, 1).front();
  }
};

Runner::Runner(RunnerOptions options) : impl_(std::make_unique<Impl>(std::move(options))) {}
Runner::~Runner() = default;
Runner::Runner(Runner&&) noexcept = default;
Runner& Runner::operator=(Runner&&) noexcept = default;

int Runner::restarts() const { return impl_->restarts; }

Environment Runner::environment(const std::string& compiler) {
  Environment environment;
  if (impl_->options.isolated) {
    Death death{};
    const json answer = impl_->ask({{"do", "environment"}}, death);
    if (answer.is_null()) throw UnavailableError(impl_->options.device + ": opening the device: " + death.reason);
    environment = wire::environment_from_json(answer);
  } else {
    impl_->work();
    environment = impl_->local_environment;
  }
  environment.compiler = compiler;
  return environment;
}

RunOutcome Runner::run(const VariantJob& job, const RunPlan& plan) {
  const std::size_t key = code_hash(job);
  if (const auto earlier = impl_->quarantine.find(key); earlier != impl_->quarantine.end()) return earlier->second;
  RunOutcome outcome = impl_->run(job, plan);
  if (ends_process(outcome.status)) {
    RunOutcome& kept = impl_->quarantine[key];
    kept.status = outcome.status;
    kept.reason = "quarantined: " + outcome.reason;
  }
  return outcome;
}

std::vector<RunOutcome> Runner::race(std::span<const VariantJob> jobs, const TimedShape& shape,
                                     const MeasureOptions& measure) {
  if (!impl_->options.isolated) return impl_->work().race(jobs, shape, measure);
  json list = json::array();
  for (const VariantJob& job : jobs) list.push_back(wire::to_json(job));
  return impl_->outcomes(
      {{"do", "race"}, {"jobs", list}, {"shape", wire::to_json(shape)}, {"measure", wire::to_json(measure)}},
      jobs.size());
}

}  // namespace headtune
