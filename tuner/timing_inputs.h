// Inputs for timing one problem: one KV pool that every shape and every cache-defeating pool takes its slots from.
// Values are random (switching activity costs clock); slots are scattered, as in a server that has run for a while.
#pragma once

#include <compare>
#include <map>
#include <span>
#include <vector>

#include "headtune/verify_shared_kv/params.h"
#include "tuner/hip/buffer.h"
#include "tuner/op.h"

namespace headtune {

/// What one time belongs to: every request has the same prefix.
struct TimedShape {
  int batch = 1;
  int context = 0;  ///< keys of each prefix

  friend auto operator<=>(const TimedShape&, const TimedShape&) = default;
};

/// Bytes of K and V that one call must read.
long long prefix_bytes(const Problem& problem, const TimedShape& shape);

class TimingInputs {
 public:
  /// Throws hip::DeviceError (out of memory among others). `llc_bytes` of the device decides the number of pools.
  TimingInputs(const hip::Api& api, const Problem& problem, std::span<const TimedShape> shapes, int index_bits,
               long long llc_bytes);

  bool covers(const TimedShape& shape) const { return indptr_.contains(shape); }
  int pools(const TimedShape& shape) const;

  /// Everything but the workspace.
  VerifyParams params(const TimedShape& shape, int pool) const;

 private:
  void upload_indices(const hip::Api& api, long long slots);

  Problem problem_;
  int index_bits_;
  long long llc_bytes_;
  hip::DeviceBuffer q_, k_extend_, v_extend_, out_, k_cache_, v_cache_, indices_, qo_indptr_;
  std::map<TimedShape, hip::DeviceBuffer> indptr_;
};

}  // namespace headtune
