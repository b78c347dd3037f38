// Proves a variant right on a device before anyone times it: against float64, on poisoned memory, twice.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "tuner/hip/provider.h"
#include "tuner/op.h"
#include "tuner/op_inputs.h"
#include "tuner/op_reference.h"

namespace headtune {

/// How far one output lies from its reference.
struct Comparison {
  double relative_l2 = 0;
  double l2_bound = 0;
  double worst_element = 0;  ///< largest |error| / bound of one element; at most 1 passes
  std::string failure;       ///< empty, or one line: what differs, where, how much
};

/// `out` is laid out as inputs.out. NaN, and a change between rows (padding), never pass.
Comparison compare(const Inputs& inputs, const Reference& expected, std::span<const std::byte> out,
                   unsigned char poison);

struct VerifyResult {
  double relative_l2 = 0;    ///< worst case
  double worst_element = 0;  ///< worst case, 1 = at the bound
  int cases = 0;             ///< run, up to and with the failing one
  std::string failure;       ///< empty: verified; else one line that starts with the case's name

  bool passed() const { return failure.empty(); }
};

/// A handful of compact cases: empty prefixes in a batch, lengths around every BLOCK_N and around split boundaries,
/// NaN where nothing may be read, strided tensors, a rising maximum, a long last split.
std::vector<Case> quick_cases(const Problem& problem);

/// Inputs and references of one problem on one device, computed once and shared by all of its variants.
class Verifier {
 public:
  /// `index_bits` is the width of kv_indices that the variants were rendered for; it replaces that of the cases.
  Verifier(const hip::Device& device, const Op& op, const Problem& problem, std::vector<Case> cases,
           int index_bits = 32);
  ~Verifier();
  Verifier(Verifier&&) noexcept;

  /// Runs every case twice and stops at the first failure. A device error is thrown as hip::DeviceError: after a fault
  /// the process must be restarted.
  VerifyResult check(const Config& config, std::span<const std::byte> code);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// The architecture entry of a device, with the counts that the device itself reports. Throws UnavailableError for an
/// architecture that headtune has no kernels for.
Arch arch_of(const hip::Device& device);

}  // namespace headtune
