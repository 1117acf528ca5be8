#!/usr/bin/env bash
# tests/style/format.sh [--check]: formats every C++ and CUDA source of the tree with the pinned clang-format; with
# --check changes nothing, names the files that would change and exits 1 if there are any.
# CLANG_FORMAT names the program; the default is the one that tests/run.sh installed.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

program=${CLANG_FORMAT:-.deps/venv/bin/clang-format}
wanted=$(sed -n 's/^clang-format==//p' tests/style/requirements.txt)
found=$("$program" --version 2>/dev/null | grep -oE '[0-9]+(\.[0-9]+)+' | head -n 1) || found='none'
if [ "$found" != "$wanted" ]; then
  echo "SKIPPED: clang-format $wanted is needed, found $found in $program; tests/run.sh installs it"
  exit 77
fi

mapfile -d '' -t files < <(find app core kernels tests \( -name '*.h' -o -name '*.cpp' -o -name '*.cu' -o -name '*.cuh' \) -print0 | sort -z)
[ "${#files[@]}" -gt 0 ] || { echo 'no sources found' >&2; exit 2; }
if [ "${1:-}" != --check ]; then
  printf '%s\0' "${files[@]}" | xargs -0 -P "$(nproc)" -n 40 "$program" -i
  exit
fi
# clang-format names every line; a file is named once here.
status=0
differing=$(printf '%s\0' "${files[@]}" | xargs -0 -P "$(nproc)" -n 40 "$program" --dry-run -Werror 2>&1) || status=1
if [ "$status" -eq 0 ]; then
  echo "${#files[@]} files are formatted"
else
  named=$(sed -nE 's/^([^: ]+):[0-9]+:[0-9]+: error: code should be clang-formatted.*/\1: not as clang-format leaves it/p' <<<"$differing" | sort -u)
  echo "${named:-$differing}"
fi
exit "$status"
