// Holds a device to a table: compiles each winner again, proves it right again, times it in several passes and judges
// the times against the stored ones (tuner/judgement.h).
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "tuner/check_plan.h"
#include "tuner/error.h"
#include "tuner/judgement.h"
#include "tuner/session.h"

namespace headtune {

struct CheckRequest {
  CheckFilter filter;
  bool allow_stale = false;
  int passes = 5;  ///< per cell; a cell that looks slower takes as many again, and all of them count
  GateRule rule;
  std::filesystem::path templates;
};

struct CheckedCell {
  CheckCell cell;
  Config config;  ///< of the baseline's row
  Judgement judgement;
};

struct CheckReport {
  StoredEnvironment environment;
  std::vector<CheckedCell> cells;  ///< asked for
  std::vector<CheckCell> not_asked;
  std::vector<std::string> elsewhere, stale;  ///< as CheckPlan

  int count(Verdict verdict) const;
  Verdict verdict() const;
};

class CheckObserver {
 public:
  virtual ~CheckObserver() = default;
  /// "compile 4 kernels", "pass 2 of 5", with what is compared.
  virtual void step(const std::string& what) = 0;
};

/// Throws Interrupted, UnavailableError; UsageError when the session has no device.
CheckReport check(const Session& session, const TunedTable& baseline, const CheckRequest& request,
                  CheckObserver& observer);

/// 0, 1 or 3.
Exit exit_of(Verdict verdict);

}  // namespace headtune
