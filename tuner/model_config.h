// What routing needs of a Hugging Face config.json: read, checked, and split over tensor-parallel ranks.
#pragma once

#include <headtune/routing.h>

#include <filesystem>
#include <string>
#include <vector>

namespace headtune {

/// A run of attention layers that look the same to a kernel.
struct LayerGroup {
  int count = 0;
  std::string kind;  ///< "full attention", "linear attention", "sliding window"
  int sliding_window = 0;
  bool softmax = true;  ///< false: not attention over a KV cache at all
};

struct ModelConfig {
  std::vector<std::string> architectures;
  std::string model_type;
  ModelTraits traits;   ///< local_num_kv_heads is set by `problem_of`
  int num_q_heads = 0;  ///< of the whole model
  int num_kv_heads = 0;
  int head_dim = 0;     ///< MLA: latent + rope, the row that the kernel reads
  int v_head_dim = 0;   ///< MLA: the latent part
  int draft_block = 0;  ///< new tokens per request of a block-drafting model; 0 = not stated
  bool is_causal = true;
  std::vector<LayerGroup> layers;
};

/// Throws UsageError (file, field, what was expected) on anything missing, odd or out of range.
ModelConfig read_model_config(const std::filesystem::path& file);

/// The same from text; `name` stands in messages.
ModelConfig parse_model_config(const std::string& text, const std::string& name);

/// The kernel problem of one rank of `tensor_parallel`. KV heads are replicated when there are fewer than ranks.
Problem problem_of(const ModelConfig& model, int tensor_parallel, int extend_len);

}  // namespace headtune
