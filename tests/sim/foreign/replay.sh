#!/bin/sh
# A code object that hipRTC did not make (OpenCL through clang, code object v4) runs in the simulator.
# usage: replay.sh HEADTUNE WORK_DIR; exits with 77 where clang for amdgcn, its linker or a disassembler is missing.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
rm -rf "$2" && mkdir -p "$2" && cd "$2"
clang=$(command -v clang || command -v clang-14 || command -v clang-19) || exit 77
"$clang" -x cl -cl-std=CL2.0 -target amdgcn-amd-amdhsa -mcpu=gfx90a -nogpulib -mcode-object-version=4 -O2 \
  "$here/scale.cl" -o scale.co 2>clang.log || exit 77
python3 "$here/make_bundle.py"
"$1" replay . --device sim:gfx90a
# The same bundle with another expectation must fail.
sed 's/"fill": 255/"fill": 0/; s/"offset": 8, "buffer": "out"/"offset": 8, "buffer": "in"/' launch.json >changed.json
mv changed.json launch.json
if "$1" replay . --device sim:gfx90a; then exit 1; fi
