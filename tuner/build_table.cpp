#include "tuner/build_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <tuple>

#include "tuner/coverage.h"
#include "tuner/error.h"
#include "tuner/same_problem.h"
#include "tuner/select.h"

namespace headtune {
namespace {

constexpr const char* tuned_op = "verify_shared_kv";
constexpr const char* baseline_op = "extend_attention";

using Key = std::vector<int>;

TableRow row_key(const StoredEnvironment& environment, const Problem& p, const StoredWinner& winner) {
  TableRow r;
  r.cu_count = environment.cu_count, r.wave_size = environment.wave_size;
  r.head_dim = p.head_dim, r.v_head_dim = p.v_head_dim;
  r.kv_group_num = p.kv_group_num(), r.num_kv_heads = p.num_kv_heads, r.has_kv_heads = p.has_kv_heads();
  r.extend_len = p.extend_len, r.is_causal = p.is_causal, r.dtype = p.dtype, r.kv_dtype = p.kv_dtype;
  r.context_min = winner.context_min, r.context_max = winner.context_max;
  r.estimated = environment.estimated;
  return r;
}

/// Best time at each point over variants of one problem.
using BestTimes = std::map<Point, double>;

void keep_best(BestTimes& best, const StoredTiming& t) {
  auto [entry, fresh] = best.emplace(Point{t.context, t.batch}, t.median_us);
  if (!fresh) entry->second = std::min(entry->second, t.median_us);
}

/// Results of one problem in one environment.
struct Results {
  std::map<std::int64_t, StoredVariant> variants;
  std::map<std::int64_t, std::vector<StoredTiming>> timings;
  BestTimes best;
  std::optional<StoredSpace> space;
  std::map<std::int64_t, std::vector<ExtendBelow>> extend_below;
};

Results results_of(const Store& store, std::int64_t environment, std::int64_t problem) {
  Results results;
  results.space = store.space(environment, problem);
  for (StoredVariant& variant : store.variants(environment, problem)) {
    results.timings[variant.id] = store.timings(variant.id);
    results.extend_below[variant.id] = store.extend_below(variant.id);
    // Screening times of variants that did not reach the race were taken differently.
    if (variant.status == Status::timed)
      for (const StoredTiming& timing : results.timings[variant.id])
        if (trusted(timing)) keep_best(results.best, timing);
    const std::int64_t id = variant.id;
    results.variants.emplace(id, std::move(variant));
  }
  return results;
}

/// Times of the generic kernel for the same problem, where it was swept.
BestTimes baseline_of(const Store& store, std::int64_t environment, const Problem& problem) {
  BestTimes best;
  for (const auto& [id, stored] : store.problems())
    if (stored.op == baseline_op && same_problem(stored.problem, problem))
      best = results_of(store, environment, id).best;
  return best;
}

std::vector<CellTime> cell_times(const Results& results, const StoredWinner& winner, const BestTimes& baseline) {
  std::vector<CellTime> times;
  for (const StoredTiming& t : results.timings.at(winner.variant)) {
    if (t.context < winner.context_min || t.context > winner.context_max) continue;
    const Point point{t.context, t.batch};
    times.push_back({t.context, t.batch, t.median_us, t.low_us, t.high_us, static_cast<int>(t.samples_us.size()),
                     results.best.at(point), baseline.count(point) ? baseline.at(point) : 0, t.floor_bytes,
                     t.counters});
  }
  return times;
}

std::vector<KernelResources> kernels_of(const StoredVariant& variant) {
  std::vector<KernelResources> kernels;
  for (const auto& [name, resources] : variant.resources) kernels.push_back(kernel_resources(name, resources));
  return kernels;
}

/// The winner's score among the timed candidates of its context range.
Score score_of(const Results& results, const StoredWinner& winner) {
  std::vector<Candidate> candidates;
  for (const auto& [id, variant] : results.variants) {
    if (variant.status != Status::timed) continue;
    Candidate candidate{variant.config, variant.registers(), {}};
    for (const StoredTiming& t : results.timings.at(id))
      if (t.context >= winner.context_min && t.context <= winner.context_max)
        candidate.times.push_back({{t.context, t.batch}, t.median_us, t.low_us, t.high_us, trusted(t)});
    candidates.push_back(std::move(candidate));
  }
  SelectOptions one_row;
  one_row.split_regret = std::numeric_limits<double>::infinity();
  for (const Choice& choice : select(candidates, one_row))
    for (const Score& score : choice.ranking)
      if (score.config == results.variants.at(winner.variant).config) return score;
  return {};
}

void count_space(const Results& results, Evidence& e) {
  std::vector<StoredVariant> variants;
  for (const auto& [id, variant] : results.variants) {
    if (variant.template_hash != e.template_hash) continue;
    if (failed(variant.status)) ++e.failed;
    if (variant.status == Status::timed || variant.status == Status::outraced) ++e.candidates;
    variants.push_back(variant);
  }
  if (results.space) e.pruned = results.space->pruned_count();
  if (const auto covered = coverage(results.space, variants, e.template_hash)) e.untried = covered->untried();
}

TunedRow tuned_row(const StoredEnvironment& environment, const Problem& problem, const Results& results,
                   const StoredWinner& winner, const BestTimes& baseline) {
  const StoredVariant& variant = results.variants.at(winner.variant);
  TunedRow tuned;
  tuned.row = row_key(environment, problem, winner);
  tuned.row.config = variant.config;
  Evidence& e = tuned.evidence;
  e.provider = environment.provider, e.device_name = environment.device_name, e.features = environment.features;
  e.driver = environment.driver, e.runtime = environment.runtime, e.compiler = environment.compiler;
  e.template_hash = variant.template_hash;
  e.verify_error = variant.verify_error.value_or(-1), e.verify_tolerance = variant.verify_tolerance;
  e.times = cell_times(results, winner, baseline);
  e.extend_below = results.extend_below.at(winner.variant);
  tuned.row.extend_below = extend_below(e);
  e.kernels = kernels_of(variant);
  for (const StoredTiming& t : results.timings.at(winner.variant))
    if (t.context == winner.context_min) e.method = t.method;
  count_space(results, e);
  const Score score = score_of(results, winner);
  e.ratio = score.ratio, e.max_regret = score.max_regret, e.reason = winner.reason;
  return tuned;
}

/// Ordering of the environments that compete for a cell; the greatest is taken.
bool less_trusted(const TunedRow& a, const TunedRow& b, const std::string& template_hash) {
  const auto rank = [&](const TunedRow& r) {
    return std::tuple(!r.row.estimated, r.evidence.template_hash == template_hash);
  };
  if (rank(a) != rank(b)) return rank(a) < rank(b);
  for (const auto text : {&Evidence::compiler, &Evidence::runtime, &Evidence::driver}) {
    if (older(a.evidence.*text, b.evidence.*text)) return true;
    if (older(b.evidence.*text, a.evidence.*text)) return false;
  }
  const auto tail = [](const TunedRow& r) {
    return std::tuple(-r.evidence.ratio, r.evidence.provider, r.evidence.features, r.evidence.device_name);
  };
  return tail(a) < tail(b);
}

struct Requirement {
  int head_dim = 0, v_head_dim = 0, context = 0;  ///< 0: any
};

int requirement_number(const std::string& text, const std::string& cell) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const std::string rest(end, text.data() + text.size());
  if (error != std::errc() || value < 1 || (!rest.empty() && rest != "k"))
    throw UsageError(
        fmt::format("--require: '{}' is no cell; expected HEAD_DIM[/V_HEAD_DIM][@CONTEXT] such as 576/512@32k", cell));
  return rest == "k" ? value * 1024 : value;
}

Requirement parse_requirement(const std::string& cell) {
  const auto at = cell.find('@');
  const std::string dims = cell.substr(0, at);
  const auto slash = dims.find('/');
  Requirement requirement;
  requirement.head_dim = requirement_number(dims.substr(0, slash), cell);
  if (slash != std::string::npos) requirement.v_head_dim = requirement_number(dims.substr(slash + 1), cell);
  if (at != std::string::npos) requirement.context = requirement_number(cell.substr(at + 1), cell);
  return requirement;
}

bool covers(const TableRow& row, const Requirement& r) {
  return row.head_dim == r.head_dim && (r.v_head_dim == 0 || row.v_head_dim == r.v_head_dim) &&
         (r.context == 0 || (r.context >= row.context_min && r.context <= row.context_max));
}

}  // namespace

