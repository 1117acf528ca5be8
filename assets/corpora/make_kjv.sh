#!/usr/bin/env bash
# make_kjv.sh [FILE]: writes kjv.txt (default: beside this script) from Debian 12's packages bible-kjv-text (the text, compressed)
# and bible-kjv (the program that prints it), without installing them. Needs apt-get, dpkg and libreadline8.
# The text: Genesis, Exodus, 1 Samuel and 2 Samuel, a verse a line without its number, an empty line between chapters.
set -euo pipefail
version=4.38
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
target=$(realpath -m "${1:-$here/kjv.txt}")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

apt-get -qq -o APT::Sandbox::User=root download "bible-kjv-text=$version" "bible-kjv=$version"
for package in *.deb; do dpkg -x "$package" unpacked; done

# -f: one verse a line behind its reference, such as `Ge1:1 `.
LC_ALL=C unpacked/usr/bin/bible -f -p "$work/unpacked/usr/lib" gen1:1-exo40:38 1sam1:1-2sam24:25 </dev/null >verses
LC_ALL=C awk '{
  split($1, reference, ":")
  if (NR > 1 && reference[1] != chapter) print ""
  chapter = reference[1]
  sub(/^[^ ]+ /, "")
  sub(/ +$/, "")
  print
}' verses >text

sum=8fee63e5fe4272a98d07d3a38ceea477e0822a5118ca152d5a3db6d7626e48f2
if ! echo "$sum  text" | sha256sum --check --status; then
  echo "make_kjv.sh: the text is not the one in the repository: sha256 $(sha256sum <text)" >&2
  exit 1
fi
mv text "$target"
