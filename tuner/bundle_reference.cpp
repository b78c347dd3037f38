#include "tuner/bundle_reference.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "headtune/verify_shared_kv/splits.h"
#include "tuner/dtype.h"
#include "tuner/parallel.h"

namespace headtune {
namespace {

/// The keys of one split.
struct Span {
  int request, split, first, last;
};

/// One row (new token, query head) over the keys of one split.
class Row {
 public:
  Row(const Inputs& inputs, const Span& span, int token, int head) : inputs_(inputs), span_(span), head_(head) {
    query_.resize(static_cast<std::size_t>(inputs.problem.head_dim));
    decode_row(inputs.q.bytes.data(), inputs.q.type, inputs.q.offset(token, head), inputs.problem.head_dim,
               query_.data());
  }

  void compute(float* out, float& lse) const {
    const std::vector<double> scores = all_scores();
    const double max = *std::max_element(scores.begin(), scores.end());
    double sum = 0;
    std::vector<double> total(static_cast<std::size_t>(inputs_.problem.v_head_dim));
    std::vector<float> value(total.size());
    for (std::size_t t = 0; t < scores.size() && !std::isinf(max); ++t) {
      const double weight = std::exp(scores[t] - max);
      sum += weight;
      load(inputs_.values(), static_cast<int>(t), value);
      for (std::size_t d = 0; d < total.size(); ++d) total[d] += weight * static_cast<double>(value[d]);
    }
    lse = static_cast<float>(max + std::log(sum));
    const double factor = sum > 0 ? static_cast<double>(inputs_.shape.v_scale) / sum : 0;
    for (std::size_t d = 0; d < total.size(); ++d) out[d] = static_cast<float>(total[d] * factor);
  }

 private:
  void load(const Tensor& tensor, int t, std::vector<float>& to) const {
    const int key = inputs_.kv_indptr[static_cast<std::size_t>(span_.request)] + span_.first + t;
    const long long slot = inputs_.kv_indices[static_cast<std::size_t>(key)];
    decode_row(tensor.bytes.data(), tensor.type, tensor.offset(slot, head_ / inputs_.problem.kv_group_num()),
               static_cast<int>(to.size()), to.data());
  }

  std::vector<double> all_scores() const {
    std::vector<double> scores;
    std::vector<float> key(query_.size());
    for (int t = 0; t < span_.last - span_.first; ++t) {
      load(inputs_.k_cache, t, key);
      double dot = 0;
      for (std::size_t d = 0; d < key.size(); ++d) dot += static_cast<double>(query_[d]) * static_cast<double>(key[d]);
      scores.push_back(dot * static_cast<double>(inputs_.sm_scale) * static_cast<double>(inputs_.shape.k_scale));
    }
    return scores;
  }

  const Inputs& inputs_;
  const Span& span_;
  int head_;
  std::vector<float> query_;
};

std::vector<Span> cut(const Inputs& inputs, int num_splits, int min_keys_per_split, int block_n) {
  std::vector<Span> spans;
  for (int request = 0; request < inputs.shape.batch(); ++request) {
    const int prefix = inputs.shape.prefix_lens[static_cast<std::size_t>(request)];
    const SplitCut splits = cut_prefix(prefix, num_splits, min_keys_per_split, block_n);
    for (int split = 0; split < splits.used; ++split)
      spans.push_back(
          {request, split, split * splits.keys_per_split, std::min(prefix, (split + 1) * splits.keys_per_split)});
  }
  return spans;
}

}  // namespace

PrefixPartials prefix_partials(const Inputs& inputs, int num_splits, int min_keys_per_split, int block_n) {
  const Problem& problem = inputs.problem;
  const std::size_t rows = static_cast<std::size_t>(inputs.shape.batch()) * static_cast<std::size_t>(num_splits) *
                           static_cast<std::size_t>(problem.num_q_heads * problem.extend_len);
  const std::size_t dim = static_cast<std::size_t>(problem.v_head_dim);
  constexpr float nan = std::numeric_limits<float>::quiet_NaN();
  PrefixPartials result{std::vector<float>(rows * dim, nan), std::vector<float>(rows, nan)};
  const std::vector<Span> spans = cut(inputs, num_splits, min_keys_per_split, block_n);
  parallel_for(static_cast<long long>(spans.size()) * problem.num_q_heads, [&](long long i) {
    const Span& span = spans[static_cast<std::size_t>(i / problem.num_q_heads)];
    const int head = static_cast<int>(i % problem.num_q_heads);
    const auto request = static_cast<std::size_t>(span.request);
    for (int token = 0; token < inputs.shape.extend_lens[request]; ++token) {
      const auto row = static_cast<std::size_t>(
          ((span.request * num_splits + span.split) * problem.num_q_heads + head) * problem.extend_len + token);
      Row(inputs, span, inputs.qo_indptr[request] + token, head).compute(&result.out[row * dim], result.lse[row]);
    }
  });
  return result;
}

}  // namespace headtune
