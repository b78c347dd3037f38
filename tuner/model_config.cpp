#include "tuner/model_config.h"

#include <fmt/format.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tuner/error.h"

namespace headtune {
namespace {

using nlohmann::json;

/// A config's fields with the place they stand at, for messages.
class Fields {
 public:
  Fields(const json& object, std::string place) : object_(object), place_(std::move(place)) {}

  bool has(const char* key) const { return object_.contains(key) && !object_.at(key).is_null(); }

  [[noreturn]] void fail(const char* key, const std::string& expected) const {
    const std::string actual = has(key) ? object_.at(key).dump().substr(0, 40) : "nothing";
    throw UsageError(fmt::format("{}: {} should be {}, but is {}", place_, key, expected, actual));
  }

  /// A count; the bounds keep hostile values away from arithmetic.
  int count(const char* key, int least, int most) const {
    const bool whole = has(key) && object_.at(key).is_number_integer();
    const bool fits = whole && (!object_.at(key).is_number_unsigned() || object_.at(key).get<std::uint64_t>() <= most_);
    const long long value = fits ? object_.at(key).get<long long>() : -1;
    if (!fits || value < least || value > most) fail(key, fmt::format("a whole number from {} to {}", least, most));
    return static_cast<int>(value);
  }

  int count_or(const char* key, int least, int most, int fallback) const {
    return has(key) ? count(key, least, most) : fallback;
  }

  bool flag_or(const char* key, bool fallback) const {
    if (!has(key)) return fallback;
    if (!object_.at(key).is_boolean()) fail(key, "true or false");
    return object_.at(key).get<bool>();
  }

  std::string text_or(const char* key, const std::string& fallback) const {
    if (!has(key)) return fallback;
    if (!object_.at(key).is_string()) fail(key, "a string");
    return object_.at(key).get<std::string>();
  }

  std::vector<std::string> texts(const char* key) const {
    if (!has(key)) return {};
    const json& list = object_.at(key);
    std::vector<std::string> result;
    if (!list.is_array()) fail(key, "a list of strings");
    for (const json& item : list) {
      if (!item.is_string()) fail(key, "a list of strings");
      result.push_back(item.get<std::string>());
    }
    return result;
  }

  /// How many entries a list has, or -1 when it is absent.
  int length(const char* key) const {
    if (!has(key)) return -1;
    if (!object_.at(key).is_array()) fail(key, "a list");
    return static_cast<int>(object_.at(key).size());
  }

  Fields inside(const char* key) const {
    if (!object_.at(key).is_object()) fail(key, "an object");
    return Fields(object_.at(key), place_ + ": " + key);
  }

