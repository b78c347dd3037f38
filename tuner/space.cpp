#include "tuner/space.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "tuner/error.h"
#include "tuner/op.h"

namespace headtune {

using nlohmann::json;

namespace {

const Knob* find_knob(const std::string& name) {
  for (const Knob& knob : knobs)
    if (name == knob.name) return &knob;
  return nullptr;
}

/// One space file while it is read: knows its name for messages.
class Reader {
 public:
  explicit Reader(std::string file) : file_(std::move(file)) {}

  Space read(const std::string& text) {
    const json root = parse(text);
    for (const auto& [key, value] : object(root, "top level").items())
      if (key != "op" && key != "parameters" && key != "derived" && key != "constraints" && key != "comment")
        fail("top level", fmt::format("unknown key \"{}\"", key));
    Space space;
    space.op = string(root, "op", "top level");
    for (const json& item : array(root, "parameters")) space.parameters.push_back(parameter(item, space));
    for (const json& item : root.contains("derived") ? array(root, "derived") : json::array())
      space.derived.push_back(
          {string(item, "name", "derived"), expression(string(item, "value", "derived"), "derived")});
    for (const json& item : array(root, "constraints")) space.constraints.push_back(constraint(item));
    return space;
  }

 private:
  [[noreturn]] void fail(const std::string& place, const std::string& what) const {
    throw UsageError(fmt::format("{}: {}: {}", file_, place, what));
  }

  json parse(const std::string& text) const {
    try {
      return json::parse(text);
    } catch (const json::parse_error& error) {
      const std::string before = text.substr(0, error.byte ? error.byte - 1 : 0);
      fail(fmt::format("line {}", 1 + std::count(before.begin(), before.end(), '\n')), "not valid JSON");
    }
  }

  const json& object(const json& value, const std::string& place) const {
    if (!value.is_object()) fail(place, "expected an object");
    return value;
  }

  const json& array(const json& root, const std::string& key) const {
    const auto found = root.find(key);
    if (found == root.end() || !found->is_array()) fail(key, "expected an array");
    return *found;
  }

  std::string string(const json& value, const std::string& key, const std::string& place) const {
    const auto found = object(value, place).find(key);
    if (found == value.end() || !found->is_string()) fail(place, fmt::format("expected a string \"{}\"", key));
    return found->get<std::string>();
  }

  Expression expression(const std::string& text, const std::string& place) const {
    try {
      return Expression(text);
    } catch (const ExpressionError& error) {
      fail(place, error.what());
    }
  }

  Parameter parameter(const json& item, const Space& so_far) const {
    Parameter result{string(item, "name", "parameters"), {}};
    const std::string place = "parameter " + result.name;
    if (!find_knob(result.name)) fail(place, "not a knob of config.h");
    for (const Parameter& other : so_far.parameters)
      if (other.name == result.name) fail(place, "listed twice");
    for (const json& value : array(item, "values")) {
      if (!value.is_number_integer()) fail(place, "values must be integers");
      result.values.push_back(value.get<int>());
    }
    if (result.values.empty()) fail(place, "has no values");
    if (std::set(result.values.begin(), result.values.end()).size() != result.values.size())
      fail(place, "lists a value twice");
    return result;
  }

  Constraint constraint(const json& item) const {
    const std::string require = string(item, "require", "constraints");
    const std::string place = fmt::format("constraint `{}`", require);
    return {expression(require, place), string(item, "reason", place)};
  }

