// Which attention kernel a model, a device and a request take. Pure host functions, C++17; each answer carries its reason.
// Rules: the shared-KV verify kernel's routing in SGLang (#27382, #33981, #34517, #35499; gfx942 opt-in as #35521).
#pragma once

#include <headtune/arch.h>

#include <string_view>

namespace headtune {

/// An answer and the reason for it; the reason is static text.
struct Route {
  bool use_verify_shared_kv = false;
  const char* reason = "";

  constexpr explicit operator bool() const { return use_verify_shared_kv; }
};

/// What routing reads of a model. `Names` is any range of strings: the `architectures` of its config.json.
template <class Names>
constexpr bool names_any(const Names& architectures, std::string_view part) {
  for (const auto& name : architectures)
    if (std::string_view(name).find(part) != std::string_view::npos) return true;
  return false;
}

/// A DSpark draft with grouped KV heads. (K3DSparkModel, the MLA draft, is another architecture.)
template <class Names>
constexpr bool is_dspark_draft(const Names& architectures) {
  return names_any(architectures, "DSparkDraftModel");
}

template <class Names>
constexpr bool is_kimi_k3(const Names& architectures) {
  return names_any(architectures, "KimiK3For");
}

/// Dense and MoE, text-only and multimodal checkpoints.
template <class Names>
constexpr bool is_qwen3_5(const Names& architectures) {
  return names_any(architectures, "Qwen3_5For") || names_any(architectures, "Qwen3_5MoeFor");
}

struct ModelTraits {
  bool dspark_draft = false;
  bool kimi_k3 = false;
  bool qwen3_5 = false;
  bool mla = false;           ///< one latent KV row per token, shared by all query heads
  int local_num_kv_heads = 0; ///< of this tensor-parallel rank
};

struct Deployment {
  const char* arch = "";  ///< "gfx950" or with feature flags
  int topk = 1;           ///< width of the speculative tree; only a chain (1) has a causal mask
  bool split_kv = true;   ///< the engine's switch for split-KV verification
  bool allow_gfx942 = false;
};

/// Whether a model's attention layers go to verify_shared_kv on this deployment.
constexpr Route should_use_verify_shared_kv(const ModelTraits& model, const Deployment& deployment) {
  const bool opted_in = deployment.allow_gfx942 && is_arch(deployment.arch, "gfx942");
  if (!is_arch(deployment.arch, "gfx950") && !opted_in)
    return {false, is_arch(deployment.arch, "gfx942") ? "gfx942 is opt-in" : "only gfx950 (and gfx942 by opt-in)"};
  if (deployment.topk != 1) return {false, "topk > 1: the tree's mask is not a causal chain"};
  if (model.mla) {
    if (model.kimi_k3) return {true, "Kimi-K3 MLA"};
    return {false, "MLA, but not Kimi-K3"};
  }
  if (!deployment.split_kv) return {false, "split-KV is switched off"};
  if (model.dspark_draft) return {true, "DSpark draft with split-KV"};
  if (!model.qwen3_5) return {false, "neither Kimi-K3, a DSpark draft nor Qwen3.5"};
  if (model.local_num_kv_heads != 1) return {false, "Qwen3.5 with more than one KV head on this rank"};
  return {true, "Qwen3.5 with one KV head on this rank"};
}

/// One attention call, from host-side shapes and flags alone.
struct AttentionCall {
  Problem problem;            ///< shapes of Q and of the new K/V
  int batch = 0;
  int total_tokens = 0;       ///< rows of Q; batch * extend_len unless the lengths are ragged
  int cache_num_kv_heads = 0; ///< shapes of the paged cache
  int cache_head_dim = 0;
  int cache_v_head_dim = 0;
  bool has_sinks = false;
  int sliding_window = 0;     ///< keys; 0 = none
  float logit_cap = 0;        ///< 0 = none
  float xai_temperature = 0;  ///< 0 = none
};

/// Whether verify_shared_kv with this configuration computes the call. A caller that gets `false` runs
/// extend_attention. Never reads device memory.
constexpr Route can_handle(const AttentionCall& call, const Config& config) {
  const Problem& problem = call.problem;
  if (call.batch <= 0) return {false, "empty batch"};
  if (call.has_sinks) return {false, "attention sinks"};
  if (call.sliding_window > 0) return {false, "sliding window"};
  if (call.logit_cap > 0) return {false, "logit cap"};
  if (call.xai_temperature > 0) return {false, "xai temperature"};
  if (problem.num_kv_heads <= 0 || problem.num_q_heads % problem.num_kv_heads != 0)
    return {false, "query heads are no multiple of the KV heads"};
  if (call.cache_num_kv_heads != problem.num_kv_heads || call.cache_head_dim != problem.head_dim ||
      call.cache_v_head_dim != problem.v_head_dim)
    return {false, "cache and new tokens differ in shape"};
  if (problem.head_dim < problem.v_head_dim) return {false, "head_dim < v_head_dim"};
  const bool fp8 = element_bytes(problem.kv_dtype) == 1;
  if (!fp8 && problem.kv_dtype != problem.dtype) return {false, "a 16-bit cache of another type than Q"};
  if (fp8 && (problem.head_dim % 64 != 0 || problem.v_head_dim % 64 != 0))
    return {false, "an fp8 cache whose rows are no multiple of 64 elements"};
  if (call.total_tokens != call.batch * problem.extend_len) return {false, "ragged extend length"};
  if (problem.has_kv_heads() && problem.kv_group_num() % config.block_h != 0)
    return {false, "query heads per KV head are no multiple of BLOCK_H"};
  return {true, "verify_shared_kv computes this call"};
}

}  // namespace headtune
