#include "codegen/tuned_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace headtune {
namespace {

std::vector<long long> order_key(const TunedRow& tuned) {
  const TableRow& r = tuned.row;
  std::vector<long long> key = {r.cu_count,
                                r.wave_size,
                                r.head_dim,
                                r.v_head_dim,
                                r.has_kv_heads,
                                r.kv_group_num,
                                r.num_kv_heads,
                                r.extend_len,
                                r.is_causal,
                                static_cast<int>(r.dtype),
                                static_cast<int>(r.kv_dtype),
                                r.context_min,
                                r.context_max};
  for (const Knob& knob : knobs) key.push_back(r.config.*knob.member);
  return key;
}

bool is_sha256(const std::string& text) {
  return text.size() == 64 && text.find_first_not_of("0123456789abcdef") == std::string::npos;
}

bool plausible(const CellTime& time) {
  return std::isfinite(time.median_us) && time.median_us > 0 && time.low_us > 0 && time.low_us <= time.median_us &&
         std::isfinite(time.high_us) && time.high_us >= time.median_us && time.samples > 0 && time.floor_bytes > 0;
}

std::string missing_times(const Evidence& evidence) {
  if (evidence.times.empty()) return "times: expected at least one, found none";
  for (const CellTime& time : evidence.times)
    if (!plausible(time))
      return fmt::format(
          "times at context {} batch {}: expected 0 < low_us <= median_us <= high_us, samples and floor_bytes, found "
          "{} {} {}, {} samples, {} bytes",
          time.context, time.batch, time.low_us, time.median_us, time.high_us, time.samples, time.floor_bytes);
  return "";
}

}  // namespace

void sort_rows(TunedTable& table) {
  std::sort(table.rows.begin(), table.rows.end(),
            [](const TunedRow& a, const TunedRow& b) { return order_key(a) < order_key(b); });
  for (TunedRow& row : table.rows)
    std::sort(row.evidence.times.begin(), row.evidence.times.end(), [](const CellTime& a, const CellTime& b) {
      return std::tie(a.context, a.batch) < std::tie(b.context, b.batch);
    });
}

std::string missing_evidence(const TunedRow& tuned) {
  const Evidence& e = tuned.evidence;
  const std::pair<const char*, const std::string*> texts[] = {
      {"provider", &e.provider}, {"device_name", &e.device_name}, {"driver", &e.driver},
      {"runtime", &e.runtime},   {"compiler", &e.compiler},       {"method", &e.method}};
  for (const auto& [name, text] : texts)
    if (text->empty()) return fmt::format("{}: expected a text, found none", name);
  if (!is_sha256(e.template_hash))
    return fmt::format("template_hash: expected 64 hexadecimal digits, found '{}'", e.template_hash);
  if (!(e.verify_error >= 0 && e.verify_error <= e.verify_tolerance))
    return fmt::format("verify_error: expected at most the tolerance {}, found {}", e.verify_tolerance, e.verify_error);
  return missing_times(e);
}

std::string describe(const TableRow& r) {
  return fmt::format("head_dim {}/{}, {}/{} heads, extend_len {}, {}, {}/{}, context {}..{}", r.head_dim, r.v_head_dim,
                     r.kv_group_num * r.num_kv_heads, r.num_kv_heads, r.extend_len,
                     r.is_causal ? "causal" : "non-causal", dtype_name(r.dtype), dtype_name(r.kv_dtype), r.context_min,
                     r.context_max);
}

double noise(const Evidence& evidence) {
  double worst = 0;
  for (const CellTime& time : evidence.times)
    worst = std::max(worst, (time.high_us - time.low_us) / 2 / time.median_us);
  return worst;
}

const char* dtype_name(DType type) {
  switch (type) {
    case DType::bf16:
      return "bf16";
    case DType::fp16:
      return "fp16";
    case DType::fp8_e4m3fn:
      return "fp8_e4m3fn";
    case DType::fp8_e4m3fnuz:
      return "fp8_e4m3fnuz";
  }
  return "unknown";
}

std::vector<int> cell_key(const TableRow& r) {
  return {r.cu_count,
          r.wave_size,
          r.head_dim,
          r.v_head_dim,
          r.kv_group_num,
          r.num_kv_heads,
          r.extend_len,
          r.is_causal,
          static_cast<int>(r.dtype),
          static_cast<int>(r.kv_dtype)};
}

int extend_below(const Evidence& evidence) {
  const auto& all = evidence.extend_below;
  const auto least = std::min_element(all.begin(), all.end(),
                                      [](const ExtendBelow& a, const ExtendBelow& b) { return a.keys < b.keys; });
  return least == all.end() ? 0 : least->keys;
}

}  // namespace headtune
