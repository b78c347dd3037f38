#!/bin/sh
# Installs the kernels and tables, then builds and runs examples/use_table from the installed tree and from the sources,
# and its GPU part with one compiler: that of hipcc runs on the simulator, that of nvcc where there is a GPU.
# usage: use_table.sh g++|hipcc|nvcc SOURCE_DIR BUILD_DIR WORK_DIR      exit 77: this machine has no such compiler
set -eu
export CMAKE_GENERATOR=Ninja  # what setup.sh installs; a bare machine has no make
compiler=$1 source=$2 build=$3 work=$4
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

build_example() { # build_example NAME OPTIONS
  name=$1
  shift
  # shellcheck disable=SC2086  # a list of options
  if ! { cmake -S "$source/examples/use_table" -B "$work/$name" $gpu "$@" && cmake --build "$work/$name"; } \
    >"$work/$name.log" 2>&1; then
    cat "$work/$name.log"
    exit 1
  fi
  "$work/$name/use_table" | tee "$work/$name.txt"
}
build_example installed "-DCMAKE_PREFIX_PATH=$work/prefix"
build_example sources "-DHEADTUNE_SOURCE=$source"
cmp "$work/installed.txt" "$work/sources.txt"
# Six problems; the device that no table knows takes the default and says so.
test "$(wc -l <"$work/installed.txt")" -eq 6
grep -q 'unknown device.*default, no table row applies' "$work/installed.txt"

case $compiler in
  hipcc)
    # The program that hipcc built, on the simulator in place of the HIP runtime.
    if [ -e "$build/libheadtune_hip_preload.so" ]; then
      ln -s "$build/headtune-toolchain" "$work/installed/"
      LD_PRELOAD="$build/libheadtune_hip_preload.so" HEADTUNE_SIM=gfx90a "$work/installed/verify"
    else
      echo "verify: compiled and linked, not run: this build has no simulator to preload"
    fi
    ;;
  nvcc)
    status=0
    "$work/installed/verify" || status=$?
    case $status in
      0) ;;
      4) echo "verify: compiled and linked, not run: no NVIDIA GPU here" ;;
      *) exit 1 ;;
    esac
    ;;
esac
