#include "tuner/outcome.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "tuner/op.h"
#include "tuner/tolerance.h"

namespace headtune {

Status status_of(const Binary& binary) {
  switch (binary.status) {
    case CompileStatus::ok:
      return Status::compiled;
    case CompileStatus::error:
      return Status::compile_error;
    case CompileStatus::crashed:
      return Status::compile_crashed;
    case CompileStatus::timed_out:
      return Status::compile_timed_out;
  }
  return Status::compile_error;
}

Status status_of(RunStatus status) {
  switch (status) {
    case RunStatus::ok:
      return Status::verified;
    case RunStatus::verify_failed:
      return Status::verify_failed;
    case RunStatus::device_fault:
      return Status::device_fault;
    case RunStatus::unavailable:
      return Status::unavailable;
    case RunStatus::crashed:
      return Status::crashed;
    case RunStatus::timed_out:
      return Status::timed_out;
  }
  return Status::crashed;
}

std::string reason_of(const Binary& binary) {
  if (binary.status == CompileStatus::crashed) return fmt::format("compiler ended by signal {}", binary.signal);
  if (binary.status == CompileStatus::timed_out) return "compiler killed after its time limit";
  const auto error = binary.log.find("error:");
  return binary.status == CompileStatus::ok ? "" : binary.log.substr(error == std::string::npos ? 0 : error, 400);
}

StoredTiming stored(const ShapeTiming& shape, const Problem& problem, bool estimated) {
  const Timing& t = shape.timing;
  const Case work = uniform_case("", shape.shape.batch, shape.shape.context, problem.extend_len);
  return {shape.shape.context,
          shape.shape.batch,
          t.method,
          t.median_us,
          t.interval.low,
          t.interval.high,
          static_cast<long long>(byte_floor(problem, work)),
          t.clock_mhz,
          t.flags(),
          estimated,
          t.samples_us,
          t.counters};
}

double error_bound(const Problem& problem) {
  int keys = 1;
  for (const Case& shape : quick_cases(problem)) keys = std::max(keys, shape.longest_prefix() + problem.extend_len);
  return relative_l2_bound(tolerance(problem, keys));
}

std::vector<PrunedReason> by_reason(const std::vector<Pruned>& pruned) {
  std::map<std::string, PrunedReason> reasons;
  for (const Pruned& one : pruned) ++reasons.try_emplace(one.reason, one.reason, 0, one.config).first->second.count;
  std::vector<PrunedReason> sorted;
  for (const auto& [text, reason] : reasons) sorted.push_back(reason);
  std::stable_sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) { return a.count > b.count; });
  return sorted;
}

std::string defines_of(const std::string& source, const std::vector<std::string>& options) {
  std::string defines;
  constexpr std::string_view mark = "static constexpr int ";
  for (std::size_t at = 0; (at = source.find(mark, at)) != std::string::npos;) {
    at += mark.size();
    std::string constant = source.substr(at, source.find(';', at) - at);
    constant.erase(std::remove(constant.begin(), constant.end(), ' '), constant.end());
    defines += (defines.empty() ? "" : " ") + constant;
  }
  for (const std::string& option : options)
    if (option.rfind("-I", 0) != 0) defines += " " + option;
  return defines;
}

}  // namespace headtune
