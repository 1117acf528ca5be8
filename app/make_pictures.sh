#!/usr/bin/env bash
# app/make_pictures.sh [SCRIPT…]: runs the scripts of assets/workflows (all without an argument) in a window of 1440 × 900,
# on a display of its own where Xvfb is installed, and reduces their pictures to 255 colours where ImageMagick is: assets
# have a limit.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

headroom=${HEADROOM:-build/release/headroom}
if command -v Xvfb >/dev/null; then
  Xvfb -displayfd 3 -screen 0 1600x1000x24 3>/dev/stdout 2>/dev/null > >(head -n 1 >build/xvfb_display; cat >/dev/null) &
  server=$!
  trap 'kill "$server"' EXIT
  for _ in $(seq 50); do
    if [ -s build/xvfb_display ]; then break; fi
    sleep 0.1
  done
  export DISPLAY=:$(cat build/xvfb_display) LIBGL_ALWAYS_SOFTWARE=1
fi
if [ $# -eq 0 ]; then set -- assets/workflows/*.script; fi
for script in "$@"; do
  echo "$script"
  "$headroom" --script "$script" --size 1440x900
  if command -v convert >/dev/null; then
    for picture in $(sed -n 's/^screenshot //p' "$script"); do
      convert "$picture" +dither -colors 255 -define png:compression-level=9 "png8:$picture.new"
      mv "$picture.new" "$picture"
    done
  fi
done
