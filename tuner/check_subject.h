// One row of a check's baseline on its way through compiler and device (tuner/check.h).
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tuner/judgement.h"
#include "tuner/runner.h"
#include "tuner/toolchain.h"

namespace headtune {

inline constexpr const char* checked_op = "verify_shared_kv";
inline constexpr int checked_index_bits = 32;  ///< as the sweep times

/// What a failure of a variant that once won means.
struct CheckFailure {
  Verdict verdict = Verdict::regress;
  std::string reason;
};

struct CheckSubject {
  Problem problem;
  Config config;
  std::vector<std::size_t> cells;  ///< of the plan
  Binary binary;
  bool verified = false;
  std::optional<CheckFailure> failed;
  std::map<TimedShape, std::vector<PassTime>> passes;
};

/// None when it compiled.
std::optional<CheckFailure> failure_of(const Binary& binary);
/// None when it verified and every time was taken.
std::optional<CheckFailure> failure_of(const RunOutcome& outcome);

}  // namespace headtune
