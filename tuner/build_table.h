// Winners in a results database -> a table with its evidence.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "codegen/tuned_table.h"
#include "tuner/store.h"

namespace headtune {

/// Architectures that the database has winners for.
std::vector<std::string> tuned_archs(const Store& store);

/// One row per cell. Where several environments tuned a cell: measured before estimated, rows of `template_hash` before
/// stale ones, then the newest compiler and runtime, then the better time. `wanted` leaves other environments out.
TunedTable build_table(const Store& store, const std::string& arch, const std::string& template_hash,
                       const std::function<bool(const StoredEnvironment&)>& wanted = {});

/// What tables keep of a compiled kernel's resources.
KernelResources kernel_resources(const std::string& kernel, const Resources& resources);

/// The rows of one problem in one environment; none when nothing won.
std::vector<TunedRow> tuned_rows(const Store& store, std::int64_t environment, std::int64_t problem);

/// Marks the rows whose templates are not `template_hash`; returns one line per stale row, expected and actual.
std::vector<std::string> mark_stale(TunedTable& table, const std::string& template_hash);

/// Cells of `require` ("64,256,576/512@32k") that no row covers.
std::vector<std::string> empty_cells(const TunedTable& table, const std::string& require);

/// Whether version `a` is older than `b`: numbers inside are compared as numbers ("6.10" is newer than "6.4").
bool older(const std::string& a, const std::string& b);

}  // namespace headtune