  std::string file_;
};

/// Fills every {EXPRESSION} of a reason; {ARCH} is the architecture's name.
std::string fill(const std::string& reason, const Names& names, const Arch& arch) {
  std::string result;
  for (std::size_t at = 0; at < reason.size();) {
    const std::size_t open = reason.find('{', at), close = reason.find('}', open);
    result += reason.substr(at, open - at);
    if (open == std::string::npos || close == std::string::npos) break;
    const std::string inner = reason.substr(open + 1, close - open - 1);
    result += inner == "ARCH" ? arch.name : std::to_string(Expression(inner).evaluate(names));
    at = close + 1;
  }
  return result;
}

/// Calls `visit` with every combination of the parameters' values, the last one varying fastest.
template <class Visit>
void for_each_config(const Space& space, std::size_t index, Config& config, const Visit& visit) {
  if (index == space.parameters.size()) return visit(config);
  const Parameter& parameter = space.parameters[index];
  for (int value : parameter.values) {
    config.*find_knob(parameter.name)->member = value;
    for_each_config(space, index + 1, config, visit);
  }
}

int arch_number(const Arch& arch) {  // "sm_90" -> 90
  return arch.family == Family::nvidia ? std::stoi(std::string(arch.name).substr(3)) : 0;
}

/// One configuration against a space. `names` holds those of problem and device and is reused for the next one.
class Examiner {
 public:
  Examiner(const Space& space, const Problem& problem, const Arch& arch)
      : space_(space),
        op_(find_op(space.op)),
        problem_(problem),
        arch_(arch),
        names_(constraint_names(problem, {}, arch)) {}

  /// The reason of the first constraint that does not hold, or nothing. `derive` lets the space set knobs.
  std::string first_unmet(Config& config, bool derive) {
    try {
      for (const Knob& knob : knobs) names_[knob.name] = config.*knob.member;
      count_lds(config);
      for (const Derived& derived : space_.derived) evaluate(derived, config, derive);
      for (const Constraint& constraint : space_.constraints)
        if (!constraint.require.evaluate(names_)) return fill(constraint.reason, names_, arch_);
      return {};
    } catch (const ExpressionError& error) {
      throw UsageError(fmt::format("space of {}: {}", space_.op, error.what()));
    }
  }

 private:
  void count_lds(const Config& config) { names_["LDS_BYTES"] = op_.lds_bytes(problem_, config, arch_); }

  void evaluate(const Derived& derived, Config& config, bool derive) {
    const Knob* knob = find_knob(derived.name);
    if (knob && !derive) return;
    const long long value = names_[derived.name] = derived.value.evaluate(names_);
    if (!knob) return;
    config.*knob->member = static_cast<int>(value);
    count_lds(config);
  }

