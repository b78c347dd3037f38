#include "tuner/op_inputs.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>

#include "tuner/dtype.h"
#include "tuner/error.h"
#include "tuner/parallel.h"
#include "tuner/random.h"

namespace headtune {
namespace {

/// Numbers to draw from, decoded once: filling a pool then costs one hash per four elements.
class Normals {
 public:
  static constexpr std::size_t size = 4096;

  Normals() {
    for (std::size_t i = 0; i < size; ++i) values_[i] = random_normal(0x6e6f726d, i);
  }

  /// The table scaled and encoded.
  std::array<std::uint16_t, size> encoded(DType type, float scale, bool positive) const {
    std::array<std::uint16_t, size> result;
    for (std::size_t i = 0; i < size; ++i)
      result[i] = encode(type, scale * (positive ? std::fabs(values_[i]) + 0.01f : values_[i]));
    return result;
  }

 private:
  std::array<float, size> values_;
};

Tensor empty_tensor(DType type, long long rows, int heads, int dim, int padding) {
  Tensor tensor{type, rows, heads, dim, 0, 0, {}};
  tensor.stride_head = dim + padding;
  tensor.stride_row = heads * tensor.stride_head + padding;
  return tensor;
}

void fill_with_nan(Tensor& tensor) {
  tensor.bytes.resize(static_cast<std::size_t>(tensor.rows * tensor.stride_row * element_bytes(tensor.type)));
  const std::uint16_t nan = nan_bits(tensor.type);
  parallel_for(tensor.rows, [&](long long row) {
    for (long long i = row * tensor.stride_row; i < (row + 1) * tensor.stride_row; ++i)
      store_bits(tensor.bytes.data(), tensor.type, i, nan);
  });
}

using Encoded = std::array<std::uint16_t, Normals::size>;

/// Random values in one row of every head.
void fill_row(Tensor& tensor, long long row, const Encoded& values, std::uint64_t seed) {
  for (int head = 0; head < tensor.heads; ++head) {
    const long long start = tensor.offset(row, head);
    std::uint64_t bits = 0;
    for (int d = 0; d < tensor.dim; ++d, bits >>= 16) {
      if (d % 4 == 0) bits = random_bits(seed, static_cast<std::uint64_t>(start + d));
      store_bits(tensor.bytes.data(), tensor.type, start + d, values[bits % Normals::size]);
    }
  }
}

void fill_constant_row(Tensor& tensor, long long row, float value) {
  const std::uint16_t bits = encode(tensor.type, value);
  for (int head = 0; head < tensor.heads; ++head)
    for (int d = 0; d < tensor.dim; ++d)
      store_bits(tensor.bytes.data(), tensor.type, tensor.offset(row, head) + d, bits);
}

class Builder {
 public:
  Builder(const Problem& problem, const Case& shape) : problem_(problem), shape_(shape) {}

  Inputs build() {
    check();
    inputs_.problem = problem_;
    inputs_.shape = shape_;
    // Scores are sums of head_dim products of unit variance.
    inputs_.sm_scale = shape_.values.score_std / std::sqrt(static_cast<float>(problem_.head_dim));
    place_requests();
    fill_new_tokens();
    fill_pool();
    return std::move(inputs_);
  }

 private:
  void require(bool ok, const std::string& what) const {
    if (!ok) throw UsageError(fmt::format("case {}: {}", shape_.name, what));
  }

  void check() const {
    require(shape_.prefix_lens.size() == shape_.extend_lens.size(), "prefix and extend lengths differ in number");
    for (int length : shape_.prefix_lens) require(length >= 0, "a prefix length is negative");
    for (int length : shape_.extend_lens)
      require(length >= 0 && length <= problem_.extend_len,
              fmt::format("extend length {} is not in 0..{}", length, problem_.extend_len));
    require(shape_.layout.row_padding % 16 == 0, "rows must stay 16-byte aligned: padding not a multiple of 16");
    require(shape_.layout.page > 0 && shape_.layout.first_slot > 0, "page and first slot must be positive");
  }

  void place_requests() {
    inputs_.qo_indptr.assign(1, 0);
    inputs_.kv_indptr.assign(1, 0);
    for (int b = 0; b < shape_.batch(); ++b) {
      inputs_.qo_indptr.push_back(inputs_.qo_indptr.back() + shape_.extend_lens[static_cast<std::size_t>(b)]);
      inputs_.kv_indptr.push_back(inputs_.kv_indptr.back() + shape_.prefix_lens[static_cast<std::size_t>(b)]);
    }
    place_keys();
  }

  /// Pages of the pool in the order in which requests take them.
  std::vector<long long> page_order(long long needed) const {
    const long long page = shape_.layout.page, first = (shape_.layout.first_slot + page - 1) / page;
    const long long last = std::max(pool_slots_ / page, first + needed);
    std::vector<long long> pages(static_cast<std::size_t>(last - first));
    std::iota(pages.begin(), pages.end(), first);
    if (!shape_.layout.shuffle) return pages;
    for (std::size_t i = pages.size(); i > 1; --i)
      std::swap(pages[i - 1], pages[random_bits(shape_.seed ^ 0x70616765, i) % i]);
    return pages;
  }

