#include "tuner/toolchain/child_process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "tuner/error.h"

namespace headtune::toolchain {
namespace {

constexpr std::size_t error_tail_bytes = 8192;

struct Pair {
  int mine, theirs;
};

/// Both ends close on exec, so that no other child keeps a pipe of this one open. A socket pair instead of a pipe lets
/// send() suppress SIGPIPE.
Pair make_pair() {
  std::array<int, 2> ends;
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    throw UnavailableError(std::string("cannot make a pipe to the compile process: ") + std::strerror(errno));
  }
  return {ends[0], ends[1]};
}

/// True while the descriptor is open.
bool drain(int descriptor, std::string& into) {
  std::array<char, 65536> block;
  while (true) {
    const ssize_t count = recv(descriptor, block.data(), block.size(), MSG_DONTWAIT);
    if (count > 0) {
      into.append(block.data(), static_cast<std::size_t>(count));
    } else if (count < 0 && errno == EINTR) {
      continue;
    } else {
      return count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK);
    }
  }
}

pid_t spawn(const std::vector<std::string>& command, int input, int output, int errors) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, errors, STDERR_FILENO);
  std::vector<char*> arguments;
  for (const std::string& argument : command) arguments.push_back(const_cast<char*>(argument.c_str()));
  arguments.push_back(nullptr);
  pid_t pid = -1;
  const int result = posix_spawn(&pid, arguments[0], &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (result != 0) throw UnavailableError("cannot start " + command.front() + ": " + std::strerror(result));
  return pid;
}

}  // namespace

ChildProcess::ChildProcess(const std::vector<std::string>& command) {
  const Pair requests = make_pair(), answers = make_pair(), errors = make_pair();
  requests_ = requests.mine, answers_ = answers.mine, errors_ = errors.mine;
  try {
    pid_ = spawn(command, requests.theirs, answers.theirs, errors.theirs);
  } catch (...) {
    for (int end : {requests.mine, answers.mine, errors.mine}) close(end);
    for (int end : {requests.theirs, answers.theirs, errors.theirs}) close(end);
    throw;
  }
  for (int end : {requests.theirs, answers.theirs, errors.theirs}) close(end);
}

ChildProcess::~ChildProcess() {
  finish(true);
  for (int end : {requests_, answers_, errors_}) close(end);
}

bool ChildProcess::alive() {
  siginfo_t state{};
  return pid_ > 0 && waitid(P_PID, static_cast<id_t>(pid_), &state, WEXITED | WNOHANG | WNOWAIT) == 0 &&
         state.si_pid == 0;
}

void ChildProcess::send(const std::string& line) {
  const std::string bytes = line + "\n";
  for (std::size_t at = 0; at < bytes.size();) {
    const ssize_t count = ::send(requests_, bytes.data() + at, bytes.size() - at, MSG_NOSIGNAL);
    if (count < 0 && errno != EINTR) return;
    if (count > 0) at += static_cast<std::size_t>(count);
  }
}

bool ChildProcess::read_available() {
  drain(errors_, error_text_);
  if (error_text_.size() > error_tail_bytes) error_text_.erase(0, error_text_.size() - error_tail_bytes);
  return drain(answers_, received_);
}

std::optional<std::string> ChildProcess::next_line() {
  const auto end = received_.find('\n');
  if (end == std::string::npos) return std::nullopt;
  std::string line = received_.substr(0, end);
  received_.erase(0, end + 1);
  return line;
}

std::string ChildProcess::take_errors() { return std::exchange(error_text_, {}); }

int ChildProcess::finish(bool kill) {
  if (pid_ < 0) return 0;
  if (kill) ::kill(pid_, SIGKILL);
  int status = 0;
  while (waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
  pid_ = -1;
  return status;
}

}  // namespace headtune::toolchain
