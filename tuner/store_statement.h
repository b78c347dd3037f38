// What the parts of the store share: values into statements, configurations into text and back.
#pragma once

#include <SQLiteCpp/Statement.h>

#include <string>

#include "headtune/config.h"

namespace headtune {

/// Binds values in order; `bind_all(statement, 1, "x", 2.0)` fills parameters 1, 2 and 3.
template <class... T>
void bind_all(SQLite::Statement& statement, const T&... values) {
  int index = 0;
  (statement.bind(++index, values), ...);
}

/// JSON: knob -> value. Knobs that the text lacks keep their default.
std::string config_text(const Config& config);
Config parse_config(const std::string& text);

}  // namespace headtune
