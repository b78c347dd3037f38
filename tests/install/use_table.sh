#!/bin/sh
# Installs the kernels and tables, then builds and runs examples/use_table from the installed tree and from the sources.
# usage: use_table.sh SOURCE_DIR WORK_DIR
set -eu
export CMAKE_GENERATOR=Ninja  # what setup.sh installs; a bare machine has no make
source=$1
work=$2
rm -rf "$work"
cmake -S "$source" -B "$work/kernels" -DHEADTUNE_BUILD_TUNER=OFF -DCMAKE_INSTALL_PREFIX="$work/prefix" >/dev/null
cmake --install "$work/kernels" >/dev/null
run() {
  cmake -S "$source/examples/use_table" -B "$work/$1" "$2" >/dev/null
  cmake --build "$work/$1" >/dev/null
  "$work/$1/use_table" | tee "$work/$1.txt"
}
run installed "-DCMAKE_PREFIX_PATH=$work/prefix"
run sources "-DHEADTUNE_SOURCE=$source"
cmp "$work/installed.txt" "$work/sources.txt"
# Six problems; the device that no table knows takes the default and says so.
test "$(wc -l <"$work/installed.txt")" -eq 6
grep -q 'unknown device.*default, no table row applies' "$work/installed.txt"
