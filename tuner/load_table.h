// A table from whatever holds one: tables/<arch>.json, or a results database whose winners make one.
#pragma once

#include <filesystem>
#include <string>

#include "codegen/tuned_table.h"
#include "tuner/store.h"

namespace headtune {

/// Whether the file starts as SQLite's do. False when it cannot be read.
bool is_database(const std::filesystem::path& file);

/// `arch`: which table of a database that has several; empty where there is only one. A table file must be of it.
/// Throws UsageError.
TunedTable load_table(const std::filesystem::path& file, const std::string& arch, const std::string& template_hash);

/// What a device is compared with. From a database, cell by cell: the winners of this very environment, else those of
/// the same device under other software, else those of another device of the architecture; no rows when nothing won
/// yet. `arch` overrides the device's architecture. Throws UsageError.
TunedTable load_baseline(const std::filesystem::path& file, const std::string& arch, const StoredEnvironment& present,
                         const std::string& template_hash);

}  // namespace headtune
