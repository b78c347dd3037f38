// A check's times: the rows of one problem, in passes that take turns.
#pragma once

#include <span>

#include "tuner/check.h"
#include "tuner/check_subject.h"

namespace headtune {

class CheckPasses {
 public:
  /// Everything must outlive it.
  CheckPasses(const Session& session, const TunedTable& baseline, const CheckRequest& request, const CheckPlan& plan,
              CheckObserver& observer)
      : session_(session), baseline_(baseline), request_(request), plan_(plan), observer_(observer) {}

  /// Rows of one problem, compiled. Verifies each and times it, those that look slower twice as often. A clock that
  /// moves meets all rows alike. Throws Interrupted.
  void run(std::span<CheckSubject> subjects) const;

 private:
  bool looks_slower(const CheckSubject& subject) const;
  void pass(CheckSubject& subject, const std::string& what) const;
  std::vector<TimedShape> swept_shapes(const Problem& problem) const;

  const Session& session_;
  const TunedTable& baseline_;
  const CheckRequest& request_;
  const CheckPlan& plan_;
  CheckObserver& observer_;
};

}  // namespace headtune
