#include "tuner/hip/fake_script.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <regex>
#include <sstream>

#include "tuner/error.h"

namespace headtune::hip {
namespace {

using nlohmann::json;

/// Reads members of one JSON object and refuses those nobody asked for.
class Members {
 public:
  Members(const json& object, std::string place) : object_(object), place_(std::move(place)) {
    if (!object.is_object()) throw UsageError(place_ + ": expected an object");
  }

  template <class T>
  Members& read(const char* name, T& value) {
    known_.push_back(name);
    if (object_.contains(name)) value = object_.at(name).template get<T>();
    return *this;
  }

  Members& word(const char* name, std::string& value, const std::vector<std::string>& words) {
    read(name, value);
    if (std::find(words.begin(), words.end(), value) == words.end())
      throw UsageError(fmt::format("{}: {} cannot be \"{}\"", place_, name, value));
    return *this;
  }

  void done() const {
    for (const auto& [name, value] : object_.items())
      if (std::find(known_.begin(), known_.end(), name) == known_.end())
        throw UsageError(fmt::format("{}: unknown member \"{}\"", place_, name));
  }

 private:
  const json& object_;
  std::string place_;
  std::vector<std::string> known_;
};

void read_device(const json& object, const std::string& file, FakeDevice& device) {
  Members(object, file + ": device")
      .read("name", device.name)
      .read("target", device.target)
      .read("driver", device.driver)
      .read("runtime", device.runtime)
      .read("cu_count", device.cu_count)
      .read("wave_size", device.wave_size)
      .read("lds_per_workgroup", device.lds_per_workgroup)
      .read("lds_per_cu", device.lds_per_cu)
      .read("l2_bytes", device.l2_bytes)
      .read("llc_bytes", device.llc_bytes)
      .read("memory_bytes", device.memory_bytes)
      .done();
}

FakeVariant read_variant(const json& object, const std::string& place) {
  FakeVariant variant;
  Members(object, place)
      .read("match", variant.match)
      .word("compile", variant.compile, {"ok", "error", "crash", "hang"})
      .read("resources", variant.resources)
      .read("time_us", variant.time_us)
      .read("us_per_kkey", variant.us_per_kkey)
      .read("stage2_us", variant.stage2_us)
      .read("us_per_split", variant.us_per_split)
      .read("times", variant.times)
      .word("output", variant.output, {"right", "nan", "wrong_last_split", "unwritten", "out_of_bounds"})
      .read("output_context", variant.output_context)
      .word("fault", variant.fault, {"none", "illegal_address", "segv", "abort", "hang"})
      .done();
  return variant;
}

FakeScript read_script(const json& root, const std::string& file) {
  FakeScript script;
  json device = json::object(), clock = json::object(), variants = json::array();
  Members(root, file)
      .read("device", device)
      .read("seed", script.seed)
      .read("noise", script.noise)
      .read("clock", clock)
      .read("gap_us", script.gap_us)
      .read("gap_noise", script.gap_noise)
      .read("log", script.log)
      .read("variants", variants)
      .done();
  read_device(device, file, script.device);
  Members(clock, file + ": clock")
      .read("from", script.clock_from)
      .read("to", script.clock_to)
      .read("submissions", script.clock_submissions)
      .read("repeats", script.clock_repeats)
      .done();
  for (std::size_t i = 0; i < variants.size(); ++i)
    script.variants.push_back(read_variant(variants[i], fmt::format("{}: variants[{}]", file, i)));
  return script;
}

bool matches(const FakeVariant& variant, const Constants& constants) {
  return std::all_of(variant.match.begin(), variant.match.end(), [&](const auto& wanted) {
    const auto found = constants.find(wanted.first);
    return found != constants.end() && found->second == wanted.second;
  });
}

}  // namespace

Constants parse_constants(std::string_view source) {
  static const std::regex definition(R"((\w+)\s*=\s*(-?\d+|true|false)\s*;)");
  const std::string text(source);
  Constants constants;
  for (std::sregex_iterator match(text.begin(), text.end(), definition), end; match != end; ++match) {
    const std::string value = (*match)[2];
    constants[(*match)[1]] = value == "true" ? 1 : value == "false" ? 0 : std::stoi(value);
  }
  return constants;
}

const FakeVariant& FakeScript::variant(const Constants& constants) const {
  static const FakeVariant unscripted;
  for (const FakeVariant& variant : variants)
    if (matches(variant, constants)) return variant;
  return unscripted;
}

FakeScript parse_fake_script(const std::string& text, const std::string& file) {
  try {
    return read_script(json::parse(text), file);
  } catch (const json::exception& error) {
    throw UsageError(fmt::format("{}: {}", file, error.what()));
  }
}

FakeScript read_fake_script(const std::string& file) {
  std::ifstream in(file);
  if (!in) throw UsageError(fmt::format("{}: cannot be read", file));
  std::stringstream text;
  text << in.rdbuf();
  return parse_fake_script(text.str(), file);
}

}  // namespace headtune::hip
