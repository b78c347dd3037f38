#include "tuner/frozen_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "tuner/dtype.h"
#include "tuner/error.h"
#include "tuner/table_file.h"

namespace headtune {
namespace {

using nlohmann::json;

constexpr const char* format_name = "headtune-frozen/1";

json problem_json(const Problem& p) {
  return {{"head_dim", p.head_dim},         {"v_head_dim", p.v_head_dim},       {"num_q_heads", p.num_q_heads},
          {"num_kv_heads", p.num_kv_heads}, {"extend_len", p.extend_len},       {"is_causal", p.is_causal},
          {"dtype", to_string(p.dtype)},    {"kv_dtype", to_string(p.kv_dtype)}};
}

Problem problem_of(const json& j) {
  return {j.at("head_dim"),
          j.at("v_head_dim"),
          j.at("num_q_heads"),
          j.at("num_kv_heads"),
          j.at("extend_len"),
          j.at("is_causal"),
          parse_dtype(j.at("dtype").get<std::string>()),
          parse_dtype(j.at("kv_dtype").get<std::string>())};
}

json variant_json(const FrozenVariant& v) {
  json config = json::object();
  for (const Knob& knob : knobs) config[knob.name] = v.config.*knob.member;
  return {{"op", v.op}, {"problem", problem_json(v.problem)}, {"config", config}, {"kernels", v.kernels}};
}

FrozenVariant variant_of(const json& j) {
  FrozenVariant v{j.at("op"), problem_of(j.at("problem")), {}, j.at("kernels")};
  for (const Knob& knob : knobs) v.config.*knob.member = j.at("config").at(knob.name);
  return v;
}

json record_json(const FrozenRecord& record) {
  json variants = json::array();
  for (const FrozenVariant& variant : record.variants) variants.push_back(variant_json(variant));
  return {{"arch", record.arch}, {"compiler", record.compiler}, {"variants", variants}};
}

FrozenRecord record_of(const json& j) {
  FrozenRecord record{j.at("arch"), j.at("compiler"), {}};
  for (const json& variant : j.at("variants")) record.variants.push_back(variant_of(variant));
  return record;
}

/// One instruction a line, so that versions of the file compare by instruction.
std::string lines_json(const KernelCode& lines) {
  std::string text;
  for (const std::string& line : lines) text += (text.empty() ? "\n" : ",\n") + json(line).dump();
  return "[" + text + "]";
}

std::set<std::string> named(const std::vector<FrozenRecord>& records) {
  std::set<std::string> digests;
  for (const FrozenRecord& record : records)
    for (const FrozenVariant& variant : record.variants)
      for (const auto& [kernel, digest] : variant.kernels) digests.insert(digest);
  return digests;
}

FrozenFile file_of(const json& document) {
  FrozenFile file;
  for (const json& record : document.at("records")) file.records.push_back(record_of(record));
  for (const auto& [digest, code] : document.at("code").items())
    file.code[digest] = {code.at("opcodes"), code.at("lines")};
  return file;
}

}  // namespace

const FrozenRecord* FrozenFile::find(const std::string& arch, const std::string& compiler) const {
  for (const FrozenRecord& record : records)
    if (record.arch == arch && record.compiler == compiler) return &record;
  return nullptr;
}

void FrozenFile::put(FrozenRecord record, const std::map<std::string, FrozenCode>& more) {
  std::erase_if(records, [&](const auto& old) { return old.arch == record.arch && old.compiler == record.compiler; });
  records.push_back(std::move(record));
  std::ranges::sort(records, {}, [](const FrozenRecord& r) { return std::pair(r.arch, r.compiler); });
  code.insert(more.begin(), more.end());
  std::erase_if(code, [kept = named(records)](const auto& entry) { return !kept.contains(entry.first); });
}

std::string frozen_json(const FrozenFile& file) {
  json records = json::array();
  for (const FrozenRecord& record : file.records) records.push_back(record_json(record));
  std::string code;
  for (const auto& [digest, kept] : file.code)
    code += fmt::format("{}\n\"{}\": {{\"opcodes\": {},\n\"lines\": {}}}", code.empty() ? "" : ",", digest,
                        json(kept.opcodes).dump(), lines_json(kept.lines));
  return fmt::format("{{\n\"format\": \"{}\",\n\"records\": {},\n\"code\": {{{}\n}}\n}}\n", format_name,
                     pretty(records), code);
}

FrozenFile parse_frozen(const std::string& text, const std::string& file_name) {
  const json document = json::parse(text, nullptr, false);
  if (!document.is_object() || document.value("format", json()) != format_name)
    throw UsageError(fmt::format("{}: expected {}, as `headtune freeze` writes it", file_name, format_name));
  try {
    return file_of(document);
  } catch (const json::exception& error) {
    throw UsageError(fmt::format("{}: damaged: {}; freeze again", file_name, error.what()));
  }
}

FrozenFile read_frozen(const std::filesystem::path& file) { return parse_frozen(read_file(file), file.string()); }

}  // namespace headtune
