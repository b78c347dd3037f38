#!/usr/bin/env bash
# Sets the machine up and builds into build/release.
# usage: scripts/build.sh [targets; default: all]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

scripts/setup.sh
cmake --preset release > build-configure.log 2>&1 || { cat build-configure.log >&2; exit 1; }
rm -f build-configure.log
cmake --build --preset release ${1:+--target "$@"}
