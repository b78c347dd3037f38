#!/bin/sh
# Installs the kernels and tables, then builds and runs examples/use_table from the installed tree and from the sources,
# and its GPU part with one compiler. Without a GPU that part is compiled and linked, not run.
# usage: use_table.sh g++|hipcc|nvcc SOURCE_DIR WORK_DIR      exit 77: this machine has no such compiler
set -eu
export CMAKE_GENERATOR=Ninja  # what setup.sh installs; a bare machine has no make
compiler=$1 source=$2 work=$3
command -v "$compiler" >/dev/null 2>&1 || {
  echo "skipped: no $compiler on this machine"
  exit 77
}
case $compiler in
  hipcc) gpu="-DUSE_TABLE_ARCH=gfx90a -DCMAKE_CXX_COMPILER=hipcc" ;;  # hipcc 5.2 knows gfx90a, not gfx942 or gfx950
  nvcc) gpu=-DUSE_TABLE_ARCH=sm_90 ;;
  *) gpu= ;;
esac

rm -rf "$work"
cmake -S "$source" -B "$work/kernels" -DHEADTUNE_BUILD_TUNER=OFF -DCMAKE_INSTALL_PREFIX="$work/prefix" >/dev/null
cmake --install "$work/kernels" >/dev/null

build() { # build NAME OPTIONS
  name=$1
  shift
  # shellcheck disable=SC2086  # a list of options
  cmake -S "$source/examples/use_table" -B "$work/$name" $gpu "$@" >"$work/$name.log" 2>&1 &&
    cmake --build "$work/$name" >>"$work/$name.log" 2>&1 || {
    cat "$work/$name.log"
    exit 1
  }
  "$work/$name/use_table" | tee "$work/$name.txt"
}
build installed "-DCMAKE_PREFIX_PATH=$work/prefix"
build sources "-DHEADTUNE_SOURCE=$source"
cmp "$work/installed.txt" "$work/sources.txt"
# Six problems; the device that no table knows takes the default and says so.
test "$(wc -l <"$work/installed.txt")" -eq 6
grep -q 'unknown device.*default, no table row applies' "$work/installed.txt"

[ "$compiler" = g++ ] && exit 0
status=0
"$work/installed/verify" || status=$?
case $status in
  0) ;;
  4) echo "verify: compiled and linked, not run: no GPU of its kind here" ;;
  *) exit 1 ;;
esac
