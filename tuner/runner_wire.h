// What the runner process and its client say to each other, as JSON.
#pragma once

#include <nlohmann/json.hpp>

#include "tuner/device_work.h"
#include "tuner/environment.h"

namespace headtune::wire {

nlohmann::json to_json(const VariantJob& job);
VariantJob job_from_json(const nlohmann::json& json);

nlohmann::json to_json(const TimedShape& shape);
TimedShape shape_from_json(const nlohmann::json& json);

nlohmann::json to_json(const MeasureOptions& options);
MeasureOptions measure_from_json(const nlohmann::json& json);

nlohmann::json to_json(const RunPlan& plan);
RunPlan plan_from_json(const nlohmann::json& json);

nlohmann::json to_json(const RunOutcome& outcome);
RunOutcome outcome_from_json(const nlohmann::json& json);

nlohmann::json to_json(const Environment& environment);
Environment environment_from_json(const nlohmann::json& json);

}  // namespace headtune::wire
