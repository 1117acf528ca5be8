#!/usr/bin/env bash
# app/make_pictures.sh [SCRIPT…]: runs the scripts of assets/workflows (all without an argument) in a window of 1440 × 900,
# on a display of its own where xvfb-run is installed, and reduces large pictures to 255 colours where ImageMagick is:
# assets have a limit.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

run=("${HEADROOM:-build/release/headroom}")
if command -v xvfb-run >/dev/null; then run=(xvfb-run -a -s '-screen 0 1600x1000x24 -noreset' "${run[@]}"); fi
if [ $# -eq 0 ]; then set -- assets/workflows/*.script; fi
for script in "$@"; do
  echo "$script"
  # What this one opens is made from the demo model.
  if [ "$script" = assets/workflows/corpus.script ] && [ ! -e build/corpus.h5 ]; then
    "${HEADROOM:-build/release/headroom}" corpus .deps/demo/SmolLM2-135M-Instruct.Q4_1.gguf --length 128 --sequences 32 --bos never \
      --data tests/fixtures/corpus/licences_ids.jsonl --field ids -o build/corpus.h5
  fi
  LIBGL_ALWAYS_SOFTWARE=1 "${run[@]}" --script "$script" --size 1440x900
  if convert -version >/dev/null 2>&1; then
    sed -n 's/^screenshot //p' "$script" | while read -r picture; do
      convert "$picture" -dither None -colors 255 -define png:compression-level=9 "png8:$picture.new"
      # Fewer colours cost more than they save on quiet pictures.
      if [ "$(($(stat -c %s "$picture.new") * 4))" -lt "$(($(stat -c %s "$picture") * 3))" ]; then
        mv "$picture.new" "$picture"
      else
        rm "$picture.new"
      fi
    done
  fi
done
