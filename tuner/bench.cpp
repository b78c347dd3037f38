#include "tuner/bench.h"

#include <fmt/format.h>

#include <map>
#include <optional>

#include "codegen/render.h"
#include "tuner/error.h"
#include "tuner/interrupt.h"
#include "tuner/space.h"

namespace headtune {
namespace {

constexpr int index_bits = 32;

/// Everything timed to the end: losers are what a benchmark is about.
MeasureOptions to_the_end() {
  MeasureOptions options;
  options.drop_losers = false;
  return options;
}

Config plain_config() {
  Config config;
  config.num_warps = 8;
  return config;
}

class Compiler {
 public:
  explicit Compiler(Session& session) : session_(session) {}

  VariantJob job(const std::string& op, const Problem& problem, const Config& config) {
    const CompileJob compile{render(op, problem, config, index_bits), session_.target(),
                             compile_options(session_.target(), templates_dir())};
    Binary binary = compile_one(session_.compile(), compile);
    if (binary.status != CompileStatus::ok)
      throw UnavailableError(fmt::format("{} {} does not compile: {}", op, to_string(config), binary.log));
    return {op, problem, config, index_bits, std::move(binary.code)};
  }

 private:
  Session& session_;
};

void require_ok(const RunOutcome& outcome, const VariantJob& job) {
  if (outcome.status != RunStatus::ok)
    throw UnavailableError(fmt::format("{} {}: {}", job.op, to_string(job.config), outcome.reason));
}

/// `shapes`: those that will be raced, so that one set of inputs serves them all.
void verify(Session& session, const VariantJob& job, const std::vector<TimedShape>& shapes) {
  RunPlan plan;
  plan.inputs_for = shapes;
  require_ok(session.runner()->run(job, plan), job);
}

double rate_of(Session& session, const VariantJob& job, const TimedShape& shape, double bytes) {
  RunPlan plan;
  plan.verify = false, plan.shapes = {shape};
  const RunOutcome outcome = session.runner()->run(job, plan);
  require_ok(outcome, job);
  return bytes / outcome.timings.front().timing.median_us / 1e3;
}

/// The jobs of one problem, each compiled and verified once.
class ProblemBench {
 public:
  ProblemBench(Session& session, const Problem& problem, const std::vector<TimedShape>& shapes, const Lookup& lookup)
      : session_(session), problem_(problem), shapes_(shapes), lookup_(lookup), compiler_(session) {
    read_ = compiler_.job("plain_read", problem, plain_config());
    if (const auto config = extend_config(problem, session.arch(), templates_dir())) {
      extend_ = compiler_.job("extend_attention", problem, *config);
      verify(session, *extend_, {});
    }
  }

  BenchCell cell(const TimedShape& shape) {
    BenchCell cell;
    cell.shape = shape;
    cell.match = match(shape.context);
    cell.bytes = byte_floor(problem_, uniform_case("", shape.batch, shape.context, problem_.extend_len));
    std::vector<VariantJob> jobs = {verified(cell.match.config), read_};
    if (extend_) jobs.push_back(*extend_);
    const auto outcomes = session_.runner()->race(jobs, shape, to_the_end());
    for (std::size_t i = 0; i < jobs.size(); ++i) require_ok(outcomes[i], jobs[i]);
    cell.verify = outcomes[0].timings.front().timing;
    cell.read = outcomes[1].timings.front().timing;
    if (extend_) cell.extend = outcomes[2].timings.front().timing;
    return cell;
  }

 private:
  Match match(int context) const {
    const DeviceKey device{session_.environment().arch.c_str(), session_.arch().cu_count, session_.arch().wave_size};
    return lookup_(problem_, device, context);
  }

  const VariantJob& verified(const Config& config) {
    auto& job = jobs_[to_string(config)];
    if (job.code.empty()) {
      job = compiler_.job("verify_shared_kv", problem_, config);
      verify(session_, job, shapes_);
    }
    return job;
  }

  Session& session_;
  const Problem problem_;
  const std::vector<TimedShape>& shapes_;
  const Lookup& lookup_;
  Compiler compiler_;
  VariantJob read_;
  std::optional<VariantJob> extend_;
  std::map<std::string, VariantJob> jobs_;  ///< by configuration
};

}  // namespace

std::vector<Problem> benchmark_problems() {
  const auto problem = [](int head_dim, int v_head_dim, int q_heads, int kv_heads, int extend_len, bool causal) {
    return Problem{head_dim, v_head_dim, q_heads, kv_heads, extend_len, causal};
  };
  return {problem(64, 64, 8, 2, 7, false), problem(64, 64, 16, 4, 8, false), problem(128, 128, 16, 4, 8, false),
          problem(256, 256, 8, 1, 4, true), problem(576, 512, 12, 1, 8, true)};
}

MemoryRates memory_rates(Session& session) {
  if (session.environment().estimated) {
    const double peak = session.arch().hbm_tb_per_s * 1e3;
    return {peak, peak};
  }
  const Problem rows{128, 128, 4, 4, 1, false};
  const TimedShape shape{32, 32768};  // 2 GiB of K and V
  const double bytes = static_cast<double>(prefix_bytes(rows, shape));
  Compiler compiler(session);
  return {rate_of(session, compiler.job("plain_read", rows, plain_config()), shape, bytes),
          rate_of(session, compiler.job("plain_copy", rows, plain_config()), shape, bytes)};
}

void bench(Session& session, const Problem& problem, const std::vector<TimedShape>& shapes, const Lookup& lookup,
           const std::function<void(const BenchCell&)>& done) {
  ProblemBench one(session, problem, shapes, lookup);
  for (const TimedShape& shape : shapes) {
    if (interrupted()) throw Interrupted("interrupted; the cells above are complete");
    done(one.cell(shape));
  }
}

}  // namespace headtune
