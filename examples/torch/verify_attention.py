"""headtune's kernels called from PyTorch on the current stream: checked against scaled_dot_product_attention, then timed
beside extend_attention and beside FlashAttention with the group's heads folded into the query length.

    python3 examples/torch/verify_attention.py [--plain] [--json FILE]

Folded FlashAttention reads contiguous KV and leaves the new tokens out: less work than ours. Times are medians of
captured graphs that rotate through KV pools beyond twice the last-level cache. --plain times a plain flash kernel without
splits too (Triton, plain_flash.py): what extend_attention is to be compared with.
"""

import argparse
import json
import math
import statistics

import torch
import torch.nn.functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel

from headtune_ctypes import DTYPES, Attention, Problem, load_library

CASES = {  # name: q heads, kv heads, head_dim, v_head_dim, new tokens, causal
    "draft64": (8, 2, 64, 64, 7, False),
    "draft64_16": (16, 4, 64, 64, 8, False),
    "draft128": (16, 4, 128, 128, 8, False),
    "qwen256": (8, 1, 256, 256, 4, True),
    "mla576": (12, 1, 576, 512, 8, True),
}
LAST_LEVEL_CACHE = 256 << 20  # of the largest device; rotation exceeds twice this or 16 pools
GIB = 1 << 30


class Batch:
    """Random tensors of one case; every pool is a KV cache of its own with scattered slots."""

    def __init__(self, case, batch, context, pools):
        heads, kv_heads, dim, v_dim, tokens, causal = case
        self.case, self.batch, self.context = case, batch, context
        device, dtype, keys = "cuda", torch.bfloat16, batch * context
        self.q = torch.randn(batch * tokens, heads, dim, device=device, dtype=dtype)
        self.k_extend = torch.randn(batch * tokens, kv_heads, dim, device=device, dtype=dtype)
        self.v_extend = torch.randn(batch * tokens, kv_heads, v_dim, device=device, dtype=dtype)
        self.out = torch.empty(batch * tokens, heads, v_dim, device=device, dtype=dtype)
        self.k_cache = [torch.randn(keys + 1, kv_heads, dim, device=device, dtype=dtype) for _ in range(pools)]
        mla = v_dim < dim
        self.v_cache = self.k_cache if mla else [
            torch.randn(keys + 1, kv_heads, v_dim, device=device, dtype=dtype) for _ in range(pools)]
        if mla:
            self.v_extend = self.k_extend[:, :, :v_dim]
        self.qo_indptr = torch.arange(batch + 1, device=device, dtype=torch.int32) * tokens
        self.kv_indptr = torch.arange(batch + 1, device=device, dtype=torch.int32) * context
        self.kv_indices = (torch.randperm(keys, device=device) + 1).to(torch.int32)
        self.sm_scale = 1 / math.sqrt(dim)

    def arguments(self, pool):
        return (self.q, self.k_extend, self.v_extend, self.k_cache[pool], self.v_cache[pool], self.out,
                self.qo_indptr, self.kv_indptr, self.kv_indices)

    def reference(self):
        """SDPA in float32 over prefix and new tokens of each request."""
        heads, kv_heads, dim, v_dim, tokens, causal = self.case
        outputs = []
        for b in range(self.batch):
            slots = self.kv_indices[b * self.context:(b + 1) * self.context].long()
            rows = slice(b * tokens, (b + 1) * tokens)
            k = torch.cat([self.k_cache[0][slots], self.k_extend[rows]]).float()
            v = torch.cat([self.v_cache[0][slots][:, :, :v_dim], self.v_extend[rows]]).float()
            mask = torch.zeros(tokens, self.context + tokens, device="cuda", dtype=torch.bool)
            mask[:, :self.context] = True
            new = torch.ones(tokens, tokens, device="cuda", dtype=torch.bool)
            mask[:, self.context:] = new.tril() if causal else new
            group = heads // kv_heads
            out = F.scaled_dot_product_attention(
                self.q[rows].float().transpose(0, 1), k.transpose(0, 1).repeat_interleave(group, 0),
                v.transpose(0, 1).repeat_interleave(group, 0), attn_mask=mask, scale=self.sm_scale)
            outputs.append(out.transpose(0, 1))
        return torch.cat(outputs)


def graph_time_us(enqueue, pools, calls=24, samples=9):
    """Median time of one call inside a captured graph that rotates through `pools`."""
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        for pool in range(pools):
            enqueue(pool)
        stream.synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph, stream=stream):
            for call in range(calls):
                enqueue(call % pools)
        times = []
        for _ in range(samples + 3):
            start, stop = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
            start.record()
            graph.replay()
            stop.record()
            stop.synchronize()
            times.append(start.elapsed_time(stop) * 1000 / calls)
    return statistics.median(times[3:])


