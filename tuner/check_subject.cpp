#include "tuner/check_subject.h"

#include <fmt/format.h>

namespace headtune {
namespace {

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

}  // namespace

std::optional<CheckFailure> failure_of(const Binary& binary) {
  switch (binary.status) {
    case CompileStatus::ok:
      return std::nullopt;
    case CompileStatus::error: {
      const auto error = binary.log.find("error:");
      return CheckFailure{Verdict::regress, "no longer compiles: " +
                                                first_line(binary.log.substr(error == std::string::npos ? 0 : error))};
    }
    case CompileStatus::crashed:
      return CheckFailure{Verdict::regress,
                          fmt::format("no longer compiles: compiler ended by signal {}", binary.signal)};
    case CompileStatus::timed_out:  // of this machine, not of the kernel
      return CheckFailure{Verdict::no_verdict, "the compiler was killed after its time limit; raise --timeout"};
  }
  return std::nullopt;
}

std::optional<CheckFailure> failure_of(const RunOutcome& outcome) {
  switch (outcome.status) {
    case RunStatus::ok:
      return std::nullopt;
    case RunStatus::verify_failed:
      return CheckFailure{Verdict::regress, "verification failed: " + outcome.reason};
    case RunStatus::device_fault:
      return CheckFailure{Verdict::regress, "device fault: " + outcome.reason};
    case RunStatus::crashed:
      return CheckFailure{Verdict::regress, "crashed: " + outcome.reason};
    case RunStatus::timed_out:
      return CheckFailure{Verdict::no_verdict, "timed out: " + outcome.reason + "; raise --timeout"};
    case RunStatus::unavailable:
      return CheckFailure{Verdict::no_verdict, "the device could not run it: " + outcome.reason};
  }
  return std::nullopt;
}

}  // namespace headtune
