// Turns SQLite's exceptions into one line for the user.
#pragma once

#include <SQLiteCpp/Exception.h>

#include <filesystem>

namespace headtune {

[[noreturn]] void fail(const std::filesystem::path& file, const SQLite::Exception& error);

/// Runs `action`; a database error becomes a UsageError that names the file.
template <class F>
auto guarded(const std::filesystem::path& file, F action) -> decltype(action()) {
  try {
    return action();
  } catch (const SQLite::Exception& error) {
    fail(file, error);
  }
}

}  // namespace headtune
