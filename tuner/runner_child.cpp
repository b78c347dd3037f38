// The runner process's side of tuner/runner.h.
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cstdio>
#include <iostream>
#include <optional>

#include "tuner/error.h"
#include "tuner/hip/provider.h"
#include "tuner/runner.h"
#include "tuner/runner_wire.h"
#include "tuner/toolchain/wire.h"

namespace headtune {
namespace {

using nlohmann::json;

/// Answers go to a private copy of standard output; what libraries print goes to standard error.
class Answers {
 public:
  Answers() : out_(fdopen(dup(STDOUT_FILENO), "w")) { dup2(STDERR_FILENO, STDOUT_FILENO); }
  ~Answers() { std::fclose(out_); }
  void send(const json& answer) const {
    const std::string line = wire::to_line(answer) + "\n";
    std::fwrite(line.data(), 1, line.size(), out_);
    std::fflush(out_);
  }

 private:
  std::FILE* out_;
};

class Service {
 public:
  Service(std::string device, std::filesystem::path rocm) : device_(std::move(device)), rocm_(std::move(rocm)) {}

  /// False when the device's context is lost and the process must end.
  bool answer(const json& request, const Answers& answers) {
    open();
    const auto progress = [&](const std::string& step) { answers.send({{"step", step}}); };
    if (request.at("do") == "environment") {
      answers.send({{"outcome", wire::to_json(*environment_)}});
      return true;
    }
    const auto outcomes = work(request, progress);
    json list = json::array();
    for (const RunOutcome& outcome : outcomes) list.push_back(wire::to_json(outcome));
    answers.send({{"outcome", list}});
    return outcomes.front().status != RunStatus::device_fault;
  }

 private:
  /// At the first request, so that what is wrong with the device becomes an answer.
  void open() {
    if (work_) return;
    hip::ProviderOptions options;
    options.rocm = rocm_;
    const hip::Device device = hip::open_device(device_, options);
    environment_ = read_environment(device, "");
    work_.emplace(device, environment_->llc_bytes);
  }

  std::vector<RunOutcome> work(const json& request, const DeviceWork::Progress& progress) {
    std::vector<VariantJob> jobs;
    for (const json& job : request.at("jobs")) jobs.push_back(wire::job_from_json(job));
    if (request.at("do") == "run")
      return {work_->run(jobs.front(), wire::plan_from_json(request.at("plan")), progress)};
    return work_->race(jobs, wire::shape_from_json(request.at("shape")), wire::measure_from_json(request.at("measure")),
                       progress);
  }

  std::string device_;
  std::filesystem::path rocm_;
  std::optional<Environment> environment_;
  std::optional<DeviceWork> work_;
};

/// Ctrl-C reaches the whole process group; the parent decides. A hung child must not outlive a killed parent.
void attach_to_parent() {
  signal(SIGINT, SIG_IGN);
  const pid_t parent = getppid();
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) std::_Exit(1);
}

}  // namespace

int serve_runner(const std::string& device, const std::filesystem::path& rocm) {
  attach_to_parent();
  const Answers answers;
  Service service(device, rocm);
  for (std::string line; std::getline(std::cin, line);) {
    try {
      if (!service.answer(json::parse(line), answers)) std::_Exit(0);  // destructors would call into a lost context
    } catch (const Failure& failure) {
      answers.send({{"failed", failure.what()}, {"exit", static_cast<int>(failure.code())}});
    } catch (const std::exception& error) {
      answers.send({{"failed", error.what()}, {"exit", static_cast<int>(Exit::unavailable)}});
    }
  }
  return 0;
}

}  // namespace headtune
