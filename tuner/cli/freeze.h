// What `check --frozen` needs of `freeze`.
#pragma once

#include <string>

#include "tuner/error.h"

namespace headtune::cli {

struct FrozenCheck {
  std::string file;             ///< as `headtune freeze` wrote it
  std::string arch;             ///< empty: all that the file records
  std::string rocm, templates;  ///< as the options of these names; empty: search
  std::string format = "text";  ///< text or json
  std::string junit, markdown;  ///< files to write too
};

/// Reads the record, compiles its variants, compares and reports: 0 same, 1 changed, 3 no record of this compiler.
/// Throws UsageError on a bad file, UnavailableError without a compiler.
Exit run_frozen_check(const FrozenCheck& check);

}  // namespace headtune::cli
