// One headtune-toolchain process and its three pipes.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

namespace headtune::toolchain {

class ChildProcess {
 public:
  /// Throws UnavailableError when the program cannot be started.
  explicit ChildProcess(const std::vector<std::string>& command);
  ~ChildProcess();  ///< kills and reaps
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  bool alive();

  /// Writes a line; a child that has died is noticed by the next read.
  void send(const std::string& line);

  int answers() const { return answers_; }  ///< to poll for reading
  int errors() const { return errors_; }    ///< to poll for reading

  /// Takes what has arrived without blocking. False when the child has closed its side.
  bool read_available();
  std::optional<std::string> next_line();
  /// What the child wrote to standard error since the last call, at most the last 8 KiB.
  std::string take_errors();

  /// SIGKILL and reap, or reap when it has ended already; the wait status.
  int finish(bool kill);

 private:
  pid_t pid_ = -1;
  int requests_ = -1, answers_ = -1, errors_ = -1;
  std::string received_, error_text_;
};

}  // namespace headtune::toolchain
