#include "tuner/runner_wire.h"

#include <cmath>
#include <limits>

#include "tuner/toolchain/wire.h"

namespace headtune::wire {
namespace {

using nlohmann::json;

// JSON has no infinity; a NaN output has an infinite error.
json number(double value) { return std::isfinite(value) ? json(value) : json(nullptr); }
double number(const json& value) {
  return value.is_null() ? std::numeric_limits<double>::infinity() : value.get<double>();
}

json to_json(const Problem& p) {
  return {p.head_dim,   p.v_head_dim, p.num_q_heads, p.num_kv_heads,
          p.extend_len, p.is_causal,  int(p.dtype),  int(p.kv_dtype)};
}

Problem problem_from_json(const json& j) {
  return {.head_dim = j[0],
          .v_head_dim = j[1],
          .num_q_heads = j[2],
          .num_kv_heads = j[3],
          .extend_len = j[4],
          .is_causal = j[5],
          .dtype = DType(j[6].get<int>()),
          .kv_dtype = DType(j[7].get<int>())};
}

json to_json(const Config& config) {
  json object = json::object();
  for (const Knob& knob : knobs) object[knob.name] = config.*knob.member;
  return object;
}

Config config_from_json(const json& object) {
  Config config;
  for (const Knob& knob : knobs) config.*knob.member = object.at(knob.name);
  return config;
}

json to_json(const VerifyResult& result) {
  return {{"relative_l2", number(result.relative_l2)},
          {"worst_element", number(result.worst_element)},
          {"cases", result.cases},
          {"failure", result.failure}};
}

VerifyResult verification_from_json(const json& object) {
  VerifyResult result;
  result.relative_l2 = number(object.at("relative_l2"));
  result.worst_element = number(object.at("worst_element"));
  result.cases = object.at("cases");
  result.failure = object.at("failure");
  return result;
}

json to_json(const Timing& t) {
  return {{"median_us", t.median_us},
          {"interval", {t.interval.low, t.interval.high}},
          {"samples_us", t.samples_us},
          {"method", t.method},
          {"overhead_share", t.overhead_share},
          {"clock_mhz", t.clock_mhz},
          {"throttled", t.throttled},
          {"settled", t.settled},
          {"drift", t.drift},
          {"converged", t.converged},
          {"outraced", t.outraced},
          {"gpu_us", t.gpu_us},
          {"counters", t.counters}};
}

Timing timing_from_json(const json& object) {
  Timing t;
  t.median_us = object.at("median_us");
  t.interval = {object.at("interval")[0], object.at("interval")[1]};
  t.samples_us = object.at("samples_us").get<std::vector<double>>();
  t.method = object.at("method");
  t.overhead_share = object.at("overhead_share");
  t.clock_mhz = object.at("clock_mhz");
  t.throttled = object.at("throttled");
  t.settled = object.at("settled");
  t.drift = object.at("drift");
  t.converged = object.at("converged");
  t.outraced = object.at("outraced");
  t.gpu_us = object.at("gpu_us");
  t.counters = object.at("counters").get<std::map<std::string, long long>>();
  return t;
}

json to_json(const Plan& plan) {
  json launches = json::array();
  for (const KernelLaunch& launch : plan.launches)
    launches.push_back({launch.kernel, launch.grid, launch.block, launch.dynamic_lds_bytes, launch.dependent});
  return {{"launches", launches},
          {"splits", {plan.num_splits, plan.min_keys_per_split}},
          {"bytes", {plan.partial_out_bytes, plan.partial_lse_bytes, plan.split_done_bytes}}};
}

Plan launch_plan_from_json(const json& object) {
  Plan plan;
  for (const json& launch : object.at("launches"))
    plan.launches.push_back({launch[0], launch[1].get<std::array<unsigned, 3>>(), launch[2], launch[3], launch[4]});
  const json &splits = object.at("splits"), &bytes = object.at("bytes");
  plan.num_splits = splits[0], plan.min_keys_per_split = splits[1];
  plan.partial_out_bytes = bytes[0], plan.partial_lse_bytes = bytes[1], plan.split_done_bytes = bytes[2];
  return plan;
}

}  // namespace

json to_json(const VariantJob& job) {
  json object = {{"op", job.op},
                 {"problem", to_json(job.problem)},
                 {"config", to_json(job.config)},
                 {"index_bits", job.index_bits},
                 {"code", to_hex(job.code)}};
  if (job.plan) object["plan"] = to_json(*job.plan);
  return object;
}

VariantJob job_from_json(const json& object) {
  return {.op = object.at("op"),
          .problem = problem_from_json(object.at("problem")),
          .config = config_from_json(object.at("config")),
          .index_bits = object.at("index_bits"),
          .code = from_hex(object.at("code").get_ref<const std::string&>()),
          .plan = object.contains("plan") ? std::optional(launch_plan_from_json(object.at("plan"))) : std::nullopt};
}

json to_json(const TimedShape& shape) { return {shape.batch, shape.context}; }
TimedShape shape_from_json(const json& pair) { return {pair[0], pair[1]}; }

json to_json(const MeasureOptions& o) {
  return {{"sample_us", o.sample_us},
          {"max_calls", o.max_calls},
          {"drop_losers", o.drop_losers},
          {"overhead_limit", o.overhead_limit},
          {"preheat", {o.preheat.window, o.preheat.agreement, o.preheat.windows, o.preheat.limit}},
          {"stop", {o.stop.relative_width, o.stop.min_samples, o.stop.max_samples, o.stop.budget_us}}};
}

MeasureOptions measure_from_json(const json& object) {
  MeasureOptions o;
  o.sample_us = object.at("sample_us");
  o.max_calls = object.at("max_calls");
  o.drop_losers = object.at("drop_losers");
  o.overhead_limit = object.at("overhead_limit");
  const json &preheat = object.at("preheat"), &stop = object.at("stop");
  o.preheat = {.window = preheat[0], .agreement = preheat[1], .windows = preheat[2], .limit = preheat[3]};
  o.stop = {.relative_width = stop[0], .min_samples = stop[1], .max_samples = stop[2], .budget_us = stop[3]};
  return o;
}

json to_json(const RunPlan& plan) {
  json shapes = json::array(), inputs_for = json::array();
  for (const TimedShape& shape : plan.shapes) shapes.push_back(to_json(shape));
  for (const TimedShape& shape : plan.inputs_for) inputs_for.push_back(to_json(shape));
  return {{"verify", plan.verify}, {"shapes", shapes}, {"inputs_for", inputs_for}, {"measure", to_json(plan.measure)}};
}

RunPlan plan_from_json(const json& object) {
  RunPlan plan;
  plan.verify = object.at("verify");
  for (const json& shape : object.at("shapes")) plan.shapes.push_back(shape_from_json(shape));
  for (const json& shape : object.at("inputs_for")) plan.inputs_for.push_back(shape_from_json(shape));
  plan.measure = measure_from_json(object.at("measure"));
  return plan;
}

json to_json(const RunOutcome& outcome) {
  json timings = json::array();
  for (const ShapeTiming& one : outcome.timings) timings.push_back({to_json(one.shape), to_json(one.timing)});
  return {{"status", name(outcome.status)},
          {"reason", outcome.reason},
          {"verification", to_json(outcome.verification)},
          {"timings", timings},
          {"verify_seconds", outcome.verify_seconds},
          {"measure_seconds", outcome.measure_seconds}};
}

RunOutcome outcome_from_json(const json& object) {
  RunOutcome outcome;
  outcome.status = parse_run_status(object.at("status"));
  outcome.reason = object.at("reason");
  outcome.verification = verification_from_json(object.at("verification"));
  for (const json& one : object.at("timings"))
    outcome.timings.push_back({shape_from_json(one[0]), timing_from_json(one[1])});
  outcome.verify_seconds = object.at("verify_seconds");
  outcome.measure_seconds = object.at("measure_seconds");
  return outcome;
}

json to_json(const Environment& e) {
  return {{"provider", e.provider},     {"arch", e.arch},
          {"features", e.features},     {"cu_count", e.cu_count},
          {"wave_size", e.wave_size},   {"lds_per_workgroup", e.lds_per_workgroup},
          {"lds_per_cu", e.lds_per_cu}, {"l2_bytes", e.l2_bytes},
          {"llc_bytes", e.llc_bytes},   {"memory_bytes", e.memory_bytes},
          {"driver", e.driver},         {"runtime", e.runtime},
          {"compiler", e.compiler},     {"device_name", e.device_name},
          {"estimated", e.estimated}};
}

Environment environment_from_json(const json& object) {
  Environment e;
  e.provider = object.at("provider");
  e.arch = object.at("arch");
  e.features = object.at("features");
  e.cu_count = object.at("cu_count");
  e.wave_size = object.at("wave_size");
  e.lds_per_workgroup = object.at("lds_per_workgroup");
  e.lds_per_cu = object.at("lds_per_cu");
  e.l2_bytes = object.at("l2_bytes");
  e.llc_bytes = object.at("llc_bytes");
  e.memory_bytes = object.at("memory_bytes");
  e.driver = object.at("driver");
  e.runtime = object.at("runtime");
  e.compiler = object.at("compiler");
  e.device_name = object.at("device_name");
  e.estimated = object.at("estimated");
  return e;
}

}  // namespace headtune::wire
