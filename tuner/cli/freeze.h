// What `freeze` and `check --frozen` share.
#pragma once

#include <string>
#include <vector>

#include "tuner/frozen.h"

namespace headtune::cli {

struct FrozenCheck {
  std::string file;                ///< as `headtune freeze` wrote it
  std::vector<std::string> archs;  ///< empty: all that the file records
  std::string rocm;                ///< --rocm
  std::string templates;           ///< --templates; empty: search
};

/// Reads the record, compiles its variants and compares; verdict() gives the exit code. Throws UsageError on a bad
/// file, UnavailableError without a compiler.
std::vector<FrozenFinding> check_frozen(const FrozenCheck& check);

/// "gfx950 verify_shared_kv_stage1, head_dim 576/512, ..., 6,32,8 LOAD_PATH=1"
std::string title(const FrozenFinding& finding);

/// Every finding: a line, and the differing instructions under it.
std::string frozen_text(const std::vector<FrozenFinding>& findings);

}  // namespace headtune::cli
