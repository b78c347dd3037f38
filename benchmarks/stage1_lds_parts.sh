#!/bin/sh
# Where the time of one tile goes: builds variants of the kernel with one part left out each (wrong results, right
# timing) and times them. Usage: stage1_lds_parts.sh REPOSITORY WORK_FOLDER
set -eu
repo=$1 work=$2
arch="-gencode=arch=compute_90a,code=sm_90a"
variant() {  # NAME FILE SED-EXPRESSION [FILE SED-EXPRESSION]
  mkdir -p "$work/$1"
  cp -r "$repo/templates" "$work/$1/"
  if [ -n "$2" ]; then sed -i "$3" "$work/$1/templates/headtune/$2"; fi
  if [ -n "${4-}" ]; then sed -i "$5" "$work/$1/templates/headtune/$4"; fi
  ${NVCC:-nvcc} -std=c++17 -O3 -diag-suppress 177 $arch "-I$work/$1/templates" "$repo/benchmarks/stage1_lds.cu" -o "$work/$1/run" &
}
body=verify_shared_kv/stage1_lds.h
nvidia=tile/lds_nvidia.h
variant whole "" ""
variant no_copies verify_shared_kv/lds_feed.h 's/if (left > 0) {/if (left > 100000) {/'
variant no_values $body 's/^    tile.multiply_values/    if (tiles > 100000) tile.multiply_values/'
variant no_softmax $body 's/^    softmax.step(/    if (tiles > 100000) softmax.step(/'
variant prefetch256 $nvidia 's/L2::128B/L2::256B/'
variant cluster tile/macros.h 's/__launch_bounds__((num_warps) \* 32/__cluster_dims__(2, 1, 1) __launch_bounds__((num_warps) * 32/'
variant cluster_sync tile/macros.h 's/__launch_bounds__((num_warps) \* 32/__cluster_dims__(2, 1, 1) __launch_bounds__((num_warps) * 32/' \
  $nvidia 's/^    __syncthreads();/    asm volatile("barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;" ::: "memory");/'
wait
for name in whole no_copies no_values no_softmax prefetch256 cluster cluster_sync; do
  echo "$name"
  "$work/$name/run" one | grep time
done
echo "no_values, half of the multiprocessors"
SPLITS=4 "$work/no_values/run" one | grep " 8 x"
