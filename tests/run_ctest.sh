# Shared by tests/run.sh and tests/sanitize.sh, which source it after app/setup.sh.

# run_ctest FOLDER CTEST-ARGUMENT…: runs the tests of a build, prints why any was skipped and the line
# `N passed, N failed[, N skipped]`; succeeds only if none failed and at least one passed. A test that could not be started
# counts as failed, and so does one that ended as skipped without a reason.
run_ctest() {
  local folder=$1 status=0 count_status=0
  shift
  rm -f "$folder/junit.xml"
  # Two more than there are processors: the hands, windows and clusters wait three quarters of their time.
  ctest --test-dir "$folder" --output-on-failure --no-tests=error -j "$(($(nproc) + 2))" --output-junit "$folder/junit.xml" "$@" ||
    status=$?
  "$(base_python)" - "$folder/junit.xml" <<'PYTHON' || count_status=$?
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
  [ "$status" -ne 0 ] || status=$count_status
  return "$status"
}
