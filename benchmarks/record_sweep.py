#!/usr/bin/env python3
"""Full sweeps of a results database as CSV for the search benchmark: record_sweep.py DATABASE FOLDER

One file per problem of verify_shared_kv with a prefix of Q's type: a comment with architecture, problem and axes, a header, then one line per
configuration that was timed at every shape, its knobs and its times in us. Only settled rows of one template hash.
"""
import json
import sqlite3
import sys
from pathlib import Path


def axes():
    space = Path(__file__).parent.parent / "templates/headtune/verify_shared_kv/space.json"
    return [parameter["name"] for parameter in json.loads(space.read_text())["parameters"]]


def rows_of(db, environment, problem):
    rows = {}
    query = """SELECT config, context, batch, median_us FROM variant JOIN timing ON timing.variant_id = variant.id
               WHERE environment_id = ? AND problem_id = ? AND status IN ('timed', 'outraced')
               ORDER BY defines, context, batch"""
    for config, context, batch, us in db.execute(query, (environment, problem)):
        rows.setdefault(config, {})[f"{batch}x{context}"] = us
    shapes = max((list(times) for times in rows.values()), key=len, default=[])
    return shapes, {config: times for config, times in rows.items() if len(times) == len(shapes)}


def write(path, facts, problem, shapes, rows):
    knobs = list(json.loads(next(iter(rows))))
    with open(path, "w") as out:
        print("#", facts, problem, "axes " + " ".join(axes()), sep="; ", file=out)
        print(*knobs, *shapes, sep=",", file=out)
        for config, times in rows.items():
            values = json.loads(config)
            print(*(values[k] for k in knobs), *(f"{times[s]:.3f}" for s in shapes), sep=",", file=out)


def main(database, folder):
    db = sqlite3.connect(f"file:{database}?mode=ro", uri=True)
    environments = db.execute("SELECT id, arch, cu_count FROM environment").fetchall()
    problems = db.execute("""SELECT id, head_dim, v_head_dim, num_q_heads, num_kv_heads, extend_len, is_causal
                             FROM problem WHERE op = 'verify_shared_kv' AND kv_dtype = dtype""").fetchall()
    for environment, arch, cu_count in environments:
        for problem, *shape in problems:
            shapes, rows = rows_of(db, environment, problem)
            if rows:
                name = "{}_d{}_{}_h{}_{}_l{}{}.csv".format(arch, *shape[:5], "_causal" if shape[5] else "")
                write(Path(folder) / name, f"{arch} {cu_count}", " ".join(map(str, shape)), shapes, rows)
                print(f"{name}: {len(rows)} configurations at {len(shapes)} shapes")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
