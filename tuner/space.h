// The search space of one operator: knobs with their values, and constraints as data (space.json), so that a new knob
// or limit needs no code. Enumerating it yields what may be compiled and, for the rest, why not.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "headtune/arch.h"
#include "headtune/config.h"
#include "tuner/expression.h"

namespace headtune {

struct Parameter {
  std::string name;  ///< of a knob in config.h
  std::vector<int> values;
};

/// A value computed from parameters, problem and device, for use in later constraints and reasons. One that bears a
/// knob's name sets that knob: a choice that follows from others needs no search.
struct Derived {
  std::string name;
  Expression value;
};

struct Constraint {
  Expression require;
  std::string reason;  ///< "needs {LDS_BYTES} B of LDS, {ARCH} has {LDS_LIMIT} B": {EXPRESSION} is filled in
};

struct Space {
  std::string op;
  std::vector<Parameter> parameters;
  std::vector<Derived> derived;
  std::vector<Constraint> constraints;
};

struct Pruned {
  Config config;
  std::string reason;
};

struct Candidates {
  std::vector<Config> legal;  ///< in the order of the space: the last parameter varies fastest
  std::vector<Pruned> pruned;
};

/// Throws UsageError with file and place.
Space read_space(const std::filesystem::path& file);
Space parse_space(const std::string& json, const std::string& file_name);

/// The names that constraints may use: HEAD_DIM, V_HEAD_DIM, NUM_Q_HEADS, NUM_KV_HEADS, KV_GROUP_NUM, HAS_KV_HEADS,
/// IS_MLA, IS_CAUSAL, EXTEND_LEN, DTYPE_BYTES, KV_DTYPE_BYTES, KV_DTYPE_NATIVE, every knob, CU_COUNT, WAVE_SIZE,
/// LDS_LIMIT, IS_AMD, CDNA (2, 3, 4; 0 on NVIDIA), SM (90; 0 on AMD). prune_reason adds LDS_BYTES, what the operator's
/// largest kernel needs.
Names constraint_names(const Problem& problem, const Config& config, const Arch& arch);

/// Throws UsageError when the space names something unknown.
Candidates enumerate(const Space& space, const Problem& problem, const Arch& arch);

/// The legal configurations; throws UsageError telling why each was pruned when there is none.
std::vector<Config> require_legal(const Space& space, const Problem& problem, const Arch& arch);

/// What extend_attention, which is not tuned, runs with: the first legal configuration of its space; none where it does
/// not compute the problem. `templates` holds headtune/extend_attention/space.json.
std::optional<Config> extend_config(const Problem& problem, const Arch& arch, const std::filesystem::path& templates);

/// Whether the numbers make a problem at all (heads divide, positive sizes, ...). Throws UsageError.
void validate(const Problem& problem);

/// The reason why `config` may not be used; empty when it may. `config` need not be one of the listed values, and its
/// knobs stay as they are where the space would derive others.
std::string prune_reason(const Space& space, const Problem& problem, const Config& config, const Arch& arch);

/// "BLOCK_H=4 BLOCK_N=64 NUM_WARPS=4"
std::string to_string(const Config& config);

}  // namespace headtune