std::vector<std::string> tuned_archs(const Store& store) {
  std::set<std::string> found;
  for (const auto& [environment, facts] : store.environments())
    for (const auto& [problem, stored] : store.problems())
      if (stored.op == tuned_op && !store.winners(environment, problem).empty()) found.insert(facts.arch);
  return {found.begin(), found.end()};
}

std::vector<TunedRow> tuned_rows(const Store& store, std::int64_t environment, std::int64_t problem) {
  std::vector<TunedRow> rows;
  const auto winners = store.winners(environment, problem);
  if (winners.empty()) return rows;
  const StoredEnvironment facts = store.environments().at(environment);
  const StoredProblem stored = store.problems().at(problem);
  const Results results = results_of(store, environment, problem);
  const BestTimes baseline = baseline_of(store, environment, stored.problem);
  for (const StoredWinner& winner : winners)
    rows.push_back(tuned_row(facts, stored.problem, results, winner, baseline));
  return rows;
}

TunedTable build_table(const Store& store, const std::string& arch, const std::string& template_hash,
                       const std::function<bool(const StoredEnvironment&)>& wanted) {
  // Rows of one cell come from one environment only: context ranges of different ones need not fit together.
  std::map<Key, std::vector<TunedRow>> cells;
  for (const auto& [environment, facts] : store.environments()) {
    if (facts.arch != arch || (wanted && !wanted(facts))) continue;
    for (const auto& [problem, stored] : store.problems()) {
      if (stored.op != tuned_op) continue;
      std::vector<TunedRow> rows = tuned_rows(store, environment, problem);
      if (rows.empty()) continue;
      std::vector<TunedRow>& present = cells[cell_key(rows.front().row)];
      if (present.empty() || less_trusted(present.front(), rows.front(), template_hash)) present = std::move(rows);
    }
  }
  TunedTable table{arch, {}};
  for (auto& [key, rows] : cells) table.rows.insert(table.rows.end(), rows.begin(), rows.end());
  sort_rows(table);
  return table;
}

