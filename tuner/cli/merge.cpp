// `headtune merge`: several results databases into a new one.
#include "tuner/merge.h"

#include <fmt/format.h>
#include <unistd.h>

#include <optional>

#include "tuner/cli/commands.h"

namespace headtune::cli {
namespace {

namespace fs = std::filesystem;

struct Options {
  std::vector<std::string> inputs;
  std::string output, on_conflict = "fail";
  bool force = false;
};

void remove_database(const fs::path& file) {
  std::error_code ignored;
  for (const char* suffix : {"", "-wal", "-shm"}) fs::remove(file.string() + suffix, ignored);
}

/// A database that becomes `file` when it is complete, and vanishes when it does not.
class Pending {
 public:
  explicit Pending(fs::path file)
      : file_(std::move(file)), temporary_(file_.string() + fmt::format(".{}.tmp", ::getpid())) {
    store_.emplace(temporary_, Access::create);
  }
  ~Pending() {
    store_.reset();
    remove_database(temporary_);
  }
  Store& store() { return *store_; }
  void commit() {
    store_.reset();  // closing folds the write-ahead log into the file
    std::error_code error;
    // A log that belonged to the old file would be replayed into the new one.
    for (const char* log : {"-wal", "-shm"}) fs::remove(file_.string() + log, error);
    fs::rename(temporary_, file_, error);
    if (error) throw UsageError(fmt::format("cannot write {}: {}", file_.string(), error.message()));
  }

 private:
  fs::path file_, temporary_;
  std::optional<Store> store_;
};

void refuse_unsafe(const Options& options) {
  if (options.inputs.size() < 2) throw UsageError("merge: expected two databases or more");
  for (std::size_t i = 0; i < options.inputs.size(); ++i) {
    if (!fs::exists(options.inputs[i])) throw UsageError(fmt::format("no database {}", options.inputs[i]));
    if (fs::exists(options.output) && fs::equivalent(options.inputs[i], options.output))
      throw UsageError(fmt::format("{}: is an input; inputs are never changed, give another -o", options.output));
    for (std::size_t j = 0; j < i; ++j)
      if (fs::equivalent(options.inputs[i], options.inputs[j]))
        throw UsageError(fmt::format("{}: given twice", options.inputs[i]));
  }
  if (fs::exists(options.output) && !options.force)
    throw UsageError(fmt::format("{}: exists; give another -o, or --force to replace it", options.output));
}

std::string list_text(const std::string& title, const std::vector<std::string>& lines) {
  std::string text = lines.empty() ? "" : title + "\n";
  for (const std::string& line : lines) text += "  " + line + "\n";
  return text;
}

std::string to_text(const MergeReport& r, const Options& options) {
  const std::string resolved = options.on_conflict == "newest" ? "later file kept" : "fastest kept";
  return fmt::format("merged {} databases into {}: {} variants, {} times, {} conflicts{}\n", options.inputs.size(),
                     options.output, r.variants, r.times, r.conflicts,
                     r.conflicts ? fmt::format(" ({})", resolved) : "") +
         list_text("winners chosen again, by selection over the merged times:", r.rechosen) +
         list_text("estimated winners left out, since there are measured times of the same device:", r.dethroned) +
         fmt::format("winners copied: {} problems that only one input has\n", r.problems_kept);
}

void run(const Options& options) {
  refuse_unsafe(options);
  Pending pending(options.output);
  const MergeReport report =
      merge(pending.store(), {options.inputs.begin(), options.inputs.end()}, parse_on_conflict(options.on_conflict));
  pending.commit();
  fmt::print("{}", to_text(report, options));
}

}  // namespace

void add_merge(CLI::App& app, Exit&) {
  auto* command = app.add_subcommand("merge", "Several results databases into a new one");
  auto o = std::make_shared<Options>();
  command->add_option("inputs", o->inputs, "Databases, oldest first; never changed")->required();
  command->add_option("-o,--output", o->output, "The new database")->required();
  command
      ->add_option(
          "--on-conflict", o->on_conflict,
          "Two results of one variant: fastest, newest (that of the later file: databases hold no dates) or fail")
      ->check(CLI::IsMember({"fastest", "newest", "fail"}))
      ->capture_default_str();
  command->add_flag("--force", o->force, "Replace the output if it exists");
  command->footer("Winners are chosen again where several inputs know a problem, and copied otherwise.");
  command->callback([o] { run(*o); });
}

}  // namespace headtune::cli
