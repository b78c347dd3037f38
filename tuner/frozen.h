// Frozen code paths: compiles chosen variants, and compares what the compiler makes of them with what it made before.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "headtune/arch.h"
#include "tuner/error.h"
#include "tuner/frozen_file.h"

namespace headtune {

/// The paths that change least and matter most: one KV head (HAS_KV_HEADS = 0), causal, MLA 576/512 and head_dim 256.
std::vector<Problem> frozen_problems();

/// The configurations that the shipped tables choose for a problem at these contexts, each once.
std::vector<Config> table_configs(const Problem& problem, const Arch& arch, const std::vector<int>& contexts);

/// Compiles `variants` for `arch` and puts the record into `file`. Throws UsageError when one does not compile,
/// UnavailableError without a compiler.
void freeze(FrozenFile& file, const std::string& arch, std::vector<FrozenVariant> variants, Toolchain& toolchain,
            const std::filesystem::path& templates);

enum class Frozen { same, changed, no_record };

/// What became of one kernel, or, where there is no record, of one architecture.
struct FrozenFinding {
  Frozen verdict = Frozen::same;
  std::string arch;
  FrozenVariant variant;  ///< empty without a record
  std::string kernel;
  std::string detail;  ///< differing instructions, or which compilers there are records of
};

/// Compiles every variant that `file` records for this machine's compiler, of `archs` or, when empty, of all, and
/// compares. Throws UnavailableError without a compiler.
std::vector<FrozenFinding> check_frozen(const FrozenFile& file, const std::vector<std::string>& archs,
                                        Toolchain& toolchain, const std::filesystem::path& templates);

/// regress when anything changed, else no_verdict when anything has no record, else ok.
Exit verdict(const std::vector<FrozenFinding>& findings);

}  // namespace headtune
