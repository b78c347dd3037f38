// A tuning table with its evidence: what tables/<arch>.json holds and every emitted format is made from.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "headtune/config.h"
#include "headtune/table.h"

namespace headtune {

/// The winner's time at one point of its cell. Microseconds (simulated ones when the row is estimated).
struct CellTime {
  int context = 0;
  int batch = 0;
  double median_us = 0;
  double low_us = 0;  ///< confidence interval of the median
  double high_us = 0;
  int samples = 0;
  double best_us = 0;         ///< of any verified configuration at this point
  double baseline_us = 0;     ///< extend_attention at this point; 0 when it was not timed
  long long floor_bytes = 0;  ///< bytes that any method must move: K and V of the prefix once, Q, output
  std::map<std::string, long long> counters = {};  ///< simulated devices: as Timing::counters
};

/// The shortest prefix, in keys, for which the tuned kernel is faster than extend_attention, at one batch; 0: always.
struct ExtendBelow {
  int batch = 0;
  int keys = 0;
};

/// Static resources of one kernel of the winner, as the compiler reported them.
struct KernelResources {
  std::string kernel;
  int vgpr = 0, agpr = 0, sgpr = 0;
  int lds_bytes = 0, scratch_bytes = 0;
  int vgpr_spills = 0, sgpr_spills = 0;
};

struct KernelFigure {
  const char* name;
  int KernelResources::*member;
  bool is_spill;  ///< of registers to memory: growth is a regress of code generation
};
inline constexpr KernelFigure kernel_figures[] = {
    {"vgpr", &KernelResources::vgpr, false},
    {"agpr", &KernelResources::agpr, false},
    {"sgpr", &KernelResources::sgpr, false},
    {"lds_bytes", &KernelResources::lds_bytes, false},
    {"scratch_bytes", &KernelResources::scratch_bytes, true},
    {"vgpr_spills", &KernelResources::vgpr_spills, true},
    {"sgpr_spills", &KernelResources::sgpr_spills, true},
};

/// Why a row may be trusted.
struct Evidence {
  std::string provider;     ///< "rocm", "cuda", "sim"
  std::string device_name;  ///< marketing name, shown only
  std::string features;     ///< ":sramecc+:xnack-" or empty
  std::string driver;
  std::string runtime;
  std::string compiler;
  std::string template_hash;  ///< SHA-256 of the files that the winner's instances include
  std::string method;         ///< how it was timed
  double verify_error = -1;   ///< worst relative L2 error of the winner's instances
  double verify_tolerance = 0;
  int candidates = 0;  ///< configurations timed at every point
  int pruned = 0;
  int failed = 0;
  int untried = 0;        ///< legal, but left alone by a search
  double ratio = 0;       ///< geometric mean of time / best time
  double max_regret = 0;  ///< worst loss against a context's own best configuration
  std::string reason;     ///< "best", "tie: incumbent", ...
  std::vector<CellTime> times;
  std::vector<ExtendBelow> extend_below;  ///< by batch; empty where it was not looked for
  std::vector<KernelResources> kernels;   ///< by name; empty in tables written before they were kept
};

/// Everything of a row but context range and configuration: rows with equal keys are one cell.
std::vector<int> cell_key(const TableRow& row);

/// The shortest prefix, in keys, from which on the tuned kernel is faster at some batch: shorter ones are faster
/// through extend_attention at every batch that was tried. 0: none are, or nothing was tried.
int extend_below(const Evidence& evidence);

struct TunedRow {
  TableRow row;
  Evidence evidence;
  bool stale = false;  ///< emitted with --allow-stale although templates or compiler have changed
};

struct TunedTable {
  std::string arch;  ///< without feature flags
  std::vector<TunedRow> rows;
};

/// Fixed order: device, head_dim, ..., context. Every output starts with this, so insertion order cannot show.
void sort_rows(TunedTable& table);

/// What a row lacks to be trusted, as "evidence.times: expected at least one, found none"; empty when nothing.
std::string missing_evidence(const TunedRow& row);

/// "head_dim 576/512, 12/1 heads, ..." for messages and comments.
std::string describe(const TableRow& row);

/// Worst relative half-width of the intervals of the row's times.
double noise(const Evidence& evidence);

/// "bf16", as the enumerator is spelled.
const char* dtype_name(DType type);

}  // namespace headtune
