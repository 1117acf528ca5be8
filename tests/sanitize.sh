#!/usr/bin/env bash
# tests/sanitize.sh address|thread [-R PATTERN]: the C++ tests under AddressSanitizer, LeakSanitizer and UBSan, or under
# ThreadSanitizer, each in a build of its own (build/address, build/thread). Installs what is missing, as tests/run.sh does.
# What other libraries do is suppressed by the lists in tests/sanitize, each line with its reason. The last line is
# `N passed, N failed[, N skipped]`.
#   address: all programs but compute_tests, which check how much memory LibTorch takes
#   thread:  all programs with threads of their own but compute_tests; not the emulated device, which changes stacks
#   neither: cases that measure the process's memory, since the sanitizers keep what is freed and add to what is taken
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../app/setup.sh"
source "$root/tests/run_ctest.sh"

usage='tests/sanitize.sh address|thread [-R PATTERN]'
kind=${1:-}
shift || true
selection=()
case "${1:-}" in
  -R) selection=(-R "${2:?$usage}") ;;
  ?*) fail "unknown argument: $1" "usage: $usage" ;;
esac
lists=$root/tests/sanitize
measured_memory='spare blocks: |run memory: (the estimate bounds|a run keeps)'
programs=(kernels_tests base_tests checkpoint_tests text_tests io_tests model_tests run_tests reproduce_tests
  training_tests app_tests)
case $kind in
  address)
    sanitizers=address,undefined
    programs+=(gl_tests)
    # What is freed waits in 64 MiB, so that tests which compare the memory of early and late find a steady state.
    export ASAN_OPTIONS=detect_leaks=1:check_initialization_order=1:quarantine_size_mb=64:intercept_tls_get_addr=0
    export LSAN_OPTIONS=suppressions=$lists/leaks.txt:print_suppressions=0
    export UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1
    excluded=$measured_memory
    ;;
  thread)
    sanitizers=thread
    export TSAN_OPTIONS=halt_on_error=1:second_deadlock_stack=1:suppressions=$lists/threads.txt
    # LibTorch's own threads are not instrumented: with one, what it does happens on the thread that asked.
    export OMP_NUM_THREADS=1
    excluded="$measured_memory|emulat"
    ;;
  *) fail "which sanitizer? found '$kind'" "usage: $usage" ;;
esac

folder=$root/build/$kind
begin_setup
choose_torch
need_packages "${packages_to_build[@]}" "${packages_to_build_tests[@]}" "${packages_to_test[@]}"
need_torch
need_demo
build_targets=(headroom_compute "${programs[@]}")
build "$folder" -DCMAKE_BUILD_TYPE=RelWithDebInfo \
  "-DCMAKE_CXX_FLAGS_RELWITHDEBINFO=-O1 -g1" "-DHEADROOM_SANITIZE=$sanitizers" -DHEADROOM_CUDA=OFF -DHEADROOM_STRICT=OFF \
  -DHEADROOM_PYTHON= "-DHEADROOM_DEMO_GGUF=$demo"
end_setup

names=$(IFS='|'; echo "${programs[*]}")
if [ "${#selection[@]}" -eq 0 ]; then selection=(-R "^($names): ?"); fi
run_ctest "$folder" -L unit -E "$excluded" --timeout 1200 "${selection[@]}"
