#!/usr/bin/env bash
# tests/run.sh [-R PATTERN…]: installs what is missing, the Python oracle's packages included, builds Headroom with its
# tests in build/tests and runs those whose name matches any PATTERN (all without one). The last line is
# `N passed, N failed[, N skipped]`; the exit code is 0 only if none failed and at least one passed.
# HEADROOM_STRICT=ON makes warnings errors; HEADROOM_UNITY_SIZE=N compiles N files at once, which is quicker from nothing
# and slower after a change (8).
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../app/setup.sh"
source "$root/tests/run_ctest.sh"

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
      sed -n '2,7s/^# //p' "${BASH_SOURCE[0]}"
      exit 0
      ;;
    *) fail "unknown argument: $1" 'usage: tests/run.sh [-R PATTERN…]' ;;
  esac
done

folder=$root/build/tests
begin_setup
choose_torch
need_packages "${packages_to_build[@]}" "${packages_to_build_tests[@]}"
begin_packages "${packages_to_test[@]}"
need_torch
need_style_tools
need_demo
need_encoder
begin_oracle
# Code for both kinds of cards takes twice as long; packages have it, and machines that can run it.
cuda=()
[ -e /dev/nvidia0 ] || cuda=(-DCMAKE_CUDA_ARCHITECTURES=90)
build "$folder" "${cuda[@]}" -DCMAKE_BUILD_TYPE=Release -DHEADROOM_LIGHT=ON "-DHEADROOM_STRICT=${HEADROOM_STRICT:-OFF}" \
  ${HEADROOM_UNITY_SIZE:+"-DHEADROOM_UNITY_SIZE=$HEADROOM_UNITY_SIZE"} "-DHEADROOM_PYTHON=$venv/bin/python" \
  "-DHEADROOM_DEMO_GGUF=$demo" "-DHEADROOM_ENCODER=$encoder"
end_packages
end_oracle
end_setup

selection=()
if [ "${#patterns[@]}" -gt 0 ]; then
  joined=$(printf '|%s' "${patterns[@]}")  # CTest takes few parentheses
  selection=(-R "${joined#|}")
fi
run_ctest "$folder" "${selection[@]}"
