#!/usr/bin/env bash
# app/make_package.sh: installs what is missing to build, builds, and leaves a Debian package in build/package. It fits the
# release of Debian that it is made on. LibTorch's libraries for the CPU are in it; with HEADROOM_TORCH=system (Debian 13) it
# depends on Debian's own instead. HEADROOM_STRICT=ON makes warnings errors.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/setup.sh"

begin_setup
choose_torch
need_packages "${packages_to_build[@]}" dpkg-dev file
need_torch
folder=$root/build/package
build "$folder" -DCMAKE_BUILD_TYPE=Release -DHEADROOM_TESTS=OFF -DCMAKE_INSTALL_PREFIX=/usr \
  "-DHEADROOM_STRICT=${HEADROOM_STRICT:-OFF}"
rm -f "$folder"/headroom_*.deb
step 'making the package' cmake -E chdir "$folder" cpack -G DEB
end_setup
ls -1 "$folder"/headroom_*.deb
