#include "tuner/table_file.h"

#include <fmt/format.h>
#include <fmt/std.h>
#include <unistd.h>

#include <cerrno>
#include <cmath>
#include <cstring>
#include <fstream>

#include "headtune/arch.h"
#include "tuner/dtype.h"
#include "tuner/error.h"
#include "tuner/sha256.h"

namespace headtune {
namespace {

using nlohmann::json;

constexpr const char* format_name = "headtune-table/1";

/// Nanoseconds are the finest that a clock resolves; more digits would only make tables longer.
double rounded(double value) { return std::round(value * 1000) / 1000; }
/// Ratios and errors, to seven decimals.
double fraction(double value) { return std::round(value * 1e7) / 1e7; }

json key_json(const TableRow& r) {
  return {{"cu_count", r.cu_count},       {"wave_size", r.wave_size},           {"head_dim", r.head_dim},
          {"v_head_dim", r.v_head_dim},   {"kv_group_num", r.kv_group_num},     {"num_kv_heads", r.num_kv_heads},
          {"extend_len", r.extend_len},   {"has_kv_heads", r.has_kv_heads},     {"is_causal", r.is_causal},
          {"dtype", dtype_name(r.dtype)}, {"kv_dtype", dtype_name(r.kv_dtype)}, {"context_min", r.context_min},
          {"context_max", r.context_max}};
}

json config_json(const Config& config) {
  json values = json::object();
  for (const Knob& knob : knobs) values[knob.name] = config.*knob.member;
  return values;
}

json time_json(const CellTime& t) {
  json time = {{"context", t.context},
               {"batch", t.batch},
               {"median_us", rounded(t.median_us)},
               {"low_us", rounded(t.low_us)},
               {"high_us", rounded(t.high_us)},
               {"samples", t.samples},
               {"best_us", rounded(t.best_us)},
               {"baseline_us", rounded(t.baseline_us)},
               {"floor_bytes", t.floor_bytes}};
  if (!t.counters.empty()) time["counters"] = t.counters;
  return time;
}

/// A partial sweep says so; a full one, as most are, leaves the member out.
json space_json(const Evidence& e) {
  json space = {{"candidates", e.candidates}, {"pruned", e.pruned}, {"failed", e.failed}};
  if (e.untried > 0) space["untried"] = e.untried;
  return space;
}

json extend_below_json(const std::vector<ExtendBelow>& all) {
  json list = json::array();
  for (const ExtendBelow& one : all) list.push_back({{"batch", one.batch}, {"keys", one.keys}});
  return list;
}

json resources_json(const std::vector<KernelResources>& kernels) {
  json all = json::object();
  for (const KernelResources& kernel : kernels)
    for (const KernelFigure& figure : kernel_figures) all[kernel.kernel][figure.name] = kernel.*figure.member;
  return all;
}

json evidence_json(const Evidence& e, bool estimated) {
  json times = json::array();
  for (const CellTime& time : e.times) times.push_back(time_json(time));
  json value = {
      {"estimated", estimated},
      {"device",
       {{"provider", e.provider},
        {"name", e.device_name},
        {"features", e.features},
        {"driver", e.driver},
        {"runtime", e.runtime},
        {"compiler", e.compiler}}},
      {"template_hash", e.template_hash},
      {"method", e.method},
      {"verification", {{"error", fraction(e.verify_error)}, {"tolerance", fraction(e.verify_tolerance)}}},
      {"space", space_json(e)},
      {"selection", {{"ratio", fraction(e.ratio)}, {"max_regret", fraction(e.max_regret)}, {"reason", e.reason}}},
      {"noise", fraction(noise(e))},
      {"times", times}};
  if (!e.extend_below.empty()) value["extend_below"] = extend_below_json(e.extend_below);
  if (!e.kernels.empty()) value["resources"] = resources_json(e.kernels);
  return value;
}

json row_json(const TunedRow& tuned) {
  json row = {{"key", key_json(tuned.row)},
              {"config", config_json(tuned.row.config)},
              {"evidence", evidence_json(tuned.evidence, tuned.row.estimated)}};
  if (tuned.stale) row["stale"] = true;
  return row;
}

std::string digest_of(json document) {
  document.erase("digest");
  return sha256_hex(document.dump(-1, ' ', false, json::error_handler_t::replace));
}

/// Reads members of one object and reports what was expected where.
class Reader {
 public:
  Reader(const json& object, std::string path) : object_(object), path_(std::move(path)) {
    if (!object.is_object()) fail("", "an object", object);
  }

  template <class T>
  T get(const char* name) const {
    const auto member = object_.find(name);
    if (member == object_.end())
      throw UsageError(fmt::format("{}.{}: expected {}, found nothing", path_, name, kind<T>()));
    if (!is<T>(*member)) fail(name, kind<T>(), *member);
    return member->get<T>();
  }

  template <class T>
  T get_or(const char* name, T otherwise) const {
    return object_.contains(name) ? get<T>(name) : otherwise;
  }

