#!/usr/bin/env bash
# What a sweep costs besides compiling and kernels, per variant: 200 variants on the scripted device at 3 and at 9
# shapes, and how compiling scales with processes. Prints; judges nothing.
#
#     benchmarks/overhead.sh [build/release]
set -euo pipefail
cd "$(dirname "$0")/.."
tool=$(realpath "${1:-build/release}")/headtune
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cp -r templates "$work/templates"
python3 - "$work" <<'PY'
import json, sys
work = sys.argv[1]
space = {"op": "verify_shared_kv", "derived": [], "constraints": [],
         "parameters": [{"name": "BLOCK_H", "values": [2]},
                        {"name": "BLOCK_N", "values": [64 * (i + 1) for i in range(200)]}]}
json.dump(space, open(f"{work}/templates/headtune/verify_shared_kv/space.json", "w"))
variants = [{"match": {"BLOCK_N": 64 * (i + 1)}, "time_us": 20 + (i * 7) % 200} for i in range(200)]
json.dump({"noise": 0.002, "variants": variants}, open(f"{work}/device.json", "w"))
PY

sweep() {  # name, contexts, batches
  "$tool" sweep --device "fake:$work/device.json" --templates "$work/templates" --db "$work/$1.db" --head-dim 64 \
    --heads 2/1 --extend-len 2 --contexts "$2" --batch "$3" --stats 2>&1 >"$work/$1.out" | grep "variants in" |
    sed "s/^/$1: /"
}
echo "scripted device, 200 variants"
sweep "1 shape" 256 1
sweep "9 shapes" 256,512,1024 1,2,4
sweep "1 shape" 256 1  # all known
ls -s --block-size=K "$work"/*.db | awk '{print $1, "database", $2, $3}' | sed "s|$work/||"

echo "compiling for gfx950 with hipRTC, nothing cached"
for jobs in 1 2; do
  XDG_CACHE_HOME="$work/cache$jobs" "$tool" sweep --device none --arch gfx950 --head-dim 64,128 --heads 8/2 --extend-len 7 \
    --templates templates --db "$work/none$jobs.db" -j "$jobs" --stats 2>&1 >"$work/none.out" | grep "variants in" |
    sed "s/^/-j$jobs: /"
done
