"""Checks that a file written by `headtune emit --format python` is what SGLang's table takes:
a dict BLOCK_CONFIG of head_dim -> (BLOCK_H, BLOCK_N, num_warps), readable without running it.

    python3 check_block_config.py block_config.py HEAD_DIM...
"""

import ast
import sys


def read_block_config(path):
    with open(path) as file:
        tree = ast.parse(file.read(), path)
    for node in tree.body:
        if isinstance(node, ast.Assign) and node.targets[0].id == "BLOCK_CONFIG":
            return ast.literal_eval(node.value)
    raise SystemExit(f"{path}: no BLOCK_CONFIG")


def main():
    table = read_block_config(sys.argv[1])
    for head_dim, entry in table.items():
        if not (isinstance(head_dim, int) and len(entry) == 3 and all(isinstance(n, int) and n > 0 for n in entry)):
            raise SystemExit(f"{sys.argv[1]}: {head_dim}: {entry} is no (BLOCK_H, BLOCK_N, num_warps)")
    missing = {int(text) for text in sys.argv[2:]} - table.keys()
    if missing:
        raise SystemExit(f"{sys.argv[1]}: no entry for head_dim {sorted(missing)}")


if __name__ == "__main__":
    main()
