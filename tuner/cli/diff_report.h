// What `headtune diff` prints.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "tuner/table_diff.h"

namespace headtune::cli {

/// `a` and `b`: the files as given.
std::string diff_text(const TableDiff& diff, const std::string& a, const std::string& b);
nlohmann::json diff_json(const TableDiff& diff, const std::string& a, const std::string& b);

}  // namespace headtune::cli
