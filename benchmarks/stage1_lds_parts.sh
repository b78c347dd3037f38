#!/bin/sh
# Where the time of one tile goes: builds variants of the kernel with one part left out each (wrong results, right
# timing) and times them. Usage: stage1_lds_parts.sh REPOSITORY WORK_FOLDER
set -eu
repo=$1 work=$2
arch="-gencode=arch=compute_90a,code=sm_90a"
variant() {  # NAME FILE SED-EXPRESSION
  mkdir -p "$work/$1"
  cp -r "$repo/templates" "$work/$1/"
  if [ -n "$2" ]; then sed -i "$3" "$work/$1/templates/headtune/$2"; fi
  nvcc -std=c++17 -O3 -diag-suppress 177 $arch "-I$work/$1/templates" "$repo/benchmarks/stage1_lds.cu" -o "$work/$1/run" &
}
body=verify_shared_kv/stage1_lds.h
variant whole "" ""
variant rows_split tile/lds_layout.h 's/rows <= 48 ? round_up/rows <= 0 ? round_up/'
variant no_copies $body 's/if (left > 0) {/if (left > 100000) {/'
variant no_values $body 's/^    tile.multiply_values/    if (tiles > 100000) tile.multiply_values/'
variant no_softmax $body 's/^    softmax.step(/    if (tiles > 100000) softmax.step(/'
wait
for name in whole rows_split no_copies no_values no_softmax; do echo "$name"; "$work/$name/run" one | grep time; done
