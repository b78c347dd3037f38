// A folder with a scripted device, a small search space and a database, and the real tool run on them.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "tuner/store.h"

namespace headtune::test {

struct Ended {
  int exit = -1;  ///< exit code; -1 when ended by a signal
  int signal = 0;
  double seconds = 0;
  std::string output;  ///< standard output and error
};

class Workspace {
 public:
  /// The space has BLOCK_N = 64, 128, ... as many as `variants` and no constraint; all are legal for the sweep's
  /// problem.
  explicit Workspace(int variants);
  ~Workspace();
  Workspace(const Workspace&) = delete;
  Workspace& operator=(const Workspace&) = delete;

  /// Configurations are told apart by this BLOCK_N.
  static int block_n(int variant) { return 64 * (variant + 1); }

  /// `text`: the script's JSON.
  void script(const std::string& text) const;

  const std::filesystem::path& root() const { return root_; }
  std::filesystem::path templates() const { return root_ / "templates"; }
  std::filesystem::path database() const { return root_ / "results.db"; }

  /// Starts `headtune sweep` on the scripted device; extra arguments come last.
  pid_t start(const std::vector<std::string>& extra = {}) const;
  Ended wait(pid_t pid) const;
  Ended sweep(const std::vector<std::string>& extra = {}) const { return wait(start(extra)); }
  /// Any other subcommand.
  Ended tool(const std::vector<std::string>& arguments) const;

  std::vector<StoredVariant> variants() const;
  std::vector<StoredEnvironment> environments() const;
  /// BLOCK_N of the winner; 0 when there is none.
  int winner() const;
  /// Processes of this workspace (their command lines name it) that are still there after ten seconds. What a signal or
  /// a closed pipe ends does so when a busy machine gets round to it, not at once.
  int processes_left() const;

 private:
  int processes() const;
  pid_t spawn(const std::vector<std::string>& arguments) const;
  std::filesystem::path root_;
};

}  // namespace headtune::test