def folded_flash(data):
    """FlashAttention over the prefix with each group's heads folded into the query length; None where it cannot run."""
    heads, kv_heads, dim, v_dim, tokens, _ = data.case
    if dim != v_dim or dim > 256:
        return None
    rows = heads // kv_heads * tokens
    q = torch.randn(data.batch, kv_heads, rows, dim, device="cuda", dtype=torch.bfloat16)
    shape = (data.batch, data.context, kv_heads, dim)

    def enqueue(pool):
        k = data.k_cache[pool][1:].view(shape).transpose(1, 2)
        v = data.v_cache[pool][1:].view(shape).transpose(1, 2)
        with sdpa_kernel(SDPBackend.FLASH_ATTENTION):
            F.scaled_dot_product_attention(q, k, v)

    return enqueue


def copy_rate():
    """Bytes read plus written per second of a kernel that copies 2 GiB."""
    source = torch.ones(GIB // 2, dtype=torch.float32, device="cuda")
    target = torch.empty_like(source)
    return 4 * GIB / graph_time_us(lambda pool: torch.add(source, 1, out=target), 1, calls=8) * 1e6


def plain_us(data, pools):
    """Best configuration of the plain flash kernel; the first call tries them all."""
    from plain_flash import plain_flash
    enqueue = plain_flash(data)
    enqueue(0)
    return graph_time_us(enqueue, pools, calls=4, samples=5)


def measure(library, name, batch, context, rate, plain):
    heads, kv_heads, dim, v_dim, tokens, causal = case = CASES[name]
    bytes_read = batch * context * kv_heads * (dim + (v_dim if v_dim == dim else 0)) * 2
    pools = max(1, min(16, -(-2 * LAST_LEVEL_CACHE // bytes_read)))
    problem = Problem(dim, v_dim, heads, kv_heads, tokens, causal, DTYPES[torch.bfloat16], DTYPES[torch.bfloat16], 32,
                      context)
    attention, data = Attention(library, problem, batch), Batch(case, batch, context, pools)
    attention.verify_shared_kv(*data.arguments(0), sm_scale=data.sm_scale)
    expected = data.reference()
    error = ((data.out.float() - expected).norm() / expected.norm()).item()
    row = {"case": name, "batch": batch, "context": context, "relative_l2": error,
           "verify_us": graph_time_us(lambda p: attention.verify_shared_kv(*data.arguments(p), sm_scale=data.sm_scale), pools),
           "extend_us": graph_time_us(lambda p: attention.extend_attention(*data.arguments(p), sm_scale=data.sm_scale), pools, calls=4, samples=5),
           "floor_us": bytes_read / rate * 1e6, "config": attention.describe()}
    flash = folded_flash(data)
    row["flash_us"] = graph_time_us(flash, pools) if flash else None
    row["plain_us"] = plain_us(data, pools) if plain else None
    return row


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", nargs="*", default=list(CASES), choices=list(CASES))
    parser.add_argument("--contexts", nargs="*", type=int, default=[8192, 16384, 32768])
    parser.add_argument("--batches", nargs="*", type=int, default=[1, 8, 32])
    parser.add_argument("--library", help="libheadtune.so")
    parser.add_argument("--plain", action="store_true", help="also time a plain flash kernel without splits (Triton)")
    parser.add_argument("--json", help="also write every row here")
    options = parser.parse_args()
    torch.manual_seed(1)
    library, rate, rows = load_library(options.library), copy_rate(), []
    print(f"{torch.cuda.get_device_name()}, headtune {library.headtune_version().decode()}, copy {rate / 1e9:.0f} GB/s")
    print(f"{'case':<12}{'batch':>6}{'context':>9}{'rel. L2':>10}{'verify':>10}{'floor':>8}{'share':>7}{'extend':>10}"
          f"{'flash':>9}{'vs flash':>9}{'plain' if options.plain else '':>9}   us")
    for name in options.cases:
        for batch in options.batches:
            for context in options.contexts:
                row = measure(library, name, batch, context, rate, options.plain)
                rows.append(row)
                flash = row["flash_us"]
                print(f"{name:<12}{batch:>6}{context:>9}{row['relative_l2']:>10.1e}{row['verify_us']:>10.1f}"
                      f"{row['floor_us']:>8.1f}{row['floor_us'] / row['verify_us']:>7.0%}{row['extend_us']:>10.1f}"
                      + (f"{flash:>9.1f}{flash / row['verify_us']:>8.2f}x" if flash else f"{'-':>9}{'-':>9}")
                      + (f"{row['plain_us']:>9.1f}" if options.plain else ""), flush=True)
                torch.cuda.empty_cache()
    if options.json:
        with open(options.json, "w") as file:
            json.dump(rows, file, indent=1)
    if max(row["relative_l2"] for row in rows) > 5e-3:
        raise SystemExit("a result is further from the reference than 5e-3")


if __name__ == "__main__":
    main()
