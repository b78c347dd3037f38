#!/usr/bin/env bash
# Sets the machine up, builds, and runs every test. Tests that need a GPU are reported as skipped where there is none.
# usage: scripts/test.sh [ctest arguments, such as -L unit]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

scripts/build.sh
exec ctest --preset release --parallel "$(nproc)" "$@"
