// Errors that end a command: one line for the user and the exit code that goes with it.
#pragma once

#include <stdexcept>
#include <string>

namespace headtune {

/// Process exit codes; scripts and CI rely on them (docs/cli.md).
enum class Exit : int { ok = 0, regress = 1, usage = 2, no_verdict = 3, unavailable = 4, interrupted = 130 };

/// One line: what was wrong, where, what to do.
class Failure : public std::runtime_error {
 public:
  Failure(Exit code, const std::string& message) : std::runtime_error(message), code_(code) {}
  Exit code() const { return code_; }

 private:
  Exit code_;
};

/// Bad input: exit 2.
struct UsageError : Failure {
  explicit UsageError(const std::string& message) : Failure(Exit::usage, message) {}
};

/// No compiler, no device, no permission: exit 4.
struct UnavailableError : Failure {
  explicit UnavailableError(const std::string& message) : Failure(Exit::unavailable, message) {}
};

}  // namespace headtune
