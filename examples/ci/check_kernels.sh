#!/bin/sh
# The kernel gate of a repository that ships headtune tables. Each argument is one check:
#   sim          every gfx*.json of $SIM_TABLES on the simulator: code is verified, estimated times repeat exactly
#   frozen       the machine code of the paths that $FROZEN records
#   gpu          the table of this machine's GPU in $TABLES, timed
# Writes $REPORTS/<check>.xml (JUnit) and .md, and appends the latter to $GITHUB_STEP_SUMMARY.
# Exit: 0 all passed; 1 a regress or a changed path; 2 bad input; 3 no verdict, which is no pass; 4 no device or compiler.
set -eu

HEADTUNE=${HEADTUNE:-headtune}
TABLES=${TABLES:-tables}                # measured, one <arch>.json each
SIM_TABLES=${SIM_TABLES:-tables/sim}    # swept on sim:<arch>: times of a GPU and of the simulator are never compared
FROZEN=${FROZEN:-frozen.json}           # headtune freeze -o frozen.json
GPU=${GPU:-rocm:0}
ARCH=${ARCH:-}                          # of that GPU; needed for gpu
REPORTS=${REPORTS:-reports}
CHECK_OPTIONS=${CHECK_OPTIONS:-}        # for sim and gpu, such as --head-dim 64 --contexts 8k

worst=0

# A regress is what must be seen first; then what kept a check from running; then a check without verdict.
rank() { case $1 in 1) echo 5 ;; 2) echo 4 ;; 4) echo 3 ;; 3) echo 2 ;; 0) echo 0 ;; *) echo 6 ;; esac; }

check() { # check NAME OPTIONS
  name=$1
  shift
  status=0
  echo "== $name"
  "$HEADTUNE" check "$@" --junit "$REPORTS/$name.xml" --markdown "$REPORTS/$name.md" || status=$?
  if [ -n "${GITHUB_STEP_SUMMARY:-}" ]; then
    {
      printf '### %s: exit %s\n\n' "$name" "$status"
      if [ -e "$REPORTS/$name.md" ]; then cat "$REPORTS/$name.md"; fi
      echo
    } >>"$GITHUB_STEP_SUMMARY"
  fi
  if [ "$(rank "$status")" -gt "$(rank "$worst")" ]; then worst=$status; fi
}

check_sim() {
  found=no
  for table in "$SIM_TABLES"/gfx*.json; do
    [ -e "$table" ] || continue
    found=yes
    arch=$(basename "$table" .json)
    # shellcheck disable=SC2086  # a list of options
    check "sim-$arch" --baseline "$table" --device "sim:$arch" $CHECK_OPTIONS
  done
  if [ $found = no ]; then
    echo "check_kernels: no gfx*.json in $SIM_TABLES" >&2
    worst=2
  fi
}

[ $# -gt 0 ] || set -- --help
rm -rf "$REPORTS"
mkdir -p "$REPORTS"
for what in "$@"; do
  case $what in
    sim) check_sim ;;
    frozen) check frozen --frozen "$FROZEN" ;;
    gpu)
      : "${ARCH:?check_kernels: set ARCH to the architecture of the GPU, such as gfx950}"
      # shellcheck disable=SC2086  # a list of options
      check "gpu-$ARCH" --baseline "$TABLES/$ARCH.json" --device "$GPU" $CHECK_OPTIONS
      ;;
    *)
      echo "usage: check_kernels.sh [sim] [frozen] [gpu]; what each does stands at the top of the script" >&2
      exit 2
      ;;
  esac
done
exit $worst