  void place_keys() {
    const long long page = shape_.layout.page;
    long long pages_needed = 0;
    for (int length : shape_.prefix_lens) pages_needed += (length + page - 1) / page;
    const long long keys = shape_.prefix_keys();
    pool_slots_ = shape_.layout.pool_slots ? shape_.layout.pool_slots
                                           : shape_.layout.first_slot + (pages_needed + 1) * page + keys / 4;
    const std::vector<long long> pages = page_order(pages_needed);
    auto first_page = pages.begin();
    for (int length : shape_.prefix_lens) {
      for (int t = 0; t < length; ++t) inputs_.kv_indices.push_back(first_page[t / page] * page + t % page);
      first_page += (length + page - 1) / page;
    }
    if (shape_.layout.duplicates) duplicate_slots();
    for (long long slot : inputs_.kv_indices) pool_slots_ = std::max(pool_slots_, slot + 1);
  }

  void duplicate_slots() {
    std::vector<long long>& slots = inputs_.kv_indices;
    for (std::size_t t = 1; t < slots.size(); ++t)
      if (random_bits(shape_.seed ^ 0x647570, t) % 8 == 0) slots[t] = slots[random_bits(shape_.seed, t) % t];
  }

  Tensor filled(DType type, long long rows, int heads, int dim, const Encoded& values, std::uint64_t seed) const {
    Tensor tensor = empty_tensor(type, rows, heads, dim, shape_.layout.row_padding);
    fill_with_nan(tensor);
    parallel_for(rows, [&](long long row) { fill_row(tensor, row, values, seed); });
    return tensor;
  }

  void fill_new_tokens() {
    const int tokens = shape_.total_tokens();
    const Values& v = shape_.values;
    const bool positive = v.prefix_minus_infinity || v.extend_minus_infinity;  // so that q * -inf is -inf, not NaN
    const DType type = problem_.dtype;
    const Encoded plain = normals_.encoded(type, 1, false);
    inputs_.q = filled(type, tokens, problem_.num_q_heads, problem_.head_dim, normals_.encoded(type, 1, positive),
                       shape_.seed ^ 0x71);
    inputs_.k_extend = filled(type, tokens, problem_.num_kv_heads, problem_.head_dim, plain, shape_.seed ^ 0x6b65);
    inputs_.v_extend = filled(type, tokens, problem_.num_kv_heads, problem_.v_head_dim, plain, shape_.seed ^ 0x7665);
    inputs_.out = empty_tensor(type, tokens, problem_.num_q_heads, problem_.v_head_dim, shape_.layout.row_padding);
    if (v.extend_minus_infinity)
      for (int row = 0; row < tokens; ++row)
        fill_constant_row(inputs_.k_extend, row, -std::numeric_limits<float>::infinity());
  }

  struct Used {
    long long slot;
    std::size_t step;  ///< of key growth: the position in the request in eighths
  };

  /// Each slot in use once, however many keys share it.
  std::vector<Used> used_slots() const {
    std::vector<Used> used;
    for (std::size_t b = 0; b < shape_.prefix_lens.size(); ++b)
      for (int t = 0; t < shape_.prefix_lens[b]; ++t)
        used.push_back({inputs_.kv_indices[static_cast<std::size_t>(inputs_.kv_indptr[b] + t)],
                        static_cast<std::size_t>(8LL * t / shape_.prefix_lens[b])});
    std::stable_sort(used.begin(), used.end(), [](const Used& x, const Used& y) { return x.slot < y.slot; });
    used.erase(std::unique(used.begin(), used.end(), [](const Used& x, const Used& y) { return x.slot == y.slot; }),
               used.end());
    return used;
  }

  void fill_key(long long slot, const Encoded& values) {
    if (shape_.values.prefix_minus_infinity)
      fill_constant_row(inputs_.k_cache, slot, -std::numeric_limits<float>::infinity());
    else
      fill_row(inputs_.k_cache, slot, values, shape_.seed ^ 0x6b);
  }

  void fill_pool() {
    const DType type = problem_.kv_dtype;
    const int padding = shape_.layout.row_padding;
    inputs_.k_cache = empty_tensor(type, pool_slots_, problem_.num_kv_heads, problem_.head_dim, padding);
    inputs_.v_cache = empty_tensor(type, pool_slots_, problem_.num_kv_heads, problem_.v_head_dim, padding);
    fill_with_nan(inputs_.k_cache);
    std::vector<Encoded> steps;
    for (int i = 0; i < 8; ++i)
      steps.push_back(normals_.encoded(type, 1 + shape_.values.key_growth * static_cast<float>(i) / 7, false));
    if (!problem_.is_mla()) fill_with_nan(inputs_.v_cache);
    const std::vector<Used> used = used_slots();
    parallel_for(static_cast<long long>(used.size()), [&](long long i) {
      const auto [slot, step] = used[static_cast<std::size_t>(i)];
      fill_key(slot, steps[step]);
      if (!problem_.is_mla()) fill_row(inputs_.v_cache, slot, steps[0], shape_.seed ^ 0x76);
    });
  }

  const Problem& problem_;
  const Case& shape_;
  const Normals normals_;
  Inputs inputs_;
  long long pool_slots_ = 0;
};

}  // namespace

Inputs make_inputs(const Problem& problem, const Case& shape) { return Builder(problem, shape).build(); }

}  // namespace headtune
