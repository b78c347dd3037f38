// A compile process that is started when first needed, does one request at a time and is replaced after it dies.
#pragma once

#include <poll.h>

#include <chrono>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "tuner/toolchain.h"
#include "tuner/toolchain/child_process.h"

namespace headtune::toolchain {

/// How a request ended. `status` is what the child said (ok, error, unavailable) or crashed / timed_out.
struct Reply {
  std::string status;
  nlohmann::json body;  ///< the child's answer; null when it gave none
  std::string log;      ///< what is known about a child that gave no answer
  int signal = 0;
};

class Worker {
 public:
  Worker(std::vector<std::string> command, double timeout_seconds);

  bool busy() const { return busy_; }
  void start(const nlohmann::json& request);
  /// The reply when there is one. Kills the child that is past its time.
  std::optional<Reply> poll_reply();
  /// Kills the child, if any, and forgets its request.
  void reset();
  /// Runs one request to its end.
  Reply call(const nlohmann::json& request);

  void add_descriptors(std::vector<pollfd>& descriptors) const;
  int milliseconds_left() const;

 private:
  Reply end_child(bool timed_out);

  std::vector<std::string> command_;
  std::chrono::duration<double> timeout_;
  std::unique_ptr<ChildProcess> child_;
  std::chrono::steady_clock::time_point deadline_;
  bool busy_ = false;
};

/// Blocks until one of the busy workers has something to read or is past its time.
void wait_for_any(const std::vector<Worker*>& workers);

}  // namespace headtune::toolchain
