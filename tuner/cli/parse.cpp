#include "tuner/cli/parse.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <iterator>
#include <optional>
#include <set>

#include "tuner/error.h"

namespace headtune::cli {
namespace {

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::size_t begin = 0;
  for (std::size_t end; (end = text.find(separator, begin)) != std::string::npos; begin = end + 1)
    parts.push_back(text.substr(begin, end - begin));
  parts.push_back(text.substr(begin));
  return parts;
}

std::optional<int> number(const std::string& text) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// Counts above this do not fit an int after scaling; no KV pool is that long either.
constexpr long long largest_count = 1LL << 30;

std::optional<int> count(std::string text) {
  const bool kilo = !text.empty() && (text.back() == 'k' || text.back() == 'K');
  if (kilo) text.pop_back();
  const auto value = number(text);
  if (!value || *value < 1) return std::nullopt;
  const long long scaled = kilo ? 1024LL * *value : *value;
  return scaled <= largest_count ? std::optional<int>(static_cast<int>(scaled)) : std::nullopt;
}

std::string knob_names() {
  std::vector<std::string> names;
  for (const Knob& knob : knobs) names.emplace_back(knob.name);
  return fmt::format("{}", fmt::join(names, ","));
}

int& knob_value(Config& config, const std::string& name) {
  for (const Knob& knob : knobs)
    if (name == knob.name) return config.*knob.member;
  throw UsageError(fmt::format("--config: unknown knob '{}'; known: {}", name, knob_names()));
}

int config_number(const std::string& text) {
  if (const auto value = number(text)) return *value;
  throw UsageError(fmt::format("--config: '{}' is not a number; expected values of {}", text, knob_names()));
}

}  // namespace

std::vector<int> parse_counts(const std::string& text, const std::string& what) {
  std::set<int> counts;
  for (const std::string& part : split(text, ',')) {
    const auto value = count(part);
    if (!value)
      throw UsageError(fmt::format("{}: '{}' in '{}' is not a positive count; expected a list such as 8k,16k,32768",
                                   what, part, text));
    counts.insert(*value);
  }
  return {counts.begin(), counts.end()};
}

std::vector<TimedShape> parse_shapes(const std::string& contexts, const std::string& batches) {
  std::vector<TimedShape> shapes;
  for (const int context : parse_counts(contexts, "--contexts"))
    for (const int batch : parse_counts(batches, "--batch")) shapes.push_back({batch, context});
  return shapes;
}

std::pair<int, int> parse_heads(const std::string& text) {
  const auto parts = split(text, '/');
  const auto q = number(parts[0]);
  const auto kv = parts.size() == 2 ? number(parts[1]) : std::nullopt;
  if (!q || !kv || *q < 1 || *kv < 1)
    throw UsageError(
        fmt::format("--heads: '{}' is not Q/KV; expected query and KV heads of this rank such as 8/2", text));
  return {*q, *kv};
}

Config parse_config(const std::string& text, Config config) {
  const auto parts = split(text, ',');
  if (parts.size() > std::size(knobs))
    throw UsageError(
        fmt::format("--config: {} values, but there are {} knobs: {}", parts.size(), std::size(knobs), knob_names()));
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const auto equals = parts[i].find('=');
    if (equals == std::string::npos)
      config.*knobs[i].member = config_number(parts[i]);
    else
      knob_value(config, parts[i].substr(0, equals)) = config_number(parts[i].substr(equals + 1));
  }
  return config;
}

const Arch& parse_arch(const std::string& name) {
  if (const Arch* arch = find_arch(name.c_str())) return *arch;
  std::vector<std::string> names;
  for (const Arch& arch : archs) names.emplace_back(arch.name);
  throw UsageError(fmt::format("unknown architecture '{}'; known: {}", name, fmt::join(names, ", ")));
}

std::string count_text(long long count) {
  return count >= 1024 && count % 1024 == 0 ? fmt::format("{}k", count / 1024) : fmt::format("{}", count);
}

}  // namespace headtune::cli
