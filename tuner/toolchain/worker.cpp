#include "tuner/toolchain/worker.h"

#include <fmt/format.h>
#include <signal.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstring>

#include "tuner/toolchain/wire.h"

namespace headtune::toolchain {
namespace {

using Clock = std::chrono::steady_clock;

Reply parse_reply(const std::string& line) {
  Reply reply;
  try {
    reply.body = nlohmann::json::parse(line);
    reply.status = reply.body.at("status");
  } catch (const nlohmann::json::exception& error) {
    reply = {"error", nullptr, fmt::format("the compile process sent no valid answer: {}", error.what()), 0};
  }
  return reply;
}

}  // namespace

Worker::Worker(std::vector<std::string> command, double timeout_seconds)
    : command_(std::move(command)), timeout_(timeout_seconds) {}

void Worker::start(const nlohmann::json& request) {
  if (!child_ || !child_->alive()) child_ = std::make_unique<ChildProcess>(command_);
  busy_ = true;
  deadline_ = Clock::now() + std::chrono::duration_cast<Clock::duration>(timeout_);
  child_->send(wire::to_line(request));
}

std::optional<Reply> Worker::poll_reply() {
  const bool open = child_->read_available();
  if (auto line = child_->next_line()) {
    busy_ = false;
    return parse_reply(*line);
  }
  if (!open) return end_child(false);
  if (Clock::now() >= deadline_) return end_child(true);
  return std::nullopt;
}

Reply Worker::end_child(bool timed_out) {
  const int status = child_->finish(timed_out);
  child_->read_available();
  const std::string errors = child_->take_errors();
  child_.reset();
  busy_ = false;
  if (timed_out)
    return {"timed_out", nullptr, fmt::format("killed after {:g} s\n{}", timeout_.count(), errors), SIGKILL};
  const int signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  const std::string how =
      signal ? fmt::format("signal {} ({})", signal, strsignal(signal)) : fmt::format("exit {}", WEXITSTATUS(status));
  return {"crashed", nullptr, fmt::format("the compile process ended by {}\n{}", how, errors), signal};
}

void Worker::reset() {
  child_.reset();
  busy_ = false;
}

Reply Worker::call(const nlohmann::json& request) {
  start(request);
  while (true) {
    wait_for_any({this});
    if (auto reply = poll_reply()) return *reply;
  }
}

void Worker::add_descriptors(std::vector<pollfd>& descriptors) const {
  descriptors.push_back({child_->answers(), POLLIN, 0});
  descriptors.push_back({child_->errors(), POLLIN, 0});
}

int Worker::milliseconds_left() const {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline_ - Clock::now()).count();
  return static_cast<int>(std::clamp<long long>(left, 0, 1 << 30));
}

void wait_for_any(const std::vector<Worker*>& workers) {
  std::vector<pollfd> descriptors;
  int timeout = -1;
  for (const Worker* worker : workers) {
    if (!worker->busy()) continue;
    worker->add_descriptors(descriptors);
    timeout = timeout < 0 ? worker->milliseconds_left() : std::min(timeout, worker->milliseconds_left());
  }
  poll(descriptors.data(), descriptors.size(), timeout);
}

}  // namespace headtune::toolchain
