#!/usr/bin/env bash
# app/make_demo.sh: trains every model of assets/recipes with every seed (build/reproduce/models), examines the claims on
# them, and renews what is shipped: seed 1 of the demos in assets/demo, their statistics, the tables of assets/README.md
# and assets/reproduction.md. Takes some hours of processor time (assets/README.md); interrupted, it goes on where it was.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
bash app/run.sh --version >/dev/null
headroom=build/release/headroom
work=build/reproduce
demos=(trigger_bos trigger_no_bos backcopy bytes)

"$headroom" train assets/recipes/*.json -o "$work/models" --resume

for demo in "${demos[@]}"; do
  rm -rf "assets/demo/$demo"
  mkdir -p "assets/demo/$demo"
  for model in "$work/models/$demo"/*_seed1; do
    name=${model##*/}
    cp -r "$model" "assets/demo/$demo/${name%_seed1}"
  done
done

real=()
for gguf in .deps/demo/*.gguf; do [ -f "$gguf" ] && real=(--checkpoint "$gguf"); done
"$headroom" reproduce -o "$work" "${real[@]}"
cp "$work/statistics.json" assets/demo/statistics.json
cp "$work/report.md" assets/reproduction.md

# What the readers of needles do, by a Python with h5py; printed, for assets/README.md#needles.
for name in softmax diff_v1 diff_v2; do
  "$headroom" needle "$work/models/needle/${name}_seed1" --data assets/corpora/kjv.txt --lengths 128 --needles 3 \
    --samples 200 --force -o "$work/needle_$name.h5"
done
python3 assets/needle_table.py softmax="$work/needle_softmax.h5" diff_v1="$work/needle_diff_v1.h5" diff_v2="$work/needle_diff_v2.h5"

# The tables stand between two marks.
python3 - "$work/models.md" assets/README.md <<'PYTHON'
import pathlib, sys

tables, page = pathlib.Path(sys.argv[1]).read_text(), pathlib.Path(sys.argv[2])
begin, end = "<!-- tables: app/make_demo.sh -->\n", "<!-- end of tables -->\n"
before, rest = page.read_text().split(begin)
page.write_text(before + begin + "\n" + tables + end + rest.split(end)[1])
PYTHON
