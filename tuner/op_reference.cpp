#include "tuner/op_reference.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "tuner/dtype.h"
#include "tuner/parallel.h"

namespace headtune {
namespace {

/// Rows of one request that share a KV head: new tokens x the query heads of the group. Rows are the vector lanes of
/// the first product, output dimensions those of the second, so that both loops vectorise without reordering a sum.
class Group {
 public:
  Group(const Inputs& inputs, int request, int kv_head, Reference& result)
      : inputs_(inputs), kv_head_(kv_head), result_(result) {
    const auto b = static_cast<std::size_t>(request);
    first_token_ = inputs.qo_indptr[b];
    tokens_ = inputs.qo_indptr[b + 1] - first_token_;
    first_key_ = inputs.kv_indptr[b];
    prefix_ = inputs.kv_indptr[b + 1] - first_key_;
    rows_ = static_cast<std::size_t>(tokens_ * inputs.problem.kv_group_num());
  }

  void compute() {
    load_queries();
    scores();
    soften();
    weigh();
    store();
  }

 private:
  int heads() const { return inputs_.problem.kv_group_num(); }
  int keys() const { return prefix_ + tokens_; }
  std::size_t output_row(std::size_t row) const {
    const int token = first_token_ + static_cast<int>(row) / heads();
    const int head = kv_head_ * heads() + static_cast<int>(row) % heads();
    return static_cast<std::size_t>(token) * static_cast<std::size_t>(inputs_.problem.num_q_heads) +
           static_cast<std::size_t>(head);
  }

  void load_queries() {  // q_[d][row]
    const int dim = inputs_.problem.head_dim;
    std::vector<float> one(static_cast<std::size_t>(dim));
    q_.resize(static_cast<std::size_t>(dim) * rows_);
    for (std::size_t row = 0; row < rows_; ++row) {
      const long long token = first_token_ + static_cast<long long>(row) / heads();
      const int head = kv_head_ * heads() + static_cast<int>(row) % heads();
      decode_row(inputs_.q.bytes.data(), inputs_.q.type, inputs_.q.offset(token, head), dim, one.data());
      for (std::size_t d = 0; d < one.size(); ++d) q_[d * rows_ + row] = one[d];
    }
  }

  /// Key t: of the prefix, then of the new tokens.
  void load(const Tensor& prefix, const Tensor& extend, int t, int dim, float* to) const {
    if (t < prefix_) {
      const long long slot = inputs_.kv_indices[static_cast<std::size_t>(first_key_ + t)];
      decode_row(prefix.bytes.data(), prefix.type, prefix.offset(slot, kv_head_), dim, to);
    } else {
      decode_row(extend.bytes.data(), extend.type, extend.offset(first_token_ + t - prefix_, kv_head_), dim, to);
    }
  }

  void scores() {  // p_[t][row]
    std::vector<float> key(static_cast<std::size_t>(inputs_.problem.head_dim));
    p_.assign(static_cast<std::size_t>(keys()) * rows_, 0);
    for (int t = 0; t < keys(); ++t) {
      load(inputs_.k_cache, inputs_.k_extend, t, inputs_.problem.head_dim, key.data());
      double* score = p_.data() + static_cast<std::size_t>(t) * rows_;
      for (std::size_t d = 0; d < key.size(); ++d)
        for (std::size_t row = 0; row < rows_; ++row) score[row] += q_[d * rows_ + row] * static_cast<double>(key[d]);
      scale(t, score);
    }
  }

  void scale(int t, double* score) const {
    const double factor = static_cast<double>(inputs_.sm_scale) * (t < prefix_ ? inputs_.shape.k_scale : 1.0f);
    const int new_token = t - prefix_;
    for (std::size_t row = 0; row < rows_; ++row) {
      const bool masked = inputs_.problem.is_causal && new_token > static_cast<int>(row) / heads();
      score[row] = masked ? -std::numeric_limits<double>::infinity() : score[row] * factor;
    }
  }

