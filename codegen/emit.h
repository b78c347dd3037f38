// Writes a tuning table in the formats that others read. The text depends on nothing but the rows: not on their
// order, the locale, the directory or the time. Strings from devices and databases are reduced to harmless characters
// before they enter a comment or a field.
#pragma once

#include <string>
#include <string_view>

#include "codegen/tuned_table.h"

namespace headtune {

enum class Format { header, json, python, csv };

/// "h", "json", "python" or "csv". Throws std::invalid_argument.
Format parse_format(std::string_view name);

/// C++17 header with a constexpr array of rows; includes headtune/table.h only.
std::string emit_header(TunedTable table);
/// Dict keyed by head_dim -> (BLOCK_H, BLOCK_N, num_warps), as SGLang's block_config.
std::string emit_python(TunedTable table);
/// One line per row, as aiter's tuned configurations.
std::string emit_csv(TunedTable table);

/// Letters, digits and " ._:+-/,()=%" stay, everything else becomes '_'; at most 120 characters.
std::string harmless(std::string_view text);

}  // namespace headtune
