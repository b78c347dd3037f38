#include "tuner/hip/fake_kernel.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "tuner/dtype.h"

namespace headtune::hip {
namespace {

int constant(const Constants& constants, const char* name, int otherwise) {
  const auto found = constants.find(name);
  return found == constants.end() ? otherwise : found->second;
}

struct Shape {
  explicit Shape(const Constants& c)
      : head_dim(constant(c, "HEAD_DIM", 64)),
        v_head_dim(constant(c, "V_HEAD_DIM", head_dim)),
        num_q_heads(constant(c, "NUM_Q_HEADS", 1)),
        kv_group_num(constant(c, "KV_GROUP_NUM", 1)),
        causal(constant(c, "IS_CAUSAL", 1) != 0),
        index_bits(constant(c, "INDEX_BITS", 32)),
        dtype(DType(constant(c, "DTYPE", 0))),
        kv_dtype(DType(constant(c, "KV_DTYPE", 0))) {}
  int head_dim, v_head_dim, num_q_heads, kv_group_num;
  bool causal;
  int index_bits;
  DType dtype, kv_dtype;
};

/// One key and value row, of the prefix or of the new tokens.
struct Row {
  const std::byte* k_base;
  const std::byte* v_base;
  long long k_offset, v_offset;
  DType type;
  double k_scale, v_scale;
};

const std::byte* bytes(const void* pointer) { return static_cast<const std::byte*>(pointer); }

Row prefix_row(const VerifyParams& p, const Shape& s, int entry, int kv_head) {
  const long long slot = s.index_bits == 64 ? static_cast<const long long*>(p.kv_indices)[entry]
                                            : static_cast<const int*>(p.kv_indices)[entry];
  return {bytes(p.k_cache),
          bytes(p.v_cache),
          slot * p.k_cache_stride_slot + kv_head * p.k_cache_stride_head,
          slot * p.v_cache_stride_slot + kv_head * p.v_cache_stride_head,
          s.kv_dtype,
          p.k_scale,
          p.v_scale};
}

Row new_row(const VerifyParams& p, const Shape& s, int token, int kv_head) {
  return {bytes(p.k_extend),
          bytes(p.v_extend),
          token * p.k_extend_stride_token + kv_head * p.k_extend_stride_head,
          token * p.v_extend_stride_token + kv_head * p.v_extend_stride_head,
          s.dtype,
          1,
          1};
}

std::vector<Row> rows_seen(const VerifyParams& p, const Shape& s, int request, int token, int kv_head) {
  std::vector<Row> rows;
  for (int i = p.kv_indptr[request]; i < p.kv_indptr[request + 1]; ++i) rows.push_back(prefix_row(p, s, i, kv_head));
  const int end = s.causal ? token + 1 : p.qo_indptr[request + 1];
  for (int i = p.qo_indptr[request]; i < end; ++i) rows.push_back(new_row(p, s, i, kv_head));
  return rows;
}

double dot(const Row& row, const std::vector<float>& q, std::vector<float>& k) {
  decode_row(row.k_base, row.type, row.k_offset, static_cast<int>(q.size()), k.data());
  double sum = 0;
  for (std::size_t d = 0; d < q.size(); ++d) sum += double(q[d]) * k[d];
  return sum * row.k_scale;
}

std::vector<double> softmax_scores(const std::vector<Row>& rows, const std::vector<float>& q, double sm_scale) {
  std::vector<float> k(q.size());
  std::vector<double> weights;
  for (const Row& row : rows) weights.push_back(sm_scale * dot(row, q, k));
  const double top = *std::max_element(weights.begin(), weights.end());
  double sum = 0;
  for (double& weight : weights) sum += weight = std::exp(weight - top);
  for (double& weight : weights) weight /= sum;
  return weights;
}

void write_row(const VerifyParams& p, const Shape& s, int request, int token, int head) {
  std::vector<float> q(s.head_dim), v(s.v_head_dim);
  decode_row(bytes(p.q), s.dtype, token * p.q_stride_token + head * p.q_stride_head, s.head_dim, q.data());
  const auto rows = rows_seen(p, s, request, token, head / s.kv_group_num);
  const auto weights = softmax_scores(rows, q, p.sm_scale);
  std::vector<double> sum(s.v_head_dim, 0.0);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    decode_row(rows[i].v_base, rows[i].type, rows[i].v_offset, s.v_head_dim, v.data());
    for (int d = 0; d < s.v_head_dim; ++d) sum[d] += weights[i] * rows[i].v_scale * v[d];
  }
  const long long offset = token * p.out_stride_token + head * p.out_stride_head;
  for (int d = 0; d < s.v_head_dim; ++d)
    store_bits(static_cast<std::byte*>(p.out), s.dtype, offset + d, encode(s.dtype, static_cast<float>(sum[d])));
}

/// Spoils what write_row wrote for one request.
void spoil(const VerifyParams& p, const Shape& s, int request, const std::string& how) {
  const int last_token = p.qo_indptr[request + 1] - 1, last_head = s.num_q_heads - 1;
  const long long end = last_token * p.out_stride_token + last_head * p.out_stride_head + s.v_head_dim;
  std::byte* out = static_cast<std::byte*>(p.out);
  if (how == "nan") store_bits(out, s.dtype, end - s.v_head_dim, nan_bits(s.dtype));
  if (how == "wrong_last_split")
    store_bits(out, s.dtype, end - 1, encode(s.dtype, decode(s.dtype, load_bits(out, s.dtype, end - 1)) + 0.5f));
  if (how == "out_of_bounds") store_bits(out, s.dtype, end, encode(s.dtype, 1.0f));
}

}  // namespace

int longest_context(const VerifyParams& p) {
  int longest = 0;
  for (int i = 0; i < p.batch; ++i) longest = std::max(longest, p.kv_indptr[i + 1] - p.kv_indptr[i]);
  return longest;
}

long long total_keys(const VerifyParams& p) { return p.batch > 0 ? p.kv_indptr[p.batch] - p.kv_indptr[0] : 0; }

void write_attention(const VerifyParams& p, const Constants& constants, const FakeVariant& variant) {
  const Shape s(constants);
  for (int request = 0; request < p.batch; ++request) {
    const int context = p.kv_indptr[request + 1] - p.kv_indptr[request];
    const bool spoilt = variant.output_context < 0 || variant.output_context == context;
    for (int token = p.qo_indptr[request]; token < p.qo_indptr[request + 1]; ++token)
      for (int head = 0; head < s.num_q_heads; ++head)
        if (!(spoilt && variant.output == "unwritten" && head == s.num_q_heads - 1))
          write_row(p, s, request, token, head);
    if (spoilt && p.qo_indptr[request + 1] > p.qo_indptr[request]) spoil(p, s, request, variant.output);
  }
}

}  // namespace headtune::hip
