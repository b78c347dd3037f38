#include "tuner/cli/problem_options.h"

#include <fmt/format.h>

#include "tuner/cli/parse.h"
#include "tuner/dtype.h"
#include "tuner/error.h"
#include "tuner/space.h"

namespace headtune::cli {
namespace {

/// DeepSeek's latent attention: 512 latent + 64 rope elements, V is the latent part.
constexpr int mla_head_dim = 576, mla_v_head_dim = 512;

Problem make_problem(const ProblemOptions& options, int head_dim) {
  const auto [q_heads, kv_heads] = parse_heads(options.heads);
  Problem problem;
  problem.head_dim = head_dim;
  problem.v_head_dim = options.v_head_dim > 0     ? options.v_head_dim
                       : head_dim == mla_head_dim ? mla_v_head_dim
                                                  : head_dim;
  problem.num_q_heads = q_heads;
  problem.num_kv_heads = kv_heads;
  problem.extend_len = options.extend_len;
  problem.is_causal = options.causal;
  problem.dtype = parse_dtype(options.dtype);
  problem.kv_dtype = parse_dtype(options.kv_dtype.empty() ? options.dtype : options.kv_dtype);
  validate(problem);
  return problem;
}

}  // namespace

void add_problem_options(CLI::App& command, ProblemOptions& o) {
  command.add_option("--op", o.op, "Operator: verify_shared_kv or extend_attention (the baseline)")
      ->capture_default_str();
  command.add_option("--head-dim", o.head_dim, "Elements of a Q or K row; a list tunes each")->capture_default_str();
  command.add_option("--v-head-dim", o.v_head_dim, "Elements of a V row [as --head-dim; 512 for 576]");
  command.add_option("--heads", o.heads, "Query/KV heads of one rank")->capture_default_str();
  command.add_option("--extend-len", o.extend_len, "New tokens per request")->capture_default_str();
  command.add_flag("--causal,!--no-causal", o.causal, "Mask among the new tokens [--no-causal]");
  command.add_option("--dtype", o.dtype, "Q, new K/V and output: bf16 or fp16")->capture_default_str();
  command.add_option("--kv-dtype", o.kv_dtype, "Prefix: bf16, fp16, fp8_e4m3fn, fp8_e4m3fnuz [as --dtype]");
}

std::vector<Problem> problems(const ProblemOptions& options) {
  std::vector<Problem> all;
  for (const int head_dim : parse_counts(options.head_dim, "--head-dim"))
    all.push_back(make_problem(options, head_dim));
  return all;
}

Problem problem(const ProblemOptions& options) {
  const auto all = problems(options);
  if (all.size() != 1) throw UsageError("--head-dim: expected one value here, not " + options.head_dim);
  return all.front();
}

std::string describe(const Problem& p) {
  const std::string dims = p.is_mla() ? fmt::format("{}/{}", p.head_dim, p.v_head_dim) : fmt::format("{}", p.head_dim);
  const std::string types =
      p.dtype == p.kv_dtype ? to_string(p.dtype) : to_string(p.dtype) + "/" + to_string(p.kv_dtype);
  return fmt::format("head_dim {}, {}/{} heads, L {}, {}, {}", dims, p.num_q_heads, p.num_kv_heads, p.extend_len,
                     p.is_causal ? "causal" : "non-causal", types);
}

}  // namespace headtune::cli
