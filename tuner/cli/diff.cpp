// `headtune diff`: what changed between two tables.
#include <fmt/format.h>

#include "codegen/render.h"
#include "tuner/cli/commands.h"
#include "tuner/cli/diff_report.h"
#include "tuner/load_table.h"

namespace headtune::cli {
namespace {

struct Options {
  std::string a, b, arch, templates;
  bool as_json = false;
};

Exit run(const Options& options) {
  const auto templates = options.templates.empty() ? templates_dir() : std::filesystem::path(options.templates);
  const std::string hash = template_hash("verify_shared_kv", templates);
  const TunedTable a = load_table(options.a, options.arch, hash), b = load_table(options.b, options.arch, hash);
  if (a.arch != b.arch)
    throw UsageError(fmt::format("{} is for {}, {} for {}: nothing to compare", options.a, a.arch, options.b, b.arch));
  const TableDiff found = diff(a, b);
  if (options.as_json)
    fmt::print("{}\n",
               diff_json(found, options.a, options.b).dump(2, ' ', false, nlohmann::json::error_handler_t::replace));
  else
    fmt::print("{}", diff_text(found, options.a, options.b));
  return found.differs() ? Exit::regress : Exit::ok;
}

}  // namespace

void add_diff(CLI::App& app, Exit& result) {
  auto* command = app.add_subcommand("diff", "Show what changed between two tables or databases");
  auto o = std::make_shared<Options>();
  command->add_option("a", o->a, "tables/<arch>.json or results database")->required();
  command->add_option("b", o->b, "The same, later")->required();
  command->add_option("--arch", o->arch, "Where a database has several");
  command->add_option("--templates", o->templates, "Folder that holds headtune/*.h [search]");
  command->add_flag("--json", o->as_json, "Machine-readable output");
  command->footer("Exit: 0 the same within noise, 1 different.");
  command->callback([o, &result] { result = run(*o); });
}

}  // namespace headtune::cli
