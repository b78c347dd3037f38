"""Writes launch.json and its data for scale.co in the current folder: out[i] = 2 * in[i] + i."""

import json
import struct

COUNT = 256
values = [0.5 * i for i in range(COUNT)]
for name, numbers in (("in.bin", values), ("expect.f32", [2 * value + i for i, value in enumerate(values)])):
    with open(name, "wb") as file:
        file.write(struct.pack(f"{COUNT}f", *numbers))
launch = {"code_object": "scale.co", "kernel": "scale", "grid": [4, 1, 1], "block": [64, 1, 1], "dynamic_lds": 0,
          "kernarg_hex": "00" * 72,
          "pointers": [{"offset": 0, "buffer": "in", "byte_offset": 0}, {"offset": 8, "buffer": "out", "byte_offset": 0}]}
bundle = {"format": "headtune-launch/1", "arch": "gfx90a", "launches": [launch],
          "buffers": {"in": {"bytes": 4 * COUNT, "file": "in.bin"}, "out": {"bytes": 4 * COUNT, "fill": 255}},
          "expect": [{"buffer": "out", "file": "expect.f32", "dtype": "f32", "rel_l2": 1e-6}]}
with open("launch.json", "w") as file:
    json.dump(bundle, file)
