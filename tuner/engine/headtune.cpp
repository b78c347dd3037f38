// The C interface: argument checks, and exceptions turned into status codes and a thread's last error.
#include "tuner/engine/headtune.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <filesystem>

#include "headtune/version.h"
#include "tuner/engine/engine.h"
#include "tuner/error.h"
#include "tuner/hip/check.h"

struct headtune_kernels {
  headtune::Engine engine;
};

namespace {

using namespace headtune;

thread_local std::string last_error;

headtune_status fail(headtune_status status, const std::string& text) {
  last_error = text;
  return status;
}

template <class Body>
headtune_status guarded(Body&& body) {
  try {
    return body();
  } catch (const WorkspaceTooSmall& error) {
    return fail(HEADTUNE_WORKSPACE_TOO_SMALL, error.what());
  } catch (const CompileFailed& error) {
    return fail(HEADTUNE_COMPILE_FAILED, error.what());
  } catch (const UnavailableError& error) {
    return fail(HEADTUNE_UNAVAILABLE, error.what());
  } catch (const UsageError& error) {
    return fail(HEADTUNE_UNSUPPORTED, error.what());
  } catch (const std::exception& error) {
    return fail(HEADTUNE_DEVICE_ERROR, error.what());
  }
}

Problem to_problem(const headtune_problem& p) {
  Problem problem;
  problem.head_dim = p.head_dim, problem.v_head_dim = p.v_head_dim;
  problem.num_q_heads = p.num_q_heads, problem.num_kv_heads = p.num_kv_heads;
  problem.extend_len = p.extend_len;
  problem.is_causal = p.is_causal != 0;
  problem.dtype = static_cast<DType>(p.dtype), problem.kv_dtype = static_cast<DType>(p.kv_dtype);
  return problem;
}

VerifyParams to_params(const headtune_call& c) {
  VerifyParams p{};
  p.q = c.q, p.k_extend = c.k_extend, p.v_extend = c.v_extend;
  p.k_cache = c.k_cache, p.v_cache = c.v_cache, p.out = c.out;
  p.qo_indptr = c.qo_indptr, p.kv_indptr = c.kv_indptr, p.kv_indices = c.kv_indices;
  p.q_stride_token = c.q_stride_token, p.q_stride_head = c.q_stride_head;
  p.k_extend_stride_token = c.k_extend_stride_token, p.k_extend_stride_head = c.k_extend_stride_head;
  p.v_extend_stride_token = c.v_extend_stride_token, p.v_extend_stride_head = c.v_extend_stride_head;
  p.k_cache_stride_slot = c.k_cache_stride_slot, p.k_cache_stride_head = c.k_cache_stride_head;
  p.v_cache_stride_slot = c.v_cache_stride_slot, p.v_cache_stride_head = c.v_cache_stride_head;
  p.out_stride_token = c.out_stride_token, p.out_stride_head = c.out_stride_head;
  p.batch = c.batch;
  p.sm_scale = c.sm_scale, p.k_scale = c.k_scale, p.v_scale = c.v_scale;
  return p;
}

bool complete(const headtune_call* c) {
  return c && c->q && c->k_extend && c->v_extend && c->k_cache && c->v_cache && c->out && c->qo_indptr &&
         c->kv_indptr && c->kv_indices && c->batch >= 0;
}

std::filesystem::path this_library() {
  Dl_info info{};
  if (!dladdr(reinterpret_cast<const void*>(&headtune_version), &info) || !info.dli_fname) return {};
  std::error_code ignored;
  return std::filesystem::canonical(info.dli_fname, ignored).parent_path();
}

}  // namespace

headtune_status headtune_prepare(const char* device, const headtune_problem* problem, headtune_kernels** kernels) {
  if (!device || !problem || !kernels) return fail(HEADTUNE_BAD_ARGUMENT, "headtune_prepare: a null pointer");
  if (problem->index_bits != 32 && problem->index_bits != 64)
    return fail(HEADTUNE_BAD_ARGUMENT, fmt::format("index_bits {}: use 32 or 64", problem->index_bits));
  for (const headtune_dtype type : {problem->dtype, problem->kv_dtype})
    if (type < HEADTUNE_BF16 || type > HEADTUNE_FP8_E4M3FNUZ)
      return fail(HEADTUNE_BAD_ARGUMENT, fmt::format("dtype or kv_dtype {} is no headtune_dtype", int{type}));
  if (problem->max_context <= 0) return fail(HEADTUNE_BAD_ARGUMENT, "max_context must be positive");
  return guarded([&] {
    *kernels = new headtune_kernels{
        Engine(device, to_problem(*problem), problem->index_bits, problem->max_context, this_library())};
    return HEADTUNE_OK;
  });
}

void headtune_release(headtune_kernels* kernels) { delete kernels; }

headtune_status headtune_workspace_bytes(const headtune_kernels* kernels, int batch, size_t* bytes) {
  if (!kernels || !bytes || batch < 0) return fail(HEADTUNE_BAD_ARGUMENT, "headtune_workspace_bytes: bad argument");
  return guarded([&] {
    *bytes = kernels->engine.workspace_bytes(batch);
    return HEADTUNE_OK;
  });
}

headtune_status headtune_clear_workspace(const headtune_kernels* kernels, void* workspace, size_t bytes, void* stream) {
  if (!kernels || !workspace) return fail(HEADTUNE_BAD_ARGUMENT, "headtune_clear_workspace: a null pointer");
  return guarded([&] {
    kernels->engine.clear_workspace(workspace, bytes, static_cast<hip::Stream>(stream));
    return HEADTUNE_OK;
  });
}

headtune_status headtune_verify_shared_kv(const headtune_kernels* kernels, const headtune_call* call, void* stream) {
  if (!kernels || !complete(call) || !call->workspace)
    return fail(HEADTUNE_BAD_ARGUMENT, "headtune_verify_shared_kv: a null pointer or a negative batch");
  return guarded([&] {
    kernels->engine.verify_shared_kv(to_params(*call), call->workspace, call->workspace_bytes,
                                     static_cast<hip::Stream>(stream));
    return HEADTUNE_OK;
  });
}

headtune_status headtune_extend_attention(const headtune_kernels* kernels, const headtune_call* call, void* stream) {
  if (!kernels || !complete(call))
    return fail(HEADTUNE_BAD_ARGUMENT, "headtune_extend_attention: a null pointer or a negative batch");
  return guarded([&] {
    kernels->engine.extend_attention(to_params(*call), static_cast<hip::Stream>(stream));
    return HEADTUNE_OK;
  });
}

const char* headtune_describe(const headtune_kernels* kernels) {
  return kernels ? kernels->engine.description().c_str() : "";
}

const char* headtune_status_text(headtune_status status) {
  switch (status) {
    case HEADTUNE_OK:
      return "ok";
    case HEADTUNE_BAD_ARGUMENT:
      return "bad argument";
    case HEADTUNE_UNSUPPORTED:
      return "no kernel computes this problem";
    case HEADTUNE_UNAVAILABLE:
      return "no device, compiler or templates";
    case HEADTUNE_COMPILE_FAILED:
      return "a kernel does not compile";
    case HEADTUNE_WORKSPACE_TOO_SMALL:
      return "workspace too small";
    case HEADTUNE_DEVICE_ERROR:
      return "the device reported an error";
  }
  return "unknown status";
}

const char* headtune_last_error(void) { return last_error.c_str(); }

const char* headtune_version(void) { return HEADTUNE_VERSION_STRING; }