KernelResources kernel_resources(const std::string& kernel, const Resources& r) {
  return {kernel, r.vgpr, r.agpr, r.sgpr, r.lds_bytes, r.scratch_bytes, r.vgpr_spills, r.sgpr_spills};
}

std::vector<std::string> mark_stale(TunedTable& table, const std::string& template_hash) {
  std::vector<std::string> lines;
  for (TunedRow& row : table.rows) {
    row.stale = row.evidence.template_hash != template_hash;
    if (row.stale)
      lines.push_back(fmt::format("{}: tuned with templates {:.12}, present ones are {:.12}", describe(row.row),
                                  row.evidence.template_hash, template_hash));
  }
  return lines;
}

std::vector<std::string> empty_cells(const TunedTable& table, const std::string& require) {
  std::vector<std::string> empty;
  for (std::size_t begin = 0, end; begin <= require.size(); begin = end + 1) {
    end = std::min(require.find(',', begin), require.size());
    const std::string cell = require.substr(begin, end - begin);
    const Requirement requirement = parse_requirement(cell);
    if (std::none_of(table.rows.begin(), table.rows.end(),
                     [&](const TunedRow& row) { return covers(row.row, requirement); }))
      empty.push_back(cell);
  }
  return empty;
}

bool older(const std::string& a, const std::string& b) {
  const auto digit = [](char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; };
  for (std::size_t i = 0, j = 0;;) {
    if (i == a.size() || j == b.size()) return i == a.size() && j < b.size();
    if (!digit(a[i]) || !digit(b[j])) {
      if (a[i] != b[j]) return a[i] < b[j];
      ++i, ++j;
      continue;
    }
    const auto number = [&](const std::string& text, std::size_t& at) {
      unsigned long long value = 0;
      for (; at < text.size() && digit(text[at]); ++at) value = value * 10 + static_cast<unsigned>(text[at] - '0');
      return value;
    };
    const auto x = number(a, i), y = number(b, j);
    if (x != y) return x < y;
  }
}

}  // namespace headtune
