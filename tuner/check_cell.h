// The verdict on one cell of a check, once its row has been through compiler and device.
#pragma once

#include "codegen/tuned_table.h"
#include "tuner/check_plan.h"
#include "tuner/check_subject.h"

namespace headtune {

PassTime pass_of(const CellTime& stored);

/// `evidence`: of the cell's row. Estimated times repeat exactly and are judged so; `rule` is for measured ones.
Judgement judge_cell(const CheckSubject& subject, const CheckCell& cell, const Evidence& evidence, bool estimated,
                     const GateRule& rule);

}  // namespace headtune
