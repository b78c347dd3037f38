/* C interface of libheadtune.so: tuned attention kernels for an inference engine.
 *
 * prepare() picks the configuration from the shipped tables, compiles the kernels (hipRTC or NVRTC in child processes,
 * cached) and loads them. After it a call only enqueues kernels: no allocation on the device, no device read, no
 * synchronisation, so calls may be captured in a HIP or CUDA graph. Every function may be called from several threads,
 * also while another device is current on the thread; one workspace serves one stream at a time. prepare() leaves its
 * device current.
 *
 * Every function returns a headtune_status; headtune_last_error() gives the text for the calling thread.
 * Shapes, strides and units are those of templates/headtune/verify_shared_kv/params.h. */
#ifndef HEADTUNE_H_
#define HEADTUNE_H_

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#define HEADTUNE_API __attribute__((visibility("default")))

typedef enum headtune_status {
  HEADTUNE_OK = 0,
  HEADTUNE_BAD_ARGUMENT = 1,    /* a null pointer, or numbers that make no problem */
  HEADTUNE_UNSUPPORTED = 2,     /* no kernel computes this; use another implementation */
  HEADTUNE_UNAVAILABLE = 3,     /* no device, no compiler or no templates */
  HEADTUNE_COMPILE_FAILED = 4,
  HEADTUNE_WORKSPACE_TOO_SMALL = 5,
  HEADTUNE_DEVICE_ERROR = 6     /* the HIP or CUDA call is named in the error text */
} headtune_status;

typedef enum headtune_dtype {
  HEADTUNE_BF16 = 0,
  HEADTUNE_FP16 = 1,
  HEADTUNE_FP8_E4M3FN = 2,
  HEADTUNE_FP8_E4M3FNUZ = 3
} headtune_dtype;

/* What is computed; fixed for the life of the kernels. */
typedef struct headtune_problem {
  int head_dim, v_head_dim;       /* MLA: 576, 512 */
  int num_q_heads, num_kv_heads;  /* of this rank */
  int extend_len;                 /* new tokens per request, at most */
  int is_causal;                  /* masks the new tokens only */
  headtune_dtype dtype, kv_dtype;
  int index_bits;                 /* of kv_indices: 32 or 64 */
  int max_context;                /* longest prefix; bounds the number of splits, any length is computed */
} headtune_problem;

/* One call. Pointers are device pointers; strides count elements. */
typedef struct headtune_call {
  const void *q, *k_extend, *v_extend; /* [tokens][heads][dim] */
  const void *k_cache, *v_cache;       /* [slots][kv heads][dim]; MLA: the same pointer twice */
  void* out;                           /* [tokens][num_q_heads][v_head_dim] */
  const int *qo_indptr, *kv_indptr;    /* [batch + 1] */
  const void* kv_indices;
  long long q_stride_token, q_stride_head;
  long long k_extend_stride_token, k_extend_stride_head;
  long long v_extend_stride_token, v_extend_stride_head;
  long long k_cache_stride_slot, k_cache_stride_head;
  long long v_cache_stride_slot, v_cache_stride_head;
  long long out_stride_token, out_stride_head;
  int batch;
  float sm_scale, k_scale, v_scale;
  void* workspace;
  size_t workspace_bytes;
} headtune_call;

typedef struct headtune_kernels headtune_kernels; /* opaque */

/* `device`: "rocm:0", "cuda:0", "sim:gfx950" or "auto". */
HEADTUNE_API headtune_status headtune_prepare(const char* device, const headtune_problem* problem,
                                              headtune_kernels** kernels);
HEADTUNE_API void headtune_release(headtune_kernels* kernels);

/* Workspace of a batch, in bytes; monotonic in the batch, so that the largest serves all. */
HEADTUNE_API headtune_status headtune_workspace_bytes(const headtune_kernels* kernels, int batch, size_t* bytes);

/* Enqueues the one-time clearing of a workspace; needed once after it was allocated. */
HEADTUNE_API headtune_status headtune_clear_workspace(const headtune_kernels* kernels, void* workspace, size_t bytes,
                                                      void* stream);

/* `stream`: a hipStream_t or cudaStream_t; null is the default stream. */
HEADTUNE_API headtune_status headtune_verify_shared_kv(const headtune_kernels* kernels, const headtune_call* call,
                                                       void* stream);
HEADTUNE_API headtune_status headtune_extend_attention(const headtune_kernels* kernels, const headtune_call* call,
                                                       void* stream);

/* One line: architecture, configuration, how its table row matched, compiler. Valid until release. */
HEADTUNE_API const char* headtune_describe(const headtune_kernels* kernels);
HEADTUNE_API const char* headtune_status_text(headtune_status status);
HEADTUNE_API const char* headtune_last_error(void);
HEADTUNE_API const char* headtune_version(void);

#ifdef __cplusplus
}
#endif

#endif /* HEADTUNE_H_ */
