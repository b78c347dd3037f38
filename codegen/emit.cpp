#include "codegen/emit.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <stdexcept>

namespace headtune {
namespace {

std::string lower(std::string text) {
  for (char& c : text)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return text;
}

/// "4, 64, 8" in the order of config.h's knobs.
std::string knob_values(const Config& config) {
  std::string text;
  for (const Knob& knob : knobs) text += fmt::format("{}{}", text.empty() ? "" : ", ", config.*knob.member);
  return text;
}

/// Names every knob, so that a header stays right when a later headtune adds or reorders knobs.
std::string config_function() {
  std::string parameters, body;
  for (const Knob& knob : knobs) {
    const std::string name = lower(knob.name);
    parameters += fmt::format("{}int {}", parameters.empty() ? "" : ", ", name);
    body += fmt::format("  config.{0} = {0};\n", name);
  }
  return fmt::format("constexpr Config config({}) {{\n  Config config{{}};\n{}  return config;\n}}\n", parameters,
                     body);
}

int least_samples(const Evidence& evidence) {
  int least = evidence.times.front().samples;
  for (const CellTime& time : evidence.times) least = std::min(least, time.samples);
  return least;
}

/// Of a partial sweep.
std::string untried_text(const Evidence& e) {
  return e.untried > 0 ? fmt::format("{} of {} configurations tried. ", e.candidates + e.failed,
                                     e.candidates + e.failed + e.untried)
                       : "";
}

/// Two lines of where a row comes from, without a comment sign.
std::vector<std::string> provenance(const TunedRow& tuned) {
  const Evidence& e = tuned.evidence;
  std::vector<std::string> lines = {
      harmless(fmt::format("{}{}{}{} points, {} samples each, noise {:.1f}%, regret {:.1f}%, {}",
                           tuned.stale ? "STALE. " : "", tuned.row.estimated ? "Estimated, not measured. " : "",
                           untried_text(e), e.times.size(), least_samples(e), 100 * noise(e), 100 * e.max_regret,
                           e.reason)),
      harmless(fmt::format("error {:.1e} of {:.1e}, template {}", e.verify_error, e.verify_tolerance,
                           e.template_hash.substr(0, 12))) +
          ", " + harmless(e.device_name) + ", " + harmless(e.compiler)};
  return lines;
}

std::string header_row(const TunedRow& tuned) {
  const TableRow& r = tuned.row;
  std::string text;
  for (const std::string& line : provenance(tuned)) text += "    // " + line + "\n";
  const std::string extend_below = r.extend_below > 0 ? fmt::format(", {}", r.extend_below) : "";
  return text +
         fmt::format("    {{{}, {}, {}, {}, {}, {}, {}, {}, {}, DType::{}, DType::{}, {}, {}, {}, config({}){}}},\n",
                     r.cu_count, r.wave_size, r.head_dim, r.v_head_dim, r.kv_group_num, r.num_kv_heads, r.extend_len,
                     r.has_kv_heads, r.is_causal, dtype_name(r.dtype), dtype_name(r.kv_dtype), r.context_min,
                     r.context_max, r.estimated, knob_values(r.config), extend_below);
}

/// The row that stands for a head_dim where a format has room for only one: most points, then the fixed order.
std::map<int, const TunedRow*> by_head_dim(const TunedTable& table) {
  std::map<int, const TunedRow*> chosen;
  for (const TunedRow& row : table.rows) {
    const auto [entry, fresh] = chosen.emplace(row.row.head_dim, &row);
    if (!fresh && row.evidence.times.size() > entry->second->evidence.times.size()) entry->second = &row;
  }
  return chosen;
}

std::string python_values(const Config& config) {
  return fmt::format("({}, {}, {})", config.block_h, config.block_n, config.num_warps);
}

/// A text without the character that separates fields, and that no spreadsheet takes for a formula.
std::string csv_field(const std::string& text) {
  std::string field = harmless(text);
  std::replace(field.begin(), field.end(), ',', '_');
  return field.find_first_of("=+-") == 0 ? "_" + field : field;
}

/// An architecture's name where C++ wants an identifier.
std::string identifier(const std::string& text) {
  std::string name = harmless(text);
  for (char& c : name)
    if (std::string_view(" .:+-/,()=%").find(c) != std::string_view::npos) c = '_';
  return name;
}

std::string csv_row(const std::string& arch, const TunedRow& tuned, const CellTime& time) {
  const TableRow& r = tuned.row;
  std::string knob_fields;
  for (const Knob& knob : knobs) knob_fields += fmt::format("{},", r.config.*knob.member);
  return fmt::format("{},{},{},{},{},{},{},{},{},{},{},{},{},{}{:.3f},{:.3e},{},{}\n", csv_field(arch), r.cu_count,
                     r.head_dim, r.v_head_dim, r.kv_group_num * r.num_kv_heads, r.num_kv_heads, r.extend_len,
                     int{r.is_causal}, dtype_name(r.dtype), dtype_name(r.kv_dtype), time.context, time.batch,
                     int{r.estimated}, knob_fields, time.median_us, tuned.evidence.verify_error,
                     csv_field(tuned.evidence.template_hash), int{tuned.stale});
}

}  // namespace

Format parse_format(std::string_view name) {
  if (name == "h") return Format::header;
  if (name == "json") return Format::json;
  if (name == "python") return Format::python;
  if (name == "csv") return Format::csv;
  throw std::invalid_argument(fmt::format("unknown format '{}': expected h, json, python or csv", name));
}

std::string harmless(std::string_view text) {
  constexpr std::string_view kept = " ._:+-/,()=%";
  std::string result;
  for (const char c : text.substr(0, 120)) {
    const bool plain = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    result += plain || kept.find(c) != std::string_view::npos ? c : '_';
  }
  return result;
}

std::string emit_header(TunedTable table) {
  sort_rows(table);
  const std::string arch = identifier(table.arch);
  std::string text = fmt::format(
      "// verify_shared_kv on {0}: the configurations that won. Generated by `headtune emit` from {0}.json: do not "
      "edit.\n#pragma once\n\n#include <headtune/table.h>\n\nnamespace headtune::tables::{0} {{\n\n{1}\n",
      arch, config_function());
  text +=
      "/// CUs, wave, head_dim, v_head_dim, KV group, KV heads, extend_len, several KV heads, causal, dtype, KV "
      "dtype,\n"
      "/// contexts, estimated, configuration, shorter prefixes are faster through extend_attention\n";
  text += "inline constexpr TableRow verify_shared_kv[] = {\n";
  for (const TunedRow& row : table.rows) text += header_row(row);
  return text + fmt::format("}};\n\n}}  // namespace headtune::tables::{}\n", arch);
}

std::string emit_python(TunedTable table) {
  sort_rows(table);
  std::string text = fmt::format(
      "# verify_shared_kv on {0}: head_dim -> (BLOCK_H, BLOCK_N, num_warps).\n# Generated by `headtune emit` from "
      "{0}.json: do not edit.\nBLOCK_CONFIG = {{\n",
      harmless(table.arch));
  const auto chosen = by_head_dim(table);
  for (const auto& [head_dim, row] : chosen) {
    for (const std::string& line : provenance(*row)) text += "    # " + line + "\n";
    for (const TunedRow& other : table.rows)
      if (other.row.head_dim == head_dim && !(other.row.config == row->row.config))
        text += fmt::format("    # {}: {}\n", harmless(describe(other.row)), python_values(other.row.config));
    text += fmt::format("    {}: {},\n", head_dim, python_values(row->row.config));
  }
  return text + "}\n";
}

std::string emit_csv(TunedTable table) {
  sort_rows(table);
  std::string knob_names;
  for (const Knob& knob : knobs) knob_names += lower(knob.name) + ",";
  std::string text =
      "arch,cu_num,head_dim,v_head_dim,num_q_heads,num_kv_heads,extend_len,is_causal,dtype,kv_dtype,"
      "context,batch,estimated," +
      knob_names + "us,error,template_hash,stale\n";
  for (const TunedRow& row : table.rows)
    for (const CellTime& time : row.evidence.times) text += csv_row(table.arch, row, time);
  return text;
}

}  // namespace headtune
