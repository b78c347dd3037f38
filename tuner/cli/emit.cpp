// `headtune emit`: a database or a table -> header, JSON, Python or CSV.
#include "codegen/emit.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdio>

#include "codegen/render.h"
#include "tuner/build_table.h"
#include "tuner/cli/commands.h"
#include "tuner/load_table.h"
#include "tuner/table_file.h"

namespace headtune::cli {
namespace {

struct Options {
  std::string from, format = "h", output = "-", arch, require, templates;
  bool allow_stale = false;
};

/// A table may only be shipped whole: every row with evidence, none stale, no required cell empty.
void refuse_doubtful(TunedTable& table, const Options& options, const std::string& hash) {
  if (table.rows.empty()) throw UsageError(fmt::format("{}: no rows to emit", options.from));
  for (const TunedRow& row : table.rows)
    if (const std::string missing = missing_evidence(row); !missing.empty())
      throw UsageError(fmt::format("{}: {}: evidence lacks {}", options.from, describe(row.row), missing));
  const auto stale = mark_stale(table, hash);
  if (!stale.empty() && !options.allow_stale)
    throw UsageError(fmt::format("{}: {} of {} rows are stale, first {}; sweep again or give --allow-stale",
                                 options.from, stale.size(), table.rows.size(), stale.front()));
  if (options.require.empty()) return;
  if (const auto empty = empty_cells(table, options.require); !empty.empty())
    throw UsageError(
        fmt::format("{}: no row for {} (head_dim[/v_head_dim][@context])", options.from, fmt::join(empty, ", ")));
}

std::string text_of(const TunedTable& table, const std::string& format) {
  switch (parse_format(format)) {
    case Format::header:
      return emit_header(table);
    case Format::json:
      return table_json(table);
    case Format::python:
      return emit_python(table);
    case Format::csv:
      return emit_csv(table);
  }
  return "";
}

void run(const Options& options) {
  const auto templates = options.templates.empty() ? templates_dir() : std::filesystem::path(options.templates);
  const std::string hash = template_hash("verify_shared_kv", templates);
  TunedTable table = load_table(options.from, options.arch, hash);
  refuse_doubtful(table, options, hash);
  const std::string text = text_of(table, options.format);
  if (options.output == "-")
    fmt::print("{}", text);
  else
    write_file(options.output, text);
}

}  // namespace

void add_emit(CLI::App& app, Exit&) {
  auto* command = app.add_subcommand("emit", "Write the winners as a C++ header, JSON, Python or CSV");
  auto o = std::make_shared<Options>();
  command->add_option("--from", o->from, "Results database or tables/<arch>.json")->required();
  command->add_option("--format", o->format, "h, json, python or csv")
      ->check(CLI::IsMember({"h", "json", "python", "csv"}))
      ->capture_default_str();
  command->add_option("-o,--output", o->output, "File; - is standard output")->capture_default_str();
  command->add_option("--arch", o->arch, "Where a database has several");
  command->add_option("--require", o->require, "Fail unless these cells are filled: 64,576/512@32k");
  command->add_flag("--allow-stale", o->allow_stale, "Emit rows of other templates too, marked");
  command->add_option("--templates", o->templates, "Folder that holds headtune/*.h [search]");
  command->callback([o] { run(*o); });
}

}  // namespace headtune::cli
