#!/bin/sh
# Installs the whole build and runs the tool from there: it must find its templates and its compile process.
# usage: tool.sh BUILD_DIR WORK_DIR
set -eu
build=$1 work=$2
rm -rf "$work"
cmake --install "$build" --prefix "$work" >/dev/null
cd "$work"
unset HEADTUNE_TEMPLATES
bin/headtune lookup --arch gfx950 --head-dim 64 --context 32k | grep -q 'exact'
test -x bin/headtune-toolchain
test -s include/headtune/verify_shared_kv/stage1.h
# 0, or 2 when the tables in the build are older than its templates; never 4, which is "templates not found".
status=0
bin/headtune emit --from include/headtune/tables/gfx950.json -o - >/dev/null 2>emit.log || status=$?
cat emit.log
test $status = 0 || { test $status = 2 && grep -q 'stale' emit.log; }
