#!/usr/bin/env bash
# tests/run.sh [-R PATTERN…]: installs what is missing, the Python oracle's packages included, builds Headroom with its
# tests in build/tests and runs those whose name matches any PATTERN (all without one). The last line is
# `N passed, N failed[, N skipped]`; the exit code is 0 only if none failed and at least one passed.
# HEADROOM_STRICT=ON makes warnings errors.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../app/setup.sh"

patterns=()
while [ $# -gt 0 ]; do
  case $1 in
    -R)
      shift
      [ $# -gt 0 ] || fail '-R needs a pattern' 'tests/run.sh -R checkpoint -R "io_tests: .*string"'
      while [ $# -gt 0 ] && [ "$1" != -R ]; do
        patterns+=("$1")
        shift
      done
      ;;
    -h | --help)
      sed -n '2,5s/^# //p' "${BASH_SOURCE[0]}"
      exit 0
      ;;
    *) fail "unknown argument: $1" 'usage: tests/run.sh [-R PATTERN…]' ;;
  esac
done

folder=$root/build/tests
begin_setup
choose_torch
need_packages "${packages_to_build[@]}" "${packages_to_test[@]}"
need_oracle
need_style_tools
need_torch
need_demo
build "$folder" -DCMAKE_BUILD_TYPE=Release "-DHEADROOM_STRICT=${HEADROOM_STRICT:-OFF}" "-DHEADROOM_PYTHON=$venv/bin/python" \
  "-DHEADROOM_DEMO_GGUF=$demo"
end_setup

selection=()
if [ "${#patterns[@]}" -gt 0 ]; then
  joined=$(printf '|(%s)' "${patterns[@]}")
  selection=(-R "${joined#|}")
fi
status=0
rm -f "$folder/junit.xml"
ctest --test-dir "$folder" --output-on-failure --no-tests=error -j "$(nproc)" --output-junit "$folder/junit.xml" \
  "${selection[@]}" || status=$?

# A test that could not be started counts as failed; skipped is only one that gave its reason.
count_status=0
"$venv/bin/python" - "$folder/junit.xml" <<'PYTHON' || count_status=$?
import os, re, sys
import xml.etree.ElementTree as xml

cases = list(xml.parse(sys.argv[1]).getroot().iter("testcase")) if os.path.exists(sys.argv[1]) else []
reason_line = re.compile(r"^SKIPPED(?: \[\d+\] [^\n:]*(?::\d+)?)?: (.*)$", re.MULTILINE)
reasons = {c: list(dict.fromkeys(reason_line.findall(c.findtext("system-out") or ""))) for c in cases}
skipped = [c for c in cases if reasons[c] and any((s.get("message") or "").startswith("SKIP_") for s in c.iter("skipped"))]
passed = [c for c in cases if c.get("status") == "run" and c not in skipped]
failed = len(cases) - len(passed) - len(skipped)
for case in cases:
    for reason in reasons[case]:
        print(f"skipped{'' if case in skipped else ' in part'}: {case.get('name')}: {reason}")
print(f"{len(passed)} passed, {failed} failed" + (f", {len(skipped)} skipped" if skipped else ""))
sys.exit(failed > 0 or not passed)
PYTHON
if [ "$status" -eq 0 ]; then status=$count_status; fi
exit "$status"