  bool has(const char* name) const { return object_.contains(name); }

  std::vector<std::string> members() const {
    std::vector<std::string> names;
    for (const auto& item : object_.items()) names.push_back(item.key());
    return names;
  }

  Reader child(const char* name) const {
    static const json none;
    const auto member = object_.find(name);
    return Reader(member == object_.end() ? none : *member, path_ + "." + name);
  }

 private:
  template <class T>
  static constexpr const char* kind() {
    if constexpr (std::is_same_v<T, bool>) return "true or false";
    if constexpr (std::is_same_v<T, std::string>) return "a text";
    if constexpr (std::is_same_v<T, json>) return "an array";
    if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) return "a whole number";
    return "a number";
  }

  template <class T>
  static bool is(const json& value) {
    if constexpr (std::is_same_v<T, bool>) return value.is_boolean();
    if constexpr (std::is_same_v<T, std::string>) return value.is_string();
    if constexpr (std::is_same_v<T, json>) return value.is_array();
    if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) return value.is_number_integer();
    return value.is_number();
  }

  [[noreturn]] void fail(const std::string& name, const char* expected, const json& found) const {
    const std::string text = found.is_null() ? "nothing" : found.dump(-1, ' ', true, json::error_handler_t::replace);
    throw UsageError(fmt::format("{}{}{}: expected {}, found {}", path_, name.empty() ? "" : ".", name, expected,
                                 text.substr(0, 60)));
  }

  const json& object_;
  std::string path_;
};

TableRow read_key(const Reader& key) {
  TableRow r;
  const std::pair<const char*, int*> numbers[] = {
      {"cu_count", &r.cu_count},     {"wave_size", &r.wave_size},       {"head_dim", &r.head_dim},
      {"v_head_dim", &r.v_head_dim}, {"kv_group_num", &r.kv_group_num}, {"num_kv_heads", &r.num_kv_heads},
      {"extend_len", &r.extend_len}, {"context_min", &r.context_min},   {"context_max", &r.context_max}};
  for (const auto& [name, field] : numbers) *field = key.get<int>(name);
  r.has_kv_heads = key.get<bool>("has_kv_heads");
  r.is_causal = key.get<bool>("is_causal");
  r.dtype = parse_dtype(key.get<std::string>("dtype"));
  r.kv_dtype = parse_dtype(key.get<std::string>("kv_dtype"));
  return r;
}

Config read_config(const Reader& values) {
  Config config;
  for (const Knob& knob : knobs) config.*knob.member = values.get<int>(knob.name);
  return config;
}

CellTime read_time(const Reader& t) {
  CellTime time{t.get<int>("context"),    t.get<int>("batch"),          t.get<double>("median_us"),
                t.get<double>("low_us"),  t.get<double>("high_us"),     t.get<int>("samples"),
                t.get<double>("best_us"), t.get<double>("baseline_us"), t.get<long long>("floor_bytes")};
  if (!t.has("counters")) return time;
  const Reader counters = t.child("counters");
  for (const std::string& name : counters.members()) time.counters[name] = counters.get<long long>(name.c_str());
  return time;
}

void read_device(const Reader& device, Evidence& e) {
  e.provider = device.get<std::string>("provider");
  e.device_name = device.get<std::string>("name");
  e.features = device.get<std::string>("features");
  e.driver = device.get<std::string>("driver");
  e.runtime = device.get<std::string>("runtime");
  e.compiler = device.get<std::string>("compiler");
}

/// Optional: older tables have none.
std::vector<KernelResources> read_resources(const Reader& evidence) {
  std::vector<KernelResources> kernels;
  if (!evidence.has("resources")) return kernels;
  const Reader resources = evidence.child("resources");
  for (const std::string& name : resources.members()) {
    const Reader figures = resources.child(name.c_str());
    KernelResources kernel;
    kernel.kernel = name;
    for (const KernelFigure& figure : kernel_figures) kernel.*figure.member = figures.get<int>(figure.name);
    kernels.push_back(kernel);
  }
  return kernels;
}

Evidence read_evidence(const Reader& evidence, const std::string& path) {
  Evidence e;
  read_device(evidence.child("device"), e);
  e.template_hash = evidence.get<std::string>("template_hash");
  e.method = evidence.get<std::string>("method");
  e.verify_error = evidence.child("verification").get<double>("error");
  e.verify_tolerance = evidence.child("verification").get<double>("tolerance");
  e.candidates = evidence.child("space").get<int>("candidates");
  e.pruned = evidence.child("space").get<int>("pruned");
  e.failed = evidence.child("space").get<int>("failed");
  e.untried = evidence.child("space").get_or("untried", 0);
  e.ratio = evidence.child("selection").get<double>("ratio");
  e.max_regret = evidence.child("selection").get<double>("max_regret");
  e.reason = evidence.child("selection").get<std::string>("reason");
  for (const json& one : evidence.get_or("extend_below", json::array())) {
    const Reader below(one, path + ".extend_below");
    e.extend_below.push_back({below.get<int>("batch"), below.get<int>("keys")});
  }
  const json times = evidence.get<json>("times");
  for (std::size_t i = 0; i < times.size(); ++i)
    e.times.push_back(read_time(Reader(times[i], fmt::format("{}.times[{}]", path, i))));
  e.kernels = read_resources(evidence);
  return e;
}