  const Space& space_;
  const Op& op_;
  const Problem& problem_;
  const Arch& arch_;
  Names names_;
};

/// "12 of 16: reason; 4 of 16: another", most frequent first.
std::string summarise(const std::vector<Pruned>& pruned) {
  std::map<std::string, int> counts;
  for (const Pruned& one : pruned) ++counts[one.reason];
  std::vector<std::pair<std::string, int>> ordered(counts.begin(), counts.end());
  std::stable_sort(ordered.begin(), ordered.end(), [](auto& a, auto& b) { return a.second > b.second; });
  if (ordered.size() > 3) ordered.resize(3);
  std::string text;
  for (const auto& [reason, count] : ordered)
    text += fmt::format("{}{} of {}: {}", text.empty() ? "" : "; ", count, pruned.size(), reason);
  return text;
}

}  // namespace

Space parse_space(const std::string& json_text, const std::string& file_name) {
  return Reader(file_name).read(json_text);
}

Space read_space(const std::filesystem::path& file) {
  std::ifstream in(file);
  if (!in) throw UsageError(fmt::format("{}: cannot read the search space", file.string()));
  return parse_space(std::string(std::istreambuf_iterator<char>(in), {}), file.string());
}

Names constraint_names(const Problem& problem, const Config& config, const Arch& arch) {
  const bool amd = arch.family != Family::nvidia;
  Names names = {{"HEAD_DIM", problem.head_dim},
                 {"V_HEAD_DIM", problem.v_head_dim},
                 {"NUM_Q_HEADS", problem.num_q_heads},
                 {"NUM_KV_HEADS", problem.num_kv_heads},
                 {"KV_GROUP_NUM", problem.kv_group_num()},
                 {"HAS_KV_HEADS", problem.has_kv_heads()},
                 {"IS_MLA", problem.is_mla()},
                 {"IS_CAUSAL", problem.is_causal},
                 {"EXTEND_LEN", problem.extend_len},
                 {"DTYPE_BYTES", element_bytes(problem.dtype)},
                 {"KV_DTYPE_BYTES", element_bytes(problem.kv_dtype)},
                 {"KV_DTYPE_NATIVE", supports(arch, problem.kv_dtype)},
                 {"CU_COUNT", arch.cu_count},
                 {"WAVE_SIZE", arch.wave_size},
                 {"LDS_LIMIT", arch.lds_bytes},
                 {"IS_AMD", amd},
                 {"CDNA", amd ? static_cast<int>(arch.family) : 0},
                 {"SM", arch_number(arch)}};
  for (const Knob& knob : knobs) names[knob.name] = config.*knob.member;
  return names;
}

void validate(const Problem& problem) {
  const auto require = [](bool ok, const std::string& text) {
    if (!ok) throw UsageError(text);
  };
  require(problem.head_dim > 0 && problem.v_head_dim > 0, "head_dim and v_head_dim must be positive");
  require(problem.v_head_dim <= problem.head_dim,
          fmt::format("v_head_dim {} is larger than head_dim {}", problem.v_head_dim, problem.head_dim));
  require(problem.num_q_heads > 0 && problem.num_kv_heads > 0, "the numbers of heads must be positive");
  require(problem.num_q_heads % problem.num_kv_heads == 0,
          fmt::format("{} query heads are not divisible by {} KV heads", problem.num_q_heads, problem.num_kv_heads));
  require(problem.extend_len > 0, "extend_len must be positive");
  require(element_bytes(problem.dtype) == 2, "dtype of Q, new K/V and output must be bf16 or fp16");
  require(element_bytes(problem.kv_dtype) == 1 || problem.kv_dtype == problem.dtype,
          "a 16-bit KV cache must have the dtype of Q");
}

std::string prune_reason(const Space& space, const Problem& problem, const Config& config, const Arch& arch) {
  Config copy = config;
  return Examiner(space, problem, arch).first_unmet(copy, false);
}

Candidates enumerate(const Space& space, const Problem& problem, const Arch& arch) {
  validate(problem);
  Candidates result;
  Examiner examiner(space, problem, arch);
  Config config;
  for_each_config(space, 0, config, [&](Config candidate) {
    std::string reason = examiner.first_unmet(candidate, true);
    if (reason.empty())
      result.legal.push_back(candidate);
    else
      result.pruned.push_back({candidate, std::move(reason)});
  });
  return result;
}

std::optional<Config> extend_config(const Problem& problem, const Arch& arch, const std::filesystem::path& templates) {
  const Candidates found =
      enumerate(read_space(templates / "headtune" / "extend_attention" / "space.json"), problem, arch);
  if (found.legal.empty()) return std::nullopt;
  return found.legal.front();
}

std::vector<Config> require_legal(const Space& space, const Problem& problem, const Arch& arch) {
  Candidates candidates = enumerate(space, problem, arch);
  if (candidates.legal.empty())
    throw UsageError(fmt::format("no variant of {} is legal for head_dim {} ({}/{} heads, extend_len {}) on {}: {}",
                                 space.op, problem.head_dim, problem.num_q_heads, problem.num_kv_heads,
                                 problem.extend_len, arch.name, summarise(candidates.pruned)));
  return std::move(candidates.legal);
}

std::string to_string(const Config& config) {
  std::string text;
  for (const Knob& knob : knobs)
    text += fmt::format("{}{}={}", text.empty() ? "" : " ", knob.name, config.*knob.member);
  return text;
}

}  // namespace headtune
