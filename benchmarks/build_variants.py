#!/usr/bin/env python3
"""Compiles rendered variants to cubins for kernel_bench and writes its manifest.

Usage: build_variants.py LIST OUT_DIR [-j N]
LIST: one variant a line, KEY=VALUE words; keys left out keep the values of the last line starting with "default".
"""
import concurrent.futures
import pathlib
import re
import subprocess
import sys

TEMPLATES = pathlib.Path(__file__).resolve().parent.parent / "templates"
INSTANCE = """#include <headtune/verify_shared_kv/stage1.h>
#include <headtune/verify_shared_kv/stage2.h>
struct Variant {{
{constants}
}};
extern "C" __global__ void HEADTUNE_LAUNCH_BOUNDS(Variant::NUM_WARPS, Variant::WAVES_PER_EU)
verify_shared_kv_stage1(const headtune::VerifyParams p) {{ headtune::stage1<Variant>(p); }}
extern "C" __global__ void HEADTUNE_LAUNCH_BOUNDS(Variant::STAGE2_WARPS, headtune::stage2_waves_per_eu<Variant>)
verify_shared_kv_stage2(const headtune::VerifyParams p) {{ headtune::stage2<Variant>(p); }}
"""


def read_variants(path):
    default = {}
    for line in pathlib.Path(path).read_text().splitlines():
        words = line.split("#")[0].split()
        if not words:
            continue
        if words[0] == "default":
            default.update(w.split("=") for w in words[1:])
        else:
            yield {**default, **dict(w.split("=") for w in words)}


def build(job):
    index, variant, out = job
    source, cubin = out / f"v{index}.cu", out / f"v{index}.cubin"
    constants = "\n".join(f"  static constexpr int {k} = {v};" for k, v in variant.items())
    source.write_text(INSTANCE.format(constants=constants))
    command = ["nvcc", "-std=c++17", "-arch=sm_90", f"-I{TEMPLATES}", "-Xptxas", "-v", "-cubin", "-o", cubin, source]
    result = subprocess.run(command, capture_output=True, text=True)
    if result.returncode:
        return None, f"v{index}: {result.stderr[:2000]}"
    registers = re.findall(r"Used (\d+) registers", result.stderr)
    spills = re.findall(r"(\d+) bytes spill stores", result.stderr)
    words = " ".join(f"{k}={v}" for k, v in variant.items())
    return f"{cubin.name} {words}", f"v{index}: registers {registers[-1]} spilled {spills[-1]} B | {words}"


def main():
    out = pathlib.Path(sys.argv[2])
    out.mkdir(parents=True, exist_ok=True)
    jobs = [(i, v, out) for i, v in enumerate(read_variants(sys.argv[1]))]
    with concurrent.futures.ThreadPoolExecutor(int(sys.argv[4]) if len(sys.argv) > 4 else 2) as pool:
        results = list(pool.map(build, jobs))
    for _, note in results:
        print(note)
    (out / "manifest").write_text("".join(f"{line}\n" for line, _ in results if line))


if __name__ == "__main__":
    main()
