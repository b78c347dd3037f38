"""A plain flash attention over a paged prefix, without splits: what extend_attention is to be compared with.

One program per request and query head walks the whole prefix, as generic extend kernels do. The new tokens are left out.
"""

import triton
import triton.language as tl


@triton.autotune(configs=[triton.Config({"BLOCK_N": keys}, num_warps=warps, num_stages=stages)
                          for keys in (32, 64, 128) for warps in (4, 8) for stages in (2, 3, 4)],
                 key=["HEAD_DIM", "V_HEAD_DIM", "context"])
@triton.jit
def plain_flash_kernel(q, k_cache, v_cache, kv_indices, out, context, scale, slot_stride, v_slot_stride,
                       TOKENS: tl.constexpr, HEADS: tl.constexpr, GROUP: tl.constexpr, HEAD_DIM: tl.constexpr,
                       V_HEAD_DIM: tl.constexpr, MAIN: tl.constexpr, BLOCK_N: tl.constexpr):
    request, head = tl.program_id(1), tl.program_id(0)
    rows, dims, v_dims = tl.arange(0, 16), tl.arange(0, MAIN), tl.arange(0, V_HEAD_DIM)
    tail = MAIN + tl.arange(0, 64)  # of a head_dim that is no power of two (MLA)
    q_row = q + ((request * TOKENS + rows[:, None]) * HEADS + head) * HEAD_DIM
    valid = rows[:, None] < TOKENS
    queries = tl.load(q_row + dims[None, :], mask=valid, other=0.0)
    if MAIN < HEAD_DIM:
        queries_tail = tl.load(q_row + tail[None, :], mask=valid, other=0.0)
    k_head = k_cache + (head // GROUP) * HEAD_DIM
    v_head = v_cache + (head // GROUP) * (HEAD_DIM if MAIN < HEAD_DIM else V_HEAD_DIM)
    top = tl.full([16], float("-inf"), tl.float32)
    mass = tl.zeros([16], tl.float32)
    total = tl.zeros([16, V_HEAD_DIM], tl.float32)
    for first in range(0, context, BLOCK_N):
        slots = tl.load(kv_indices + request * context + first + tl.arange(0, BLOCK_N)).to(tl.int64)
        keys = tl.load(k_head + slots[None, :] * slot_stride + dims[:, None])
        scores = tl.dot(queries, keys)
        if MAIN < HEAD_DIM:
            scores += tl.dot(queries_tail, tl.load(k_head + slots[None, :] * slot_stride + tail[:, None]))
        scores *= scale * 1.44269504
        higher = tl.maximum(top, tl.max(scores, 1))
        weights = tl.exp2(scores - higher[:, None])
        shrink = tl.exp2(top - higher)
        mass = mass * shrink + tl.sum(weights, 1)
        if MAIN < HEAD_DIM:
            values = tl.trans(keys)
        else:
            values = tl.load(v_head + slots[:, None] * v_slot_stride + v_dims[None, :])
        total = total * shrink[:, None] + tl.dot(weights.to(values.dtype), values)
        top = higher
    to = out + ((request * TOKENS + rows[:, None]) * HEADS + head) * V_HEAD_DIM + v_dims[None, :]
    tl.store(to, (total / mass[:, None]).to(out.dtype.element_ty), mask=valid)


def plain_flash(data):
    """A function that enqueues it on one of the pools of a Batch of verify_attention.py."""
    heads, kv_heads, dim, v_dim, tokens, _ = data.case

    def enqueue(pool):
        k, v = data.k_cache[pool], data.v_cache[pool]
        plain_flash_kernel[(heads, data.batch)](
            data.q, k, v, data.kv_indices, data.out, data.context, data.sm_scale, k.stride(0), v.stride(0),
            TOKENS=tokens, HEADS=heads, GROUP=heads // kv_heads, HEAD_DIM=dim, V_HEAD_DIM=v_dim,
            MAIN=dim if v_dim == dim else v_dim)

    return enqueue
