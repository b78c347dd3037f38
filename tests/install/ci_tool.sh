#!/bin/sh
# examples/ci/check_kernels.sh with the real tool, in a repository with one table swept on the simulator and one record.
# usage: ci_tool.sh HEADTUNE SOURCE_DIR WORK_DIR      exit 77: this machine has no hipRTC
set -eu
HEADTUNE=$1 source=$2 work=$3
rm -rf "$work"
mkdir -p "$work/tables/sim"
cd "$work"
problem="--head-dim 64 --heads 2/1 --extend-len 2"
export HEADTUNE HEADTUNE_TEMPLATES="$source/templates" GITHUB_STEP_SUMMARY="$work/summary.md"

status=0
# shellcheck disable=SC2086  # a list of options
"$HEADTUNE" freeze --arch gfx950 $problem -o frozen.json >freeze.log 2>&1 || status=$?
if [ $status = 4 ]; then
  cat freeze.log
  exit 77
fi
checks=frozen
if "$HEADTUNE" check --help | grep -q -- --baseline; then
  checks="sim frozen"
  # shellcheck disable=SC2086
  "$HEADTUNE" sweep --device sim:gfx950 $problem --contexts 512 --batch 1 --db results.db >sweep.log 2>&1
  "$HEADTUNE" emit --from results.db --format json -o tables/sim/gfx950.json
fi

# shellcheck disable=SC2086
"$source/examples/ci/check_kernels.sh" $checks
for report in reports/*.xml; do
  python3 -c 'import sys, xml.etree.ElementTree as xml; assert list(xml.parse(sys.argv[1]).getroot().iter("testcase"))' \
    "$report"
  grep -q "^### $(basename "$report" .xml): exit 0\$" summary.md
done
test -s reports/frozen.xml

# Changed kernels: the frozen path differs, and times of other templates are no verdict.
cp -r "$source/templates" templates
sed 's/  const char\* values = static_cast<const char\*>(p.v_cache);/&\n  keys += p.batch % 3;/' \
  "$source/templates/headtune/verify_shared_kv/key_rows.h" >templates/headtune/verify_shared_kv/key_rows.h
status=0
# shellcheck disable=SC2086
HEADTUNE_TEMPLATES="$work/templates" "$source/examples/ci/check_kernels.sh" $checks >changed.log 2>&1 || status=$?
cat changed.log
test $status = 1
grep -q '^### frozen: exit 1$' summary.md
grep -q '<failure' reports/frozen.xml
case $checks in sim*) grep -q '^### sim-gfx950: exit 3$' summary.md ;; esac
