// What a check compares: the cells of a baseline that were asked for and that this device can be held to, and why the
// others cannot. Pure: no device, no file.
#pragma once

#include <string>
#include <vector>

#include "codegen/tuned_table.h"
#include "tuner/store.h"
#include "tuner/timing_inputs.h"

namespace headtune {

/// Empty lists ask for everything.
struct CheckFilter {
  std::vector<int> head_dims, contexts, batches;
};

/// What the baseline is compared with.
struct PresentSetup {
  StoredEnvironment environment;
  std::string template_hash;
};

/// One time of one row.
struct CheckCell {
  Problem problem;       ///< only its head_dim when the baseline has no row for it
  TimedShape shape;      ///< 0 where the baseline has nothing and the filter named nothing
  std::size_t row = 0;   ///< of the baseline; meaningless when `obstacle` tells that there is none
  CellTime baseline;     ///< median 0: none
  std::string obstacle;  ///< why it cannot be compared; empty when it can
};

struct CheckPlan {
  std::vector<CheckCell> cells;        ///< asked for, in the table's order
  std::vector<CheckCell> not_asked;    ///< left out by the filter
  std::vector<std::string> elsewhere;  ///< rows of other devices, whose problems have a row of this device too
  std::vector<std::string> stale;      ///< one line per stale row, expected and actual; also when they are allowed
};

CheckPlan plan_check(const TunedTable& baseline, const PresentSetup& present, const CheckFilter& filter,
                     bool allow_stale);

/// "templates: expected 0123.., found 4567..; compiler: ..."; empty when the row's code and software are the present
/// ones.
std::string stale_because(const Evidence& evidence, const PresentSetup& present);

/// "expected gfx942, 304 CUs, rocm, found gfx950, 256 CUs, sim"; empty when the row was tuned on this device.
std::string other_device(const TunedRow& row, const std::string& arch, const StoredEnvironment& present);

Problem problem_of(const TableRow& row);

}  // namespace headtune
