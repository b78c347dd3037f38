#!/usr/bin/env bash
# From a bare machine to a tuned header: sets the machine up, builds, sweeps the mission's case (the K3 DSpark draft:
# head_dim 64, 8 query and 2 KV heads, 7 new tokens, non-causal) and writes the table.
# usage: scripts/quickstart.sh [FOLDER for the results; default: headtune-quickstart]
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
results=$(realpath -m "${1:-headtune-quickstart}")
headtune=$root/build/release/headtune

"$root/scripts/build.sh" headtune headtune-toolchain
mkdir -p "$results"
database=$results/results.db

"$headtune" devices
"$headtune" sweep --head-dim 64 --heads 8/2 --extend-len 7 --no-causal --contexts 8k,16k,32k --batch 1,8 --db "$database"
"$headtune" emit --from "$database" --format json -o "$results/table.json"
arch=$(sed -n 's/^  "arch": "\(.*\)",$/\1/p' "$results/table.json")
mv "$results/table.json" "$results/$arch.json"
table=$results/$arch.h
"$headtune" emit --from "$database" --format h -o "$table"

printf '\n%s\n\n' "$table"
cat "$table"
cat <<TEXT

Next:
  $headtune explain --db $database
  $headtune inspect --arch gfx950 --head-dim 64
  $headtune sweep --head-dim 576 --v-head-dim 512 --heads 12/1 --extend-len 8 --causal --db $database
  #include "$(basename "$table")" in your engine: examples/use_table shows how
TEXT
