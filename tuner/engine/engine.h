// Tuned kernels of one problem on one device, ready to be enqueued: what libheadtune.so's C interface wraps.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <string>

#include "headtune/config.h"
#include "headtune/verify_shared_kv/params.h"
#include "tuner/hip/api.h"
#include "tuner/op.h"

namespace headtune {

/// Why a call was refused before anything was enqueued.
struct WorkspaceTooSmall : std::runtime_error {
  using runtime_error::runtime_error;
};
struct CompileFailed : std::runtime_error {
  using runtime_error::runtime_error;
};

class Engine {
 public:
  /// Throws UnavailableError, UsageError (the numbers make no problem), CompileFailed or hip::DeviceError.
  /// `near` is the folder of headtune-toolchain; empty: this executable's. Templates: see templates_dir().
  Engine(const std::string& device, const Problem& problem, int index_bits, int max_context,
         const std::filesystem::path& near = {});
  ~Engine();

  std::size_t workspace_bytes(int batch) const;
  void clear_workspace(void* workspace, std::size_t bytes, hip::Stream stream) const;

  /// `params` without its workspace and split fields. Enqueues and returns.
  void verify_shared_kv(VerifyParams params, void* workspace, std::size_t bytes, hip::Stream stream) const;
  void extend_attention(const VerifyParams& params, hip::Stream stream) const;

  const std::string& description() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace headtune
