#include "tuner/load_table.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <fstream>

#include "tuner/build_table.h"
#include "tuner/error.h"
#include "tuner/table_file.h"

namespace headtune {
namespace {

bool has(const std::vector<std::string>& archs, const std::string& arch) {
  return std::find(archs.begin(), archs.end(), arch) != archs.end();
}

[[noreturn]] void no_such_arch(const std::filesystem::path& file, const std::vector<std::string>& archs,
                               const std::string& arch) {
  throw UsageError(fmt::format("{}: has winners for {}; choose one with --arch{}", file.string(),
                               fmt::join(archs, ", "), arch.empty() ? "" : ", not " + arch));
}

TunedTable table_of_file(const std::filesystem::path& file, const std::string& arch) {
  TunedTable table = read_table(file);
  if (!arch.empty() && arch != table.arch)
    throw UsageError(fmt::format("{}: is for {}, not {}", file.string(), table.arch, arch));
  return table;
}

/// A database is read as one even under another name, so that a missing one is called a database.
bool is_table_file(const std::filesystem::path& file) { return file.extension() == ".json" && !is_database(file); }

bool same_device(const StoredEnvironment& a, const StoredEnvironment& b) {
  return a.provider == b.provider && a.arch == b.arch && a.features == b.features && a.cu_count == b.cu_count &&
         a.wave_size == b.wave_size && a.estimated == b.estimated;
}

bool same_but_name(const StoredEnvironment& a, const StoredEnvironment& b) {
  return same_device(a, b) && a.driver == b.driver && a.runtime == b.runtime && a.compiler == b.compiler;
}

/// Equal in all but context range and configuration.
bool same_cell(const TableRow& a, const TableRow& b) {
  return a.cu_count == b.cu_count && a.wave_size == b.wave_size && a.head_dim == b.head_dim &&
         a.v_head_dim == b.v_head_dim && a.kv_group_num == b.kv_group_num && a.num_kv_heads == b.num_kv_heads &&
         a.extend_len == b.extend_len && a.is_causal == b.is_causal && a.dtype == b.dtype && a.kv_dtype == b.kv_dtype;
}

/// Rows of cells that `table` has none of.
void add_missing(TunedTable& table, const TunedTable& more) {
  const std::size_t known = table.rows.size();
  for (const TunedRow& row : more.rows)
    if (std::none_of(table.rows.begin(), table.rows.begin() + static_cast<std::ptrdiff_t>(known),
                     [&](const TunedRow& present) { return same_cell(present.row, row.row); }))
      table.rows.push_back(row);
}

}  // namespace

bool is_database(const std::filesystem::path& file) {
  char magic[16] = "";
  std::ifstream(file, std::ios::binary).read(magic, 15);
  return std::string(magic) == "SQLite format 3";
}

TunedTable load_table(const std::filesystem::path& file, const std::string& arch, const std::string& template_hash) {
  if (is_table_file(file)) return table_of_file(file, arch);
  const Store store(file, Access::read_only);
  const auto archs = tuned_archs(store);
  if (archs.empty())
    throw UsageError(
        fmt::format("{}: no winners yet; let `headtune sweep --db {}` end first", file.string(), file.string()));
  if (arch.empty() && archs.size() == 1) return build_table(store, archs.front(), template_hash);
  if (!has(archs, arch)) no_such_arch(file, archs, arch);
  return build_table(store, arch, template_hash);
}

TunedTable load_baseline(const std::filesystem::path& file, const std::string& arch, const StoredEnvironment& present,
                         const std::string& template_hash) {
  if (is_table_file(file)) return table_of_file(file, arch);
  const Store store(file, Access::read_only);
  const auto archs = tuned_archs(store);
  if (archs.empty()) return {arch.empty() ? present.arch : arch, {}};
  if (!arch.empty() && !has(archs, arch)) no_such_arch(file, archs, arch);
  const std::string chosen = !arch.empty()              ? arch
                             : has(archs, present.arch) ? present.arch
                             : archs.size() == 1        ? archs.front()
                                                        : "";
  if (chosen.empty()) no_such_arch(file, archs, arch);
  const auto table_where = [&](auto same) {
    return build_table(store, chosen, template_hash, [&](const StoredEnvironment& e) { return same(e, present); });
  };
  TunedTable table = table_where(same_but_name);
  add_missing(table, table_where(same_device));
  add_missing(table, build_table(store, chosen, template_hash));
  sort_rows(table);
  return table;
}

}  // namespace headtune
