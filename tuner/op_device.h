// An operator's inputs, outputs and kernels on a device.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "headtune/verify_shared_kv/params.h"
#include "tuner/guarded_buffer.h"
#include "tuner/op.h"
#include "tuner/op_inputs.h"

namespace headtune {

/// Inputs uploaded once and shared by every variant of a problem. `inputs` must outlive it.
class DeviceInputs {
 public:
  DeviceInputs(const hip::Api& api, const Inputs& inputs);

  /// Everything but the output, the workspace and the split counts.
  VerifyParams params() const;

  /// Overwrites the device's copy with other inputs of the same shapes and at most as many prefix keys, as the next
  /// step of an engine does under a captured graph.
  void overwrite(const Inputs& other);
  const Inputs& inputs() const { return inputs_; }

 private:
  const Inputs& inputs_;
  GuardedBuffer q_, k_extend_, v_extend_, k_cache_, v_cache_, qo_indptr_, kv_indptr_, kv_indices_;
};

/// Output and workspace of one plan.
class DeviceOutputs {
 public:
  DeviceOutputs(const hip::Api& api, const Inputs& inputs, const Plan& plan);

  void bind(VerifyParams& params) const;
  /// Fills output and partials with `byte`, clears split_done.
  void poison(unsigned char byte);
  std::vector<std::byte> read_out() const;
  /// Empty, or what a kernel wrote where it must not, or left behind in split_done.
  std::string damage() const;

 private:
  const Plan plan_;
  GuardedBuffer out_, partial_out_, partial_lse_, split_done_;
};

/// The kernels of one code object.
class LoadedKernels {
 public:
  LoadedKernels(const hip::Api& api, std::span<const std::byte> code, const std::vector<std::string>& names);

  /// Enqueues every launch of the plan.
  void launch(const Plan& plan, const VerifyParams& params, hip::Stream stream = nullptr) const;

 private:
  const hip::Api& api_;
  hip::Owned<hip::Module> module_;
  std::map<std::string, hip::Function> functions_;
};

}  // namespace headtune
