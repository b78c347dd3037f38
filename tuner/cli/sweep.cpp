// `headtune sweep`: options in, results into the database, winners on the screen.
#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>

#include "codegen/host_headers.h"
#include "codegen/render.h"
#include "tuner/cli/commands.h"
#include "tuner/cli/parse.h"
#include "tuner/cli/problem_options.h"
#include "tuner/cli/progress.h"
#include "tuner/cli/report.h"
#include "tuner/interrupt.h"
#include "tuner/op.h"
#include "tuner/session.h"

namespace headtune::cli {
namespace {

using nlohmann::json;

struct Options {
  ProblemOptions problem;
  SessionOptions session;
  std::string rocm, contexts = "8k,16k,32k", batch = "1,8,32", db = "headtune.db", templates;
  std::string search = "exhaustive", budget;
  unsigned seed = 1;
  bool fresh = false, as_json = false, stats = false;
};

SweepRequest request_of(const Options& options) {
  SweepRequest request;
  request.op = find_op(options.problem.op).name();
  request.shapes = parse_shapes(options.contexts, options.batch);
  request.fresh = options.fresh;
  request.search = {parse_search(options.search), options.seed, parse_budget(options.budget)};
  return request;
}

json report_json(const Store& store, std::int64_t environment, const ProblemReport& report, bool ranked) {
  json value = {{"problem", problem_json(report.problem)}, {"counts", counts_json(report.counts)}};
  if (ranked) {
    value["winners"] = winners_json(store, environment, report);
    value["no_verdict"] = report.no_verdict;
    value["alarms"] = report.alarms;
  } else {
    value["variants"] = resources_json(store.variants(environment, report.problem_id));
  }
  return value;
}

std::string report_text(const Store& store, std::int64_t environment, const ProblemReport& report, bool ranked) {
  return describe(report.problem) + "\n" +
         (ranked ? winners_text(store, environment, report)
                 : resources_text(store.variants(environment, report.problem_id)));
}

/// On standard error, so that a table piped elsewhere does not hide it.
void warn(const ProblemReport& report) {
  for (const std::string& alarm : report.alarms)
    fmt::print(stderr, "WARNING: {}: the winner does not do what was swept: {}\n", describe(report.problem), alarm);
  if (!report.no_verdict.empty())
    fmt::print(stderr, "headtune: {}: no verdict: {}\n", describe(report.problem), report.no_verdict);
}

std::string stats_text(const std::vector<ProblemReport>& reports) {
  SweepSeconds sum;
  int variants = 0;
  for (const ProblemReport& report : reports) {
    sum.wall += report.seconds.wall, sum.plan += report.seconds.plan, sum.device += report.seconds.device;
    sum.compile += report.seconds.compile, sum.compile_wait += report.seconds.compile_wait;
    variants += report.counts.compiled + report.counts.failed;
  }
  const double own = std::max(0.0, sum.wall - sum.plan - sum.device - sum.compile_wait);
  return fmt::format(
      "{} variants in {:.1f} s: {:.1f} per second; planning {:.1f} s; compiling {:.1f} s in all processes, {:.1f} s "
      "waited for; device {:.1f} s; own work {:.2f} ms per variant\n",
      variants, sum.wall, variants / std::max(sum.wall, 1e-9), sum.plan, sum.compile, sum.compile_wait, sum.device,
      1000 * own / std::max(variants, 1));
}

void print_next_step(const Options& options, const StoredEnvironment& environment) {
  fmt::print("next: headtune emit --from {} --format h -o {}.h\n", options.db, environment.arch);
}

/// Prints each problem's result as soon as it is there; JSON is printed once, at the end.
class Output {
 public:
  Output(const Options& options, const StoredEnvironment& environment, bool ranked)
      : options_(options), environment_(environment), ranked_(ranked) {
    json_ = {{"environment", environment_text(environment)},
             {"estimated", environment.estimated},
             {"problems", json::array()}};
  }

