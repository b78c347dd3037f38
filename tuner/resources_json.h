// The resources of a variant's kernels as JSON: on the compile process's wire, in its cache and in the database.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "tuner/toolchain.h"

namespace headtune {

struct ResourceField {
  const char* name;
  int Resources::*member;
};

/// The one list of fields of Resources.
inline constexpr ResourceField resource_fields[] = {
    {"vgpr", &Resources::vgpr},
    {"agpr", &Resources::agpr},
    {"sgpr", &Resources::sgpr},
    {"lds_bytes", &Resources::lds_bytes},
    {"scratch_bytes", &Resources::scratch_bytes},
    {"vgpr_spills", &Resources::vgpr_spills},
    {"sgpr_spills", &Resources::sgpr_spills},
    {"waves_per_simd", &Resources::waves_per_simd},
    {"max_workgroup_size", &Resources::max_workgroup_size},
};

/// {"kernel": {"vgpr": 128, ...}, ...}
inline nlohmann::json resources_json(const std::map<std::string, Resources>& kernels) {
  nlohmann::json json = nlohmann::json::object();
  for (const auto& [kernel, resources] : kernels)
    for (const ResourceField& field : resource_fields) json[kernel][field.name] = resources.*field.member;
  return json;
}

enum class AbsentField {
  refused,  ///< throws nlohmann::json::out_of_range
  zero      ///< an older database lacks fields that came later
};

inline std::map<std::string, Resources> resources_of(const nlohmann::json& json, AbsentField absent) {
  std::map<std::string, Resources> kernels;
  for (const auto& [kernel, values] : json.items())
    for (const ResourceField& field : resource_fields)
      kernels[kernel].*field.member =
          absent == AbsentField::zero ? values.value(field.name, 0) : values.at(field.name).get<int>();
  return kernels;
}

}  // namespace headtune