 private:
  static constexpr std::uint64_t most_ = 1ULL << 40;
  const json& object_;
  std::string place_;
};

void add_layers(std::vector<LayerGroup>& layers, const LayerGroup& group) {
  if (group.count > 0) layers.push_back(group);
}

LayerGroup group_of(const std::string& type, int window) {
  if (type == "full_attention" || type == "attention") return {0, "full attention", 0, true};
  if (type == "sliding_attention") return {0, "sliding window", window, true};
  return {0, type, 0, false};
}

/// layer_types, when given, names each layer; else hybrids state how many of their layers attend over a KV cache.
std::vector<LayerGroup> read_layers(const Fields& text) {
  const int total = text.count("num_hidden_layers", 1, 10000);
  const int window = text.count_or("sliding_window", 0, 1 << 30, 0);
  std::vector<LayerGroup> layers;
  const std::vector<std::string> types = text.texts("layer_types");
  if (!types.empty()) {
    if (static_cast<int>(types.size()) != total) text.fail("layer_types", fmt::format("a list of {} names", total));
    for (const std::string& type : types) {
      const LayerGroup group = group_of(type, window);
      auto same = layers.begin();
      while (same != layers.end() && same->kind != group.kind) ++same;
      if (same == layers.end()) same = layers.insert(same, group);
      ++same->count;
    }
    return layers;
  }
  int full = total;
  if (text.has("linear_attn_config")) full = std::max(0, text.inside("linear_attn_config").length("full_attn_layers"));
  if (text.has("full_attention_interval")) full = total / text.count("full_attention_interval", 1, total);
  const bool slides = window > 0 && text.flag_or("use_sliding_window", true);
  add_layers(layers,
             slides ? LayerGroup{full, "sliding window", window, true} : LayerGroup{full, "full attention", 0, true});
  add_layers(layers, {total - full, "linear attention", 0, false});
  return layers;
}

/// MLA models are told by their latent rank; the kernel's row is latent + rope, its value the latent part.
void read_heads(const Fields& text, ModelConfig& model) {
  model.num_q_heads = text.count("num_attention_heads", 1, 4096);
  model.traits.mla = text.has("kv_lora_rank");
  if (model.traits.mla) {
    model.v_head_dim = text.count("kv_lora_rank", 16, 4096);
    model.head_dim = model.v_head_dim + text.count("qk_rope_head_dim", 0, 4096);
    model.num_kv_heads = 1;
    return;
  }
  model.num_kv_heads = text.count_or("num_key_value_heads", 1, model.num_q_heads, model.num_q_heads);
  if (model.num_q_heads % model.num_kv_heads != 0)
    text.fail("num_key_value_heads", fmt::format("a divisor of num_attention_heads = {}", model.num_q_heads));
  const int hidden = text.has("head_dim") ? 0 : text.count("hidden_size", 1, 1 << 20);
  model.head_dim = text.count_or("head_dim", 1, 4096, hidden / model.num_q_heads);
  model.v_head_dim = text.count_or("v_head_dim", 1, 4096, model.head_dim);
}

ModelConfig read_fields(const Fields& top, const Fields& text) {
  ModelConfig model;
  model.architectures = top.texts("architectures");
  if (model.architectures.empty()) top.fail("architectures", "a list with at least one name");
  model.model_type = top.text_or("model_type", "");
  model.traits.dspark_draft = is_dspark_draft(model.architectures);
  model.traits.kimi_k3 = is_kimi_k3(model.architectures);
  model.traits.qwen3_5 = is_qwen3_5(model.architectures);
  read_heads(text, model);
  model.draft_block = text.count_or("block_size", 1, 64, 0);
  model.is_causal = text.flag_or("is_causal", !names_any(model.architectures, "DSpark"));
  model.layers = read_layers(text);
  return model;
}

}  // namespace

ModelConfig parse_model_config(const std::string& text, const std::string& name) {
  json document;
  try {
    document = json::parse(text);
  } catch (const json::parse_error& error) {
    throw UsageError(fmt::format("{}: not JSON at byte {}", name, error.byte));
  }
  if (!document.is_object()) throw UsageError(fmt::format("{}: should be a JSON object", name));
  const Fields top(document, name);
  return top.has("text_config") ? read_fields(top, top.inside("text_config")) : read_fields(top, top);
}

ModelConfig read_model_config(const std::filesystem::path& file) {
  std::ifstream stream(file);
  if (!stream) throw UsageError(fmt::format("{}: cannot be read; give a Hugging Face config.json", file.string()));
  std::ostringstream text;
  text << stream.rdbuf();
  return parse_model_config(text.str(), file.string());
}

Problem problem_of(const ModelConfig& model, int tensor_parallel, int extend_len) {
  if (tensor_parallel < 1 || model.num_q_heads % tensor_parallel != 0)
    throw UsageError(
        fmt::format("--tp {}: the model's {} query heads do not divide by it", tensor_parallel, model.num_q_heads));
  const bool replicated = model.num_kv_heads < tensor_parallel;
  if (!replicated && model.num_kv_heads % tensor_parallel != 0)
    throw UsageError(
        fmt::format("--tp {}: the model's {} KV heads do not divide by it", tensor_parallel, model.num_kv_heads));
  Problem problem;
  problem.head_dim = model.head_dim;
  problem.v_head_dim = model.v_head_dim;
  problem.num_q_heads = model.num_q_heads / tensor_parallel;
  problem.num_kv_heads = replicated ? 1 : model.num_kv_heads / tensor_parallel;
  problem.extend_len = extend_len;
  problem.is_causal = model.is_causal;
  return problem;
}

}  // namespace headtune