  void soften() {
    std::vector<double> sum(rows_, 0);
    max_.assign(rows_, -std::numeric_limits<double>::infinity());
    for (std::size_t i = 0; i < p_.size(); ++i) max_[i % rows_] = std::max(max_[i % rows_], p_[i]);
    for (std::size_t i = 0; i < p_.size(); ++i) {
      const double max = max_[i % rows_];
      p_[i] = std::isinf(max) ? 0 : std::exp(p_[i] - max);
      sum[i % rows_] += p_[i];
    }
    for (std::size_t row = 0; row < rows_; ++row) max_[row] += std::log(sum[row]);  // now the log of the sum
    for (std::size_t i = 0; i < p_.size(); ++i) p_[i] /= sum[i % rows_] > 0 ? sum[i % rows_] : 1;
  }

  void weigh() {  // out_, square_: [row][v_head_dim]
    const auto dim = static_cast<std::size_t>(inputs_.problem.v_head_dim);
    std::vector<float> value(dim);
    out_.assign(rows_ * dim, 0);
    square_.assign(rows_ * dim, 0);
    for (int t = 0; t < keys(); ++t) {
      load(inputs_.values(), inputs_.v_extend, t, inputs_.problem.v_head_dim, value.data());
      const double factor = t < prefix_ ? static_cast<double>(inputs_.shape.v_scale) : 1.0;
      for (std::size_t row = 0; row < rows_; ++row)
        add(row, p_[static_cast<std::size_t>(t) * rows_ + row] * factor, value);
    }
  }

  void add(std::size_t row, double weight, const std::vector<float>& value) {
    if (weight == 0) return;  // a masked key's value may be NaN
    double* out = out_.data() + row * value.size();
    double* square = square_.data() + row * value.size();
    for (std::size_t d = 0; d < value.size(); ++d) {
      const double term = weight * static_cast<double>(value[d]);
      out[d] += term;
      square[d] += term * term;
    }
  }

  void store() {
    const auto dim = static_cast<std::size_t>(inputs_.problem.v_head_dim);
    for (std::size_t row = 0; row < rows_; ++row) {
      const std::size_t to = output_row(row);
      const int masked = inputs_.problem.is_causal ? tokens_ - 1 - static_cast<int>(row) / heads() : 0;
      result_.lse[to] = max_[row];
      result_.keys[to] = keys() - masked;
      for (std::size_t d = 0; d < dim; ++d) {
        result_.out[to * dim + d] = out_[row * dim + d];
        result_.spread[to * dim + d] = std::sqrt(square_[row * dim + d]);
      }
    }
  }

  const Inputs& inputs_;
  int kv_head_;
  Reference& result_;
  int first_token_ = 0, tokens_ = 0, first_key_ = 0, prefix_ = 0;
  std::size_t rows_ = 0;
  std::vector<double> q_, p_, max_, out_, square_;
};

}  // namespace

Reference reference(const Inputs& inputs) {
  const Problem& problem = inputs.problem;
  const auto rows = static_cast<std::size_t>(inputs.shape.total_tokens() * problem.num_q_heads);
  Reference result;
  result.out.assign(rows * static_cast<std::size_t>(problem.v_head_dim), 0);
  result.spread = result.out;
  result.lse.assign(rows, 0);
  result.keys.assign(rows, 0);
  // Longest requests first, so that no core is left with one at the end.
  std::vector<int> order(static_cast<std::size_t>(inputs.shape.batch()));
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
    return inputs.shape.prefix_lens[static_cast<std::size_t>(a)] >
           inputs.shape.prefix_lens[static_cast<std::size_t>(b)];
  });
  parallel_for(static_cast<long long>(order.size()) * problem.num_kv_heads, [&](long long i) {
    const int request = order[static_cast<std::size_t>(i / problem.num_kv_heads)];
    if (inputs.shape.extend_lens[static_cast<std::size_t>(request)] == 0) return;
    Group(inputs, request, static_cast<int>(i % problem.num_kv_heads), result).compute();
  });
  return result;
}

}  // namespace headtune
