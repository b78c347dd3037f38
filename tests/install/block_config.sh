#!/bin/sh
# Emits the shipped tables for SGLang and reads them as SGLang would.
# usage: block_config.sh HEADTUNE SOURCE_DIR WORK_DIR
set -eu
mkdir -p "$3"
for table in "$2"/tables/*.json; do
  HEADTUNE_TEMPLATES=$2/templates "$1" emit --from "$table" --format python -o "$3/block_config.py"
  python3 "$2/examples/sglang/check_block_config.py" "$3/block_config.py" 64 128 256 576
done
# A damaged table must not pass.
sed 's/64: (/64: ("x", /' "$3/block_config.py" >"$3/damaged.py"
if python3 "$2/examples/sglang/check_block_config.py" "$3/damaged.py" 2>/dev/null; then exit 1; fi
