// One problem, end to end: space -> render -> compile -> verify -> time -> store -> select. Every result is committed
// at once; what is already in the database is not run again.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "headtune/arch.h"
#include "tuner/compile_queue.h"
#include "tuner/runner.h"
#include "tuner/select.h"
#include "tuner/store.h"
#include "tuner/trials.h"

namespace headtune {

struct SweepSetup {
  Store& store;
  std::int64_t environment = 0;
  Arch arch;           ///< with the device's own counts
  std::string target;  ///< what the compiler is told: "gfx942:sramecc+:xnack-"
  bool estimated = false;
  CompileAll compile;
  Runner* runner = nullptr;  ///< none: compile only, rank nothing
  std::filesystem::path templates;
};

struct SweepRequest {
  std::string op = "verify_shared_kv";
  std::vector<TimedShape> shapes;
  int index_bits = 32;
  bool fresh = false;  ///< run finished variants again
  SearchOptions search;
};

struct SweepCounts {
  int total = 0;  ///< configurations of the space
  int pruned = 0;
  int resumed = 0;  ///< finished in an earlier sweep
  int compiled = 0;
  int verified = 0;
  int timed = 0;
  int failed = 0;
  int untried = 0;  ///< left alone by the search or its budget

  int done() const { return pruned + resumed + failed + timed + untried; }
};

/// Where a sweep's time went, for --stats.
struct SweepSeconds {
  double wall = 0;
  double plan = 0;          ///< enumerating the space and looking up what is known
  double device = 0;        ///< verifying and measuring
  double compile_wait = 0;  ///< nothing to do but wait for a compiler
  double compile = 0;       ///< summed over compile processes
};

struct ProblemReport {
  Problem problem;
  std::int64_t problem_id = 0;
  SweepCounts counts;
  SweepSeconds seconds;
  std::vector<Choice> choices;      ///< empty when nothing could be ranked
  int left_out = 0;                 ///< finalists whose times still moved after every retry
  std::string no_verdict;           ///< why nothing won although variants were timed; empty otherwise
  std::vector<std::string> alarms;  ///< what winners do otherwise than as swept (tuner/retime.h)
};

class SweepObserver {
 public:
  virtual ~SweepObserver() = default;
  virtual void step(const SweepCounts& counts, const std::string& what) = 0;
};

/// Throws Interrupted after the work at hand when the user pressed Ctrl-C.
ProblemReport sweep(const SweepSetup& setup, const SweepRequest& request, const Problem& problem,
                    SweepObserver& observer);

/// The verified and timed variants of one problem, as selection sees them, with their ids.
struct TimedCandidates {
  std::vector<Candidate> candidates;
  std::vector<StoredVariant> variants;  ///< same order
};
TimedCandidates timed_candidates(const Store& store, std::int64_t environment, std::int64_t problem,
                                 const std::string& template_hash);

}  // namespace headtune
