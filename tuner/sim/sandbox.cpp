#include "tuner/sim/sandbox.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <type_traits>

namespace headtune::sim {
namespace {

static_assert(std::is_trivially_copyable_v<Estimate>);

void write_all(int descriptor, const void* data, std::size_t bytes) {
  const auto* at = static_cast<const char*>(data);
  while (bytes > 0) {
    const ssize_t count = write(descriptor, at, bytes);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) _exit(1);
    at += count;
    bytes -= static_cast<std::size_t>(count);
  }
}

std::string read_all(int descriptor) {
  std::string result;
  std::array<char, 4096> block;
  while (true) {
    const ssize_t count = read(descriptor, block.data(), block.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return result;
    result.append(block.data(), static_cast<std::size_t>(count));
  }
}

struct FaultHeader {
  int lane = -1;
  std::uint64_t address = 0, pc = 0;
  std::size_t what_bytes = 0;
};

/// First byte: 'e' with an Estimate, or 'f' with a FaultHeader, the fault's words and its instruction.
[[noreturn]] void child(const std::function<Estimate()>& work, int out) {
  try {
    const Estimate estimate = work();
    write_all(out, "e", 1);
    write_all(out, &estimate, sizeof estimate);
  } catch (const Fault& fault) {
    const std::string what = fault.what();
    const FaultHeader header{fault.lane, fault.address, fault.pc, what.size()};
    write_all(out, "f", 1);
    write_all(out, &header, sizeof header);
    write_all(out, what.data(), what.size());
    write_all(out, fault.text.data(), fault.text.size());
  } catch (const std::exception& error) {
    const FaultHeader header{-1, 0, 0, std::strlen(error.what())};
    write_all(out, "f", 1);
    write_all(out, &header, sizeof header);
    write_all(out, error.what(), std::strlen(error.what()));
  }
  _exit(0);
}

[[noreturn]] void rethrow(const std::string& message) {
  FaultHeader header;
  if (message.size() < 1 + sizeof header) throw Fault("the cycle model's process died");
  std::memcpy(&header, message.data() + 1, sizeof header);
  Fault fault(message.substr(1 + sizeof header, header.what_bytes), header.lane, header.address);
  fault.pc = header.pc;
  fault.text = message.substr(1 + sizeof header + header.what_bytes);
  throw fault;
}

}  // namespace

Estimate in_sandbox(const std::function<Estimate()>& work) {
  std::array<int, 2> pipe_ends;
  // Closed on exec: a compile process that starts meanwhile must not keep the pipe open.
  if (pipe2(pipe_ends.data(), O_CLOEXEC) != 0) throw Fault(fmt::format("no pipe: {}", std::strerror(errno)));
  const pid_t pid = fork();
  if (pid == 0) child(work, pipe_ends[1]);
  close(pipe_ends[1]);
  if (pid < 0) {
    close(pipe_ends[0]);
    throw Fault(fmt::format("no process for the cycle model: {}", std::strerror(errno)));
  }
  const std::string message = read_all(pipe_ends[0]);
  close(pipe_ends[0]);
  while (waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
  }
  if (message.empty() || message[0] != 'e' || message.size() != 1 + sizeof(Estimate)) rethrow(message);
  Estimate result;
  std::memcpy(&result, message.data() + 1, sizeof result);
  return result;
}

}  // namespace headtune::sim
