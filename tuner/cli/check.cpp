// `headtune check`: holds a device to a table or a database; the exit code is the verdict.
#include "tuner/check.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "codegen/render.h"
#include "tuner/cli/check_report.h"
#include "tuner/cli/commands.h"
#include "tuner/cli/freeze.h"
#include "tuner/cli/parse.h"
#include "tuner/interrupt.h"
#include "tuner/load_table.h"
#include "tuner/table_file.h"

namespace headtune::cli {
namespace {

struct Options {
  SessionOptions session;
  CheckRequest request;
  std::string baseline, frozen, arch, rocm, templates, head_dim, contexts, batch, format = "text", junit, markdown;
};

/// A line that rewrites itself on a terminal; nothing elsewhere.
class CheckProgress final : public CheckObserver {
 public:
  ~CheckProgress() override { clear(); }
  void step(const std::string& what) override {
    if (terminal_) fmt::print(stderr, "\r\033[K{}", what), std::fflush(stderr);
  }
  void clear() const {
    if (terminal_) fmt::print(stderr, "\r\033[K");
  }

 private:
  bool terminal_ = ::isatty(STDERR_FILENO) == 1;
};

CheckFilter filter_of(const Options& options) {
  CheckFilter filter;
  if (!options.head_dim.empty()) filter.head_dims = parse_counts(options.head_dim, "--head-dim");
  if (!options.contexts.empty()) filter.contexts = parse_counts(options.contexts, "--contexts");
  if (!options.batch.empty()) filter.batches = parse_counts(options.batch, "--batch");
  return filter;
}

void require_readable(const std::string& file) {
  if (!std::filesystem::exists(file))
    throw Failure(Exit::no_verdict,
                  fmt::format("no baseline: {} does not exist; sweep, and emit --format json -o {}", file, file));
  if (::access(file.c_str(), R_OK) != 0 || std::filesystem::is_directory(file)) read_file(file);  // throws the reason
}

Exit run(Options options) {
  if (options.baseline.empty() == options.frozen.empty())
    throw UsageError("check: give --baseline FILE for times or --frozen FILE for machine code, and not both");
  if (!options.frozen.empty())
    return run_frozen_check({options.frozen, options.arch, options.rocm, options.templates, options.format,
                             options.junit, options.markdown});
  CheckRequest& request = options.request;
  request.filter = filter_of(options);
  if (options.session.device == "none") throw UsageError("--device none: a check needs a device to time on");
  require_readable(options.baseline);  // before minutes are spent on a device
  if (!options.templates.empty()) ::setenv("HEADTUNE_TEMPLATES", options.templates.c_str(), 1);
  request.templates = templates_dir();
  options.session.rocm = options.rocm;
  catch_interrupts();
  const Session session(options.session);
  const TunedTable baseline = load_baseline(options.baseline, options.arch, session.environment(),
                                            template_hash("verify_shared_kv", request.templates));
  CheckProgress progress;
  const CheckReport report = check(session, baseline, request, progress);
  progress.clear();
  const CheckFacts facts{options.baseline, request.passes, request.rule, request.allow_stale};
  if (!options.junit.empty()) write_file(options.junit, check_junit(report, facts));
  if (!options.markdown.empty()) write_file(options.markdown, check_markdown(report, facts));
  if (options.format == "json")
    fmt::print("{}\n", check_json(report, facts).dump(2, ' ', false, nlohmann::json::error_handler_t::replace));
  else
    fmt::print("{}", check_text(report, facts));
  return exit_of(report.verdict());
}

void add_rule_options(CLI::App& command, CheckRequest& request) {
  GateRule& rule = request.rule;
  command.add_option("--passes", request.passes, "Times each kernel is prepared and timed anew")
      ->check(CLI::Range(3, 100))
      ->capture_default_str();
  command.add_option("--floor-us", rule.floor_us, "A change below this is no regress")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  command.add_option("--relative", rule.relative, "Nor is one below this share of the baseline")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
}

}  // namespace

void add_check(CLI::App& app, Exit& result) {
  auto* command =
      app.add_subcommand("check", "Compare present times with a table, or machine code with a record; for CI");
  auto o = std::make_shared<Options>();
  command->add_option("--baseline", o->baseline, "Times: tables/<arch>.json or results database");
  command->add_option("--frozen", o->frozen, "Machine code: what `headtune freeze` wrote (docs/frozen.md)");
  command->add_option("--device", o->session.device, "rocm:0, cuda:0, sim:gfx950 or auto")->capture_default_str();
  command->add_option("--arch", o->arch, "Where a database has several [the device's]; of a frozen record [all]");
  command->add_option("--head-dim", o->head_dim, "Only these, a list [all]");
  command->add_option("--contexts", o->contexts, "Only these prefix lengths [all]");
  command->add_option("--batch", o->batch, "Only these batches [all]");
  command->add_flag("--allow-stale", o->request.allow_stale,
                    "Judge rows of other templates, compilers or drivers too: what an upgrade changes");
  add_rule_options(*command, o->request);
  command->add_option("--format", o->format, "text or json")
      ->check(CLI::IsMember({"text", "json"}))
      ->capture_default_str();
  command->add_option("--junit", o->junit, "Also write a JUnit XML file");
  command->add_option("--markdown", o->markdown, "Also write a Markdown file");
  command->add_option("--jobs,-j", o->session.jobs, "Compile processes [one per core]");
  command->add_option("--timeout", o->session.timeout_seconds, "Seconds per compile and per step on the device")
      ->capture_default_str();
  command->add_option("--rocm", o->rocm, "ROCm root or private hipRTC prefix [search]");
  command->add_option("--templates", o->templates, "Folder that holds headtune/*.h [search]");
  command->footer("Exit: 0 pass, 1 regress, 2 bad input, 3 no verdict, 4 no device or compiler (docs/check.md).");
  command->callback([o, &result] { result = run(*o); });
}

}  // namespace headtune::cli
