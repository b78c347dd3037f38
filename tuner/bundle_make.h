// Builds the bundle of one operator call: random inputs, compiled kernels, complete kernel arguments, references.
#pragma once

#include "headtune/arch.h"
#include "tuner/bundle.h"
#include "tuner/op.h"

namespace headtune {

/// Which kernels run and what is expected of them.
enum class BundleStage {
  prefix,   ///< stage 1; the normalised prefix partials
  combine,  ///< stage 2 on given partials; the output
  all,      ///< every launch of the call; the output
};

struct BundleRequest {
  std::string op = "verify_shared_kv";
  Problem problem;
  Config config;
  Arch arch{};
  int batch = 1;
  int context = 0;  ///< keys of every prefix
  BundleStage stage = BundleStage::all;
  int splits = 0;  ///< 0: as planned
  std::uint64_t seed = 1;
};

/// The request with a configuration that can serve it: no fused combine when stages are separate, room for the splits.
/// Throws UsageError when the operator has no such stage.
BundleRequest settle(BundleRequest request);

/// `code` is the settled request's compiled instance. Throws BadCode when it is no code object.
Bundle make_bundle(const BundleRequest& settled, std::vector<std::byte> code);

}  // namespace headtune
