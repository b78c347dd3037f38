"""headtune's C interface through ctypes; runs unchanged on ROCm and CUDA builds of PyTorch.

The structures repeat tuner/engine/headtune.h. Tensors keep their PyTorch strides; the last dimension is contiguous.
"""

import ctypes
import os
from ctypes import POINTER, byref, c_char_p, c_float, c_int, c_longlong, c_size_t, c_void_p

import torch

DTYPES = {torch.bfloat16: 0, torch.float16: 1}


class Problem(ctypes.Structure):
    _fields_ = [(name, c_int) for name in (
        "head_dim", "v_head_dim", "num_q_heads", "num_kv_heads", "extend_len", "is_causal", "dtype", "kv_dtype",
        "index_bits", "max_context")]


class Call(ctypes.Structure):
    _fields_ = (
        [(name, c_void_p) for name in ("q", "k_extend", "v_extend", "k_cache", "v_cache", "out", "qo_indptr",
                                       "kv_indptr", "kv_indices")]
        + [(f"{tensor}_stride_{dim}", c_longlong)
           for tensor, outer in (("q", "token"), ("k_extend", "token"), ("v_extend", "token"), ("k_cache", "slot"),
                                 ("v_cache", "slot"), ("out", "token"))
           for dim in (outer, "head")]
        + [("batch", c_int)]
        + [(name, c_float) for name in ("sm_scale", "k_scale", "v_scale")]
        + [("workspace", c_void_p), ("workspace_bytes", c_size_t)])


def load_library(path=None):
    """Loads libheadtune.so from `path`, $HEADTUNE_LIBRARY or build/release of this checkout."""
    here = os.path.dirname(os.path.abspath(__file__))
    default = os.path.join(here, "..", "..", "build", "release", "libheadtune.so")
    library = ctypes.CDLL(path or os.environ.get("HEADTUNE_LIBRARY") or default)
    for name in ("headtune_describe", "headtune_status_text", "headtune_last_error", "headtune_version"):
        getattr(library, name).restype = c_char_p
    library.headtune_prepare.argtypes = [c_char_p, POINTER(Problem), POINTER(c_void_p)]
    library.headtune_release.argtypes = [c_void_p]
    library.headtune_describe.argtypes = [c_void_p]
    library.headtune_workspace_bytes.argtypes = [c_void_p, c_int, POINTER(c_size_t)]
    library.headtune_clear_workspace.argtypes = [c_void_p, c_void_p, c_size_t, c_void_p]
    library.headtune_verify_shared_kv.argtypes = [c_void_p, POINTER(Call), c_void_p]
    library.headtune_extend_attention.argtypes = [c_void_p, POINTER(Call), c_void_p]
    return library


class Attention:
    """Tuned kernels of one problem on one device, with a workspace for batches up to `max_batch`."""

    def __init__(self, library, problem, max_batch, device_index=0):
        self._library, self._device = library, device_index
        self._kernels = c_void_p()
        provider = "rocm" if torch.version.hip else "cuda"
        self._check(library.headtune_prepare(f"{provider}:{device_index}".encode(), byref(problem),
                                             byref(self._kernels)))
        size = c_size_t()
        self._check(library.headtune_workspace_bytes(self._kernels, max_batch, byref(size)))
        self.workspace = torch.empty(max(size.value, 256), dtype=torch.uint8, device=f"cuda:{device_index}")
        self._check(library.headtune_clear_workspace(self._kernels, self.workspace.data_ptr(),
                                                     self.workspace.numel(), self._stream()))

    def __del__(self):
        if getattr(self, "_kernels", None):
            self._library.headtune_release(self._kernels)

    def describe(self):
        return self._library.headtune_describe(self._kernels).decode()

    def verify_shared_kv(self, *tensors, **scales):
        self._check(self._library.headtune_verify_shared_kv(self._kernels, byref(self._call(*tensors, **scales)),
                                                            self._stream()))

    def extend_attention(self, *tensors, **scales):
        self._check(self._library.headtune_extend_attention(self._kernels, byref(self._call(*tensors, **scales)),
                                                            self._stream()))

    def _check(self, status):
        if status != 0:
            text = self._library.headtune_status_text(status).decode()
            raise RuntimeError(f"headtune: {text}: {self._library.headtune_last_error().decode()}")

    def _stream(self):
        return torch.cuda.current_stream(self._device).cuda_stream

    def _call(self, q, k_extend, v_extend, k_cache, v_cache, out, qo_indptr, kv_indptr, kv_indices, sm_scale,
              k_scale=1.0, v_scale=1.0):
        call = Call(*(tensor.data_ptr() for tensor in (q, k_extend, v_extend, k_cache, v_cache, out, qo_indptr,
                                                       kv_indptr, kv_indices)))
        for name, tensor, outer in (("q", q, "token"), ("k_extend", k_extend, "token"),
                                    ("v_extend", v_extend, "token"), ("k_cache", k_cache, "slot"),
                                    ("v_cache", v_cache, "slot"), ("out", out, "token")):
            setattr(call, f"{name}_stride_{outer}", tensor.stride(0))
            setattr(call, f"{name}_stride_head", tensor.stride(1))
        call.batch = qo_indptr.numel() - 1
        call.sm_scale, call.k_scale, call.v_scale = sm_scale, k_scale, v_scale
        call.workspace, call.workspace_bytes = self.workspace.data_ptr(), self.workspace.numel()
        return call
