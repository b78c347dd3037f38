// One class per operator: which kernels it launches and how, and what it costs at least.
// Inputs and the float64 reference are shared by all attention operators (op_inputs, op_reference).
#pragma once

#include <array>
#include <string>
#include <vector>

#include "headtune/arch.h"
#include "headtune/config.h"
#include "tuner/op_case.h"

namespace headtune {

/// One kernel launch; every kernel takes VerifyParams by value as its only argument.
struct KernelLaunch {
  std::string kernel;
  std::array<unsigned, 3> grid = {1, 1, 1};  ///< workgroups
  unsigned block = 0;                        ///< threads
  unsigned dynamic_lds_bytes = 0;
  bool dependent = false;  ///< as Launch::dependent
};

/// What the host decides before a call, from static shapes only.
struct Plan {
  std::vector<KernelLaunch> launches;  ///< in order, on one stream
  int num_splits = 1;
  int min_keys_per_split = 0;
  std::size_t partial_out_bytes = 0, partial_lse_bytes = 0, split_done_bytes = 0;
};

class Op {
 public:
  virtual ~Op() = default;
  virtual std::string name() const = 0;

  /// Entry points that an instance must define.
  virtual std::vector<std::string> kernels() const = 0;

  /// `context` is the longest prefix that the plan must serve well; any prefix must be served right.
  virtual Plan plan(const Problem& problem, const Config& config, const Arch& arch, int batch, int context) const = 0;

  /// LDS of the largest kernel, bytes per workgroup.
  virtual int lds_bytes(const Problem& problem, const Config& config, const Arch& arch) const = 0;
};

/// An attention operator of op_names(), or plain_read or plain_copy, which `bench` compares with. Throws UsageError
/// naming the operators there are.
const Op& find_op(const std::string& name);
std::vector<std::string> op_names();

/// Bytes that any implementation must move: K and V of every prefix key once (MLA: the shared row once), the new tokens
/// and the output.
double byte_floor(const Problem& problem, const Case& shape);

/// Multiplications and additions of both products, causal part halved.
double flop_count(const Problem& problem, const Case& shape);

}  // namespace headtune
