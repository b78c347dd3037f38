#!/bin/sh
# examples/ci: the workflow is YAML whose steps exist, and the script's exit code is the worst that matters. The tool is
# a double here that exits as its options say; tests/scenarios run the real `check`.
# usage: ci.sh SOURCE_DIR WORK_DIR
set -eu
source=$1 work=$2
rm -rf "$work"
mkdir -p "$work/tables/sim"
cd "$work"
touch tables/sim/gfx950.json tables/sim/gfx942.json tables/gfx950.json frozen.json

cat >headtune <<'DOUBLE'
#!/bin/sh
# Exits with $EXIT_SIM, $EXIT_FROZEN or $EXIT_GPU and writes the reports it was asked for.
echo "$*" >>calls.txt
case "$*" in
  "check --frozen "*) status=${EXIT_FROZEN:-0} ;;
  *"--device sim:gfx942"*) status=${EXIT_SIM:-0} ;;
  *"--device rocm:0"*) status=${EXIT_GPU:-0} ;;
  *) status=0 ;;
esac
while [ $# -gt 1 ]; do
  case $1 in --junit) echo '<testsuites/>' >"$2" ;; --markdown) echo "| $status |" >"$2" ;; esac
  shift
done
exit $status
DOUBLE
chmod +x headtune
export HEADTUNE="$work/headtune" GITHUB_STEP_SUMMARY="$work/summary.md"

expect() { # expect CODE ARGUMENTS
  code=$1
  shift
  found=0
  "$source/examples/ci/check_kernels.sh" "$@" >log.txt 2>&1 || found=$?
  [ $found = "$code" ] || {
    echo "check_kernels.sh $*: expected exit $code, found $found"
    cat log.txt
    exit 1
  }
}
expect 0 sim frozen
ls reports/sim-gfx950.xml reports/sim-gfx942.md reports/frozen.xml >/dev/null
grep -q '^### frozen: exit 0$' summary.md
grep -q -- '--baseline tables/sim/gfx950.json --device sim:gfx950' calls.txt
EXIT_SIM=3 expect 3 sim frozen
EXIT_SIM=3 EXIT_FROZEN=1 expect 1 sim frozen
EXIT_SIM=1 EXIT_FROZEN=4 expect 1 sim frozen
EXIT_FROZEN=3 EXIT_SIM=4 expect 4 frozen sim
EXIT_SIM=139 expect 139 sim
ARCH=gfx950 expect 0 gpu
ARCH=gfx950 EXIT_GPU=1 expect 1 gpu
expect 2 nonsense
expect 2
SIM_TABLES=nowhere expect 2 sim
grep -q '| 1 |' summary.md

if python3 -c 'import yaml' 2>/dev/null; then
  python3 - "$source/examples/ci/kernels.yml" <<'CHECK'
import sys, yaml
workflow = yaml.safe_load(open(sys.argv[1]))
events = workflow.get("on", workflow.get(True))  # YAML 1.1 reads a bare `on` as true
assert {"pull_request", "push"} <= set(events), events
jobs = workflow["jobs"]
for name, job in jobs.items():
    assert job["runs-on"] and job["timeout-minutes"], name
    assert all(("uses" in step) != ("run" in step) for step in job["steps"]), name
runs = {name: "\n".join(step.get("run", "") for step in job["steps"]) for name, job in jobs.items()}
assert "check_kernels.sh sim frozen" in runs["exact"] and "check_kernels.sh gpu" in runs["timed"], runs
assert jobs["exact"]["runs-on"] == "ubuntu-24.04" and jobs["timed"]["runs-on"][0] == "self-hosted"
assert "head.repo" in jobs["timed"]["if"]
uploads = [s for job in jobs.values() for s in job["steps"] if "upload-artifact" in s.get("uses", "")]
assert len(uploads) == 2 and all(s["if"] == "always()" and s["with"]["path"] == "reports/*.xml" for s in uploads)
CHECK
else
  echo "the workflow's YAML was not parsed: no python yaml on this machine"
fi
