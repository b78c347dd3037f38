// tables/<arch>.json: a tuning table with its evidence, closed by a digest so that an edit by hand is noticed.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "codegen/tuned_table.h"

namespace headtune {

/// The whole file's text, sorted, with its digest. The same rows give the same bytes.
std::string table_json(TunedTable table);

/// Reads and checks a table: form, digest, and the evidence of every row. Throws UsageError naming file, row and field,
/// expected and found.
TunedTable parse_table(const std::string& text, const std::string& file_name);
TunedTable read_table(const std::filesystem::path& file);

/// One line per innermost object, so that tables are read and compared by line.
std::string pretty(const nlohmann::json& value, int depth = 0);

/// Writes beside the target and renames, so that a full disk or a kill leaves the old file. Throws UsageError.
void write_file(const std::filesystem::path& file, const std::string& text);

/// Throws UsageError.
std::string read_file(const std::filesystem::path& file);

}  // namespace headtune