  void add(const Store& store, std::int64_t environment, const ProblemReport& report) {
    // The environment comes with the first result, so that bad input ends with one line.
    if (!options_.as_json && reports_.empty()) fmt::print("{}\n", environment_text(environment_));
    if (options_.as_json)
      json_["problems"].push_back(report_json(store, environment, report, ranked_));
    else
      fmt::print("{}", report_text(store, environment, report, ranked_));
    std::fflush(stdout);
    reports_.push_back(report);
  }

  void end(bool verdict) const {
    if (options_.as_json) fmt::print("{}\n", json_.dump(2, ' ', false, json::error_handler_t::replace));
    if (options_.stats) fmt::print(stderr, "{}", stats_text(reports_));
    if (ranked_ && verdict && !options_.as_json) print_next_step(options_, environment_);
  }

 private:
  const Options& options_;
  const StoredEnvironment& environment_;
  bool ranked_;
  json json_;
  std::vector<ProblemReport> reports_;
};

Exit run(Options options) {
  options.session.rocm = options.rocm;
  if (!options.templates.empty()) ::setenv("HEADTUNE_TEMPLATES", options.templates.c_str(), 1);
  require_same_headers(templates_dir());
  const std::vector<Problem> all = problems(options.problem);
  const SweepRequest request = request_of(options);
  catch_interrupts();
  Session session(options.session);
  Store store(options.db, Access::create);
  const SweepLock lock(store.file(),
                       [&] { fmt::print(stderr, "another sweep is using {}; waiting for it to end\n", options.db); });
  const StoredEnvironment& environment = session.environment();
  const SweepSetup setup{store,
                         store.add(environment),
                         session.arch(),
                         session.target(),
                         environment.estimated,
                         session.compile(),
                         session.runner(),
                         templates_dir()};
  Output output(options, environment, setup.runner != nullptr);
  Progress progress(options.as_json);
  bool verdict = true;
  for (std::size_t i = 0; i < all.size(); ++i) {
    progress.begin(fmt::format("[{}/{}] {}", i + 1, all.size(), describe(all[i])));
    const ProblemReport report = sweep(setup, request, all[i], progress);
    progress.end();
    output.add(store, setup.environment, report);
    warn(report);
    verdict = verdict && report.no_verdict.empty();
  }
  output.end(verdict);
  return verdict ? Exit::ok : Exit::no_verdict;
}

}  // namespace

void add_sweep(CLI::App& app, Exit& result) {
  auto* command = app.add_subcommand("sweep", "Compile, verify and time every configuration; keep all in a database");
  auto o = std::make_shared<Options>();
  command->add_option("--device", o->session.device, "rocm:0, cuda:0, sim:gfx950, auto, or none to compile only")
      ->capture_default_str();
  command->add_option("--arch", o->session.arch, "With --device none: gfx90a, gfx942, gfx950, sm_90, ...");
  add_problem_options(*command, o->problem);
  command->add_option("--contexts", o->contexts, "Prefix lengths in keys")->capture_default_str();
  command->add_option("--batch", o->batch, "Requests per call")->capture_default_str();
  command->add_option("--search", o->search, "Which configurations are tried: exhaustive, random, greedy, guided")
      ->capture_default_str();
  command->add_option("--budget", o->budget, "Per problem: variants to have tried (30) or seconds (60s) [no bound]");
  command->add_option("--seed", o->seed, "Of the search")->capture_default_str();
  command->add_option("--db", o->db, "Results database; a second sweep goes on with it")->capture_default_str();
  command->add_option("--jobs,-j", o->session.jobs, "Compile processes [one per core]");
  command->add_option("--timeout", o->session.timeout_seconds, "Seconds per compile and per step on the device")
      ->capture_default_str();
  command->add_option("--rocm", o->rocm, "ROCm root or private hipRTC prefix [search]");
  command->add_option("--templates", o->templates, "Folder that holds headtune/*.h [search]");
  command->add_flag("--fresh", o->fresh, "Run finished variants again");
  command->add_flag("--json", o->as_json, "Machine-readable output");
  command->add_flag("--stats", o->stats, "Print where the time went");
  command->callback([o, &result] { result = run(*o); });
}

}  // namespace headtune::cli
