// headtune route: which kernel each attention layer of a model takes, why, and which table row it uses.
#include <fmt/format.h>

#include <cstdio>
#include <nlohmann/json.hpp>

#include "headtune/routing.h"
#include "tables/tables.h"
#include "tuner/cli/commands.h"
#include "tuner/cli/parse.h"
#include "tuner/model_config.h"
#include "tuner/space.h"

namespace headtune::cli {
namespace {

struct Options {
  std::string config;
  std::string arch = "gfx950";
  int tensor_parallel = 1;
  int topk = 1;
  bool no_split_kv = false;
  bool allow_gfx942 = false;
  int extend_len = 0;
  std::string context = "32k";
  bool json = false;
};

/// One group of layers and what becomes of it.
struct LayerRoute {
  const LayerGroup* layers = nullptr;
  std::string kernel;
  std::string reason;
};

AttentionCall call_of(const Problem& problem, const LayerGroup& layers) {
  AttentionCall call;
  call.problem = problem;
  call.batch = 1;
  call.total_tokens = problem.extend_len;
  call.cache_num_kv_heads = problem.num_kv_heads;
  call.cache_head_dim = problem.head_dim;
  call.cache_v_head_dim = problem.v_head_dim;
  call.sliding_window = layers.sliding_window;
  return call;
}

LayerRoute route_of(const LayerGroup& layers, const Problem& problem, const Route& model, const Config& config) {
  if (!layers.softmax) return {&layers, "none", "no softmax attention over a KV cache"};
  if (!model) return {&layers, "extend_attention", model.reason};
  const Route call = can_handle(call_of(problem, layers), config);
  if (!call) return {&layers, "extend_attention", call.reason};
  return {&layers, "verify_shared_kv", model.reason};
}

std::string row_text(const Match& match) {
  std::string text = fmt::format("{} ({}", to_string(match.config), match_level_text(match.level));
  if (match.level != MatchLevel::default_config)
    text += fmt::format("; tuned on {} CUs, contexts {} to {}{}", match.cu_count, count_text(match.context_min),
                        count_text(match.context_max), match.estimated ? ", estimated" : "");
  return text + ")";
}

nlohmann::json to_json(const std::vector<LayerRoute>& routes, const Problem& problem, const Match& match) {
  nlohmann::json layers = nlohmann::json::array();
  for (const LayerRoute& route : routes)
    layers.push_back({{"layers", route.layers->count},
                      {"kind", route.layers->kind},
                      {"kernel", route.kernel},
                      {"reason", route.reason}});
  return {{"layers", layers},
          {"problem",
           {{"head_dim", problem.head_dim},
            {"v_head_dim", problem.v_head_dim},
            {"num_q_heads", problem.num_q_heads},
            {"num_kv_heads", problem.num_kv_heads},
            {"extend_len", problem.extend_len},
            {"is_causal", problem.is_causal}}},
          {"match_level", match_level_text(match.level)},
          {"config", to_string(match.config)}};
}

void print(const std::vector<LayerRoute>& routes, const Problem& problem, const Match& match) {
  fmt::print("per rank: {}/{} heads, head_dim {}/{}, L {}, {}\n", problem.num_q_heads, problem.num_kv_heads,
             problem.head_dim, problem.v_head_dim, problem.extend_len, problem.is_causal ? "causal" : "non-causal");
  bool shared_kv = false;
  for (const LayerRoute& route : routes) {
    fmt::print("{:4} x {:<18} -> {:<17} {}\n", route.layers->count, route.layers->kind, route.kernel, route.reason);
    shared_kv |= route.kernel == "verify_shared_kv";
  }
  if (shared_kv) fmt::print("table row: {}\n", row_text(match));
}

void run(const Options& options) {
  const ModelConfig model = read_model_config(options.config);
  const Arch& arch = parse_arch(options.arch);
  const int extend_len = options.extend_len > 0 ? options.extend_len : (model.draft_block > 0 ? model.draft_block : 4);
  const Problem problem = problem_of(model, options.tensor_parallel, extend_len);
  const int context = parse_counts(options.context, "--context").front();
  const Match match = tables::lookup(problem, {options.arch.c_str(), arch.cu_count, arch.wave_size}, context);
  ModelTraits traits = model.traits;
  traits.local_num_kv_heads = problem.num_kv_heads;
  const Route route = should_use_verify_shared_kv(
      traits, {options.arch.c_str(), options.topk, !options.no_split_kv, options.allow_gfx942});
  std::vector<LayerRoute> routes;
  for (const LayerGroup& layers : model.layers) routes.push_back(route_of(layers, problem, route, match.config));
  if (options.json)
    fmt::print("{}\n", to_json(routes, problem, match).dump(2));
  else
    print(routes, problem, match);
}

}  // namespace

void add_route(CLI::App& app, Exit& result) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("route", "Say which kernel a model's attention layers take, and why");
  command->add_option("--config", options->config, "Hugging Face config.json")->required();
  command->add_option("--arch", options->arch, "GPU architecture")->capture_default_str();
  command->add_option("--tp", options->tensor_parallel, "Tensor-parallel ranks")->capture_default_str();
  command->add_option("--topk", options->topk, "Width of the speculative tree")->capture_default_str();
  command->add_flag("--no-splitkv", options->no_split_kv, "Route as if split-KV were switched off");
  command->add_flag("--allow-gfx942", options->allow_gfx942, "Opt gfx942 in");
  command->add_option("--extend-len", options->extend_len,
                      "New tokens per request; default: the draft's block, else 4");
  command->add_option("--context", options->context, "Longest prefix, for the table row")->capture_default_str();
  command->add_flag("--json", options->json, "Print JSON");
  command->callback([options, &result] {
    run(*options);
    result = Exit::ok;
  });
}

}  // namespace headtune::cli