TunedRow read_row(const json& value, const std::string& path) {
  const Reader row(value, path);
  TunedRow tuned{read_key(row.child("key")), read_evidence(row.child("evidence"), path + ".evidence"),
                 value.value("stale", false)};
  tuned.row.config = read_config(row.child("config"));
  tuned.row.extend_below = extend_below(tuned.evidence);
  tuned.row.estimated = row.child("evidence").get<bool>("estimated");
  if (const std::string missing = missing_evidence(tuned); !missing.empty())
    throw UsageError(fmt::format("{} ({}): evidence.{}", path, describe(tuned.row), missing));
  return tuned;
}

bool all_scalar(const json& value) {
  for (const auto& item : value)
    if (item.is_structured()) return false;
  return true;
}

}  // namespace

std::string pretty(const json& value, int depth) {
  const auto scalar_text = [](const json& v) { return v.dump(-1, ' ', false, json::error_handler_t::replace); };
  if (!value.is_structured() || value.empty() || all_scalar(value)) return scalar_text(value);
  const std::string indent(2 * static_cast<std::size_t>(depth) + 2, ' ');
  std::string text;
  for (const auto& item : value.items()) {
    if (!text.empty()) text += ",\n";
    text += indent + (value.is_object() ? scalar_text(json(item.key())) + ": " : "") + pretty(item.value(), depth + 1);
  }
  const std::string close = indent.substr(2);
  return value.is_object() ? "{\n" + text + "\n" + close + "}" : "[\n" + text + "\n" + close + "]";
}

std::string table_json(TunedTable table) {
  sort_rows(table);
  json rows = json::array();
  for (const TunedRow& row : table.rows) rows.push_back(row_json(row));
  json document = {{"format", format_name}, {"op", "verify_shared_kv"}, {"arch", table.arch}, {"rows", rows}};
  document["digest"] = digest_of(document);
  return pretty(document) + "\n";
}

TunedTable parse_table(const std::string& text, const std::string& file_name) {
  const json document = json::parse(text, nullptr, false);
  if (document.is_discarded())
    throw UsageError(fmt::format("{}: not JSON; expected a table that headtune wrote", file_name));
  const Reader root(document, file_name);
  if (const auto found = root.get<std::string>("format"); found != format_name)
    throw UsageError(fmt::format("{}.format: expected {}, found {}", file_name, format_name, found));
  TunedTable table{root.get<std::string>("arch"), {}};
  if (const Arch* arch = find_arch(table.arch.c_str()); arch == nullptr || table.arch != arch->name)
    throw UsageError(fmt::format("{}.arch: expected a known architecture, found '{}'", file_name, table.arch));
  const json rows = root.get<json>("rows");
  for (std::size_t i = 0; i < rows.size(); ++i)
    table.rows.push_back(read_row(rows[i], fmt::format("{}: rows[{}]", file_name, i)));
  if (const auto expected = digest_of(document), found = root.get<std::string>("digest"); found != expected)
    throw UsageError(
        fmt::format("{}: edited by hand: digest expected {:.12}, found {:.12}; emit it from its database again",
                    file_name, expected, found));
  return table;
}

TunedTable read_table(const std::filesystem::path& file) { return parse_table(read_file(file), file.string()); }

std::string read_file(const std::filesystem::path& file) {
  errno = 0;
  std::ifstream stream(file, std::ios::binary);
  if (!stream) throw UsageError(fmt::format("cannot read {}: {}", file.string(), std::strerror(errno)));
  std::string text;
  char block[1 << 16];
  errno = 0;
  while (stream.read(block, sizeof block) || stream.gcount() > 0)
    text.append(block, static_cast<std::size_t>(stream.gcount()));
  if (!stream.eof() || errno != 0)
    throw UsageError(fmt::format("cannot read {}: {}", file.string(), std::strerror(errno)));
  return text;
}

void write_file(const std::filesystem::path& file, const std::string& text) {
  const std::filesystem::path temporary = file.string() + fmt::format(".{}.tmp", ::getpid());
  std::ofstream stream(temporary, std::ios::binary);
  stream << text;
  stream.close();
  std::error_code error;
  if (stream) {
    std::filesystem::rename(temporary, file, error);
    if (!error) return;
  }
  const std::string why = error ? error.message() : std::strerror(errno);
  std::filesystem::remove(temporary, error);
  throw UsageError(fmt::format("cannot write {}: {}", file.string(), why));
}

}  // namespace headtune
