#!/usr/bin/env bash
# Sweeps the benchmark shapes of docs/kernels.md on one device into one database.
# usage: scripts/sweep_shapes.sh HEADTUNE DATABASE [sweep options, such as --device cuda:0]
set -euo pipefail
headtune=$1 database=$2
shift 2

sweep() { "$headtune" sweep --db "$database" --contexts 8k,16k,32k --batch 1,8,32 "$@"; }

sweep "$@" --head-dim 64 --heads 8/2 --extend-len 7 --no-causal
sweep "$@" --head-dim 64 --heads 16/4 --extend-len 8 --no-causal
sweep "$@" --head-dim 128 --heads 16/4 --extend-len 8 --no-causal
sweep "$@" --head-dim 256 --heads 8/1 --extend-len 4 --causal
sweep "$@" --head-dim 576 --v-head-dim 512 --heads 12/1 --extend-len 8 --causal
