#!/bin/sh
# Compiles every installed header alone with one compiler. A header is host code, device code of every GPU, or device
# code of one family; where it cannot compile, the first message must be the header's own #error.
# usage: headers.sh g++|hipcc|nvcc SOURCE_DIR WORK_DIR      exit 77: this machine has no such compiler
set -eu
compiler=$1 source=$2 work=$3

host_code='headtune/(arch|config|routing|table|variant|version)\.h|headtune/tables/.*|headtune/.*/launch\.h'
host_code="$host_code|headtune/tile/(element|lds_layout|macros|shape)\.h"
host_code="$host_code|headtune/verify_shared_kv/(lds_layout|params|ring_layout|splits|stage1_lds_layout)\.h"
amd_code='headtune/tile/(cdna|cdna3|cdna4|copier_cdna|lds_cdna|lds_direct_cdna4|lds_values_cdna3|lds_values_cdna4)\.h'
nvidia_code='headtune/tile/(sm80|wgmma|lds_nvidia|lds_sm80|lds_sm90a)\.h|headtune/verify_shared_kv/key_ring\.h'

command -v "$compiler" >/dev/null 2>&1 || {
  echo "skipped: no $compiler on this machine"
  exit 77
}

is() { echo "$1" | grep -Eqx "$2"; }

hip() { hipcc -std=c++17 -Wall -Wextra -Werror -Wno-unused-command-line-argument -x hip --offload-arch="$1" -fsyntax-only -I. "$2"; }

compile() { # compile HEADER FILE
  case $compiler in
    g++) g++ -std=c++17 -Wall -Wextra -Wpedantic -Wshadow -Werror -fsyntax-only -I. "$2" ;;
    hipcc) case $1:$knows_gfx950 in *cdna4.h:yes) hip gfx950 "$2" ;; *) hip gfx90a "$2" ;; esac ;;
    nvcc) nvcc -std=c++17 -arch=sm_90a -Werror all-warnings -x cu -ptx -o /dev/null -I. "$2" ;;
  esac
}

should_compile() {
  case $compiler in
    g++) is "$1" "$host_code" ;;
    hipcc) ! is "$1" "$nvidia_code" && { ! is "$1" '.*cdna4\.h' || [ "$knows_gfx950" = yes ]; } ;;
    nvcc) ! is "$1" "$amd_code" ;;
  esac
}

check() { # check HEADER: one line, and status 1 when it is not as it should be
  unit=$work/$(echo "$1" | tr / _).cpp
  echo "#include <$1>" >"$unit"
  if compile "$1" "$unit" >"$unit.log" 2>&1; then found=compiles; else found=refuses; fi
  expected=refuses
  if should_compile "$1"; then expected=compiles; fi
  if [ $found != $expected ]; then
    echo "$1: $compiler should find that it $expected, but it $found"
    head -n 5 "$unit.log"
    return 1
  fi
  if [ $found = refuses ] && ! grep -m 1 'error' "$unit.log" | grep -Eq '"?(device|AMD device|NVIDIA device|gfx950 device) code'; then
    echo "$1: the first message of $compiler does not say what to do"
    head -n 5 "$unit.log"
    return 1
  fi
}

rm -rf "$work"
cmake -G Ninja -S "$source" -B "$work/kernels" -DHEADTUNE_BUILD_TUNER=OFF -DCMAKE_INSTALL_PREFIX="$work/prefix" >/dev/null
cmake --install "$work/kernels" >/dev/null
cd "$work/prefix/include"
knows_gfx950=no
if [ "$compiler" = hipcc ]; then
  echo '' >"$work/empty.cpp"
  if hip gfx950 "$work/empty.cpp" >/dev/null 2>&1; then knows_gfx950=yes; fi
fi
failed=0 count=0
for header in $(find headtune -name '*.h' | LC_ALL=C sort); do
  check "$header" || failed=1
  count=$((count + 1))
done
test $count -gt 40 # the installed tree, not an empty one
echo "$compiler: $count headers"
exit $failed
