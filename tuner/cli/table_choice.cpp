#include "tuner/cli/table_choice.h"

#include <vector>

#include "tables/tables.h"
#include "tuner/table_file.h"

namespace headtune::cli {
namespace {

Match shipped(const Problem& problem, const DeviceKey& device, int context) {
  return tables::lookup(problem, device, context);
}

}  // namespace

Lookup lookup_of(const std::string& file) {
  if (file.empty()) return shipped;
  return [table = read_table(file)](const Problem& problem, const DeviceKey& device, int context) {
    std::vector<TableRow> rows;
    for (const TunedRow& tuned : table.rows) rows.push_back(tuned.row);
    const bool same_arch = is_arch(device.arch, table.arch.c_str());
    return tables::lookup({table.arch.c_str(), rows.data(), same_arch ? static_cast<int>(rows.size()) : 0}, problem,
                          device, context);
  };
}

}  // namespace headtune::cli
