#!/usr/bin/env bash
# Runs all tests and prints their number. On Debian and Ubuntu, it installs what they need.
#
# All tests are built once, with the profile `test`. At the end, it prints the minutes of each stage and the slowest test programs;
# a full run that takes more than 60 minutes fails (it takes 35 on two cores). Random tests have the same seeds in each run. After them, the long ones also run
# new seeds, which depend on the revision, and tests that take a part of their programs take another part. ACCEL_REVISION repeats this.
# If a new seed fails, the run fails, but not with CI=true: there, the failure says nothing about the change, and is printed at the end.
#
#   scripts/test.sh           unit, integration and documentation tests, the book's listings, the long tests; OpenCL on pocl
#   scripts/test.sh --quick   the same without the long tests
#   scripts/test.sh --opencl  also the longest tests of the OpenCL backend: all programs of the conformance suite instead of a fifth,
#                             all gradients, a simulator
#   scripts/test.sh --book    also the book itself (installs mdbook, which takes minutes to compile)
set -euo pipefail
cd "$(dirname "$0")/.."

quick=no book=no opencl=no
for option in "$@"; do
  case "$option" in
    --quick) quick=yes ;;
    --book) book=yes ;;
    --opencl) opencl=yes ;;
    *) echo "scripts/test.sh: unknown option $option (expected --quick, --opencl or --book)" >&2; exit 2 ;;
  esac
done

if ! command -v cargo >/dev/null; then
  echo "scripts/test.sh: cargo is missing: install Rust from https://rustup.rs, then run this again" >&2
  exit 2
fi

# Installs packages on Debian and Ubuntu.
apt_install() {
  local as_root=()
  [ "$(id -u)" -eq 0 ] || as_root=(sudo)
  "${as_root[@]}" apt-get update
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "$@"
}

# rustc links with the system's C compiler.
if ! command -v cc >/dev/null; then
  if ! command -v apt-get >/dev/null; then
    echo "scripts/test.sh: a C compiler (cc) is missing, and apt-get is not there to install one" >&2
    exit 2
  fi
  apt_install gcc libc6-dev
fi

# The tests of the OpenCL backend need a loader and a driver; without them they do nothing.
left_out=
has_opencl() { ldconfig -p | grep -q 'libOpenCL\.so\.1' && compgen -G '/etc/OpenCL/vendors/*.icd' >/dev/null; }
if ! has_opencl; then
  if command -v apt-get >/dev/null; then
    apt_install pocl-opencl-icd ocl-icd-libopencl1 || true
  fi
  has_opencl || left_out="no OpenCL driver is installed and none could be: the tests on OpenCL devices did nothing"
fi
# The folder for pocl's compiled kernels.
export POCL_CACHE_DIR="${POCL_CACHE_DIR:-$PWD/target/pocl}"
mkdir -p "$POCL_CACHE_DIR"

# A full disk fails tests far away from the reason.
free_gb=$(($(df -Pk . | awk 'NR == 2 { print $4 }') >> 20))
[ "$free_gb" -ge 9 ] || echo "scripts/test.sh: only $free_gb GB are free here: what the tests build takes up to 9 GB" >&2

logs=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$logs"' EXIT

# Runs a command and keeps its output for the count. A failure does not stop the other commands, and that of new seeds is no failure of a
# change that CI tests.
run() {
  echo "+ $*"
  "$@" 2>&1 | tee -a "$logs/$stage.log" && return
  if [ "$stage" = new ] && [ "${CI:-}" = true ]; then touch "$logs/new"; else touch "$logs/failed"; fi
}

# Runs a stage: its name, and a function.
stage() {
  local stage=$1 start=$SECONDS
  shift
  "$@"
  echo "$stage $((SECONDS - start))" >>"$logs/stages"
}

revision=${ACCEL_REVISION:-$(git rev-parse HEAD 2>/dev/null || echo none)}
seed=${ACCEL_RANDOM_SEED:-$((16#$(printf %s "$revision" | sha256sum | cut -c1-6)))}
# Only the stage of new seeds has others than those of all runs.
unset ACCEL_REVISION ACCEL_RANDOM_SEED

# Always the same packages, features and profile, so that everything is built once: .cargo/config.toml defines `cargo tests`.
tests=(cargo tests --no-fail-fast)

build() { run "${tests[@]}" --no-run; }
quick_tests() { run "${tests[@]}"; }

# With checked proofs of bounds, and one version of each program for all extents. The proofs are the same for all backends.
checked_tests() {
  local checked=(env ACCEL_CHECK=1 ACCEL_VERSIONS=0 QUICKCHECK_TESTS=10 "${tests[@]}")
  run "${checked[@]}" --test random -- programs::
  run "${checked[@]}" --test language -- bad_cases::
  run "${checked[@]}" --test backends -- conformance::native
}

# Tests that are ignored because they take long; others are parts of tests, or measure.
long_tests() {
  run env ACCEL_RANDOM_PERCENT=10 "${tests[@]}" --test random -- --ignored many --skip many_opencl
  run "${tests[@]}" --test gradients -- --ignored adbench::
  run "${tests[@]}" --test language -- --ignored bad_cases::
  run "${tests[@]}" --test gradbench -- --ignored
  run "${tests[@]}" --test ad --test codegen --test fusion --test native -- --ignored deep:: many_recurrences
}

# Programs that no run had before.
new_seeds() {
  echo "ACCEL_REVISION=$revision, long random tests with ACCEL_RANDOM_SEED=$seed"
  local seconds=20
  [ "${CI:-}" != true ] || seconds=5
  local new=(env ACCEL_REVISION="$revision" ACCEL_RANDOM_SEED="$seed" ACCEL_RANDOM_SECONDS="$seconds" "${tests[@]}")
  run "${new[@]}" --test random -- --ignored many --skip many_opencl
  # A fifth of the programs, another one for each revision. With CI=true, what it finds does not count, and it takes minutes.
  [ "${CI:-}" = true ] || run env ACCEL_REVISION="$revision" "${tests[@]}" --test backends -- --exact opencl::conformance
}

opencl_tests() {
  run "${tests[@]}" --test backends -- --ignored opencl::
  run env ACCEL_ALSO_ON=opencl QUICKCHECK_TESTS=5 "${tests[@]}" --test gradients
  if command -v oclgrind >/dev/null || apt_install oclgrind; then
    run scripts/simulate.sh
  else
    echo "scripts/test.sh: LEFT OUT: kernels for graphics cards in a simulator (oclgrind is missing)" >&2
  fi
}

book() {
  if [ "$book" = yes ] && ! command -v mdbook >/dev/null; then
    cargo install mdbook --version '^0.5' --locked
  fi
  if command -v mdbook >/dev/null; then
    run mdbook build book
  else
    echo "mdbook is not installed: the book's listings were tested, its pages were not built (--book installs it)"
  fi
}

stage build build
if [ "$quick" = yes ]; then
  stage quick quick_tests
else
  # In parallel: many tests keep only one core busy.
  echo "+ long and checked tests (in the background; their output follows that of the quick tests)"
  { stage long long_tests; stage checked checked_tests; stage new new_seeds; } >"$logs/output" 2>&1 &
  stage quick quick_tests
  wait
  cat "$logs/output"
  if [ "$opencl" = yes ] && [ -z "$left_out" ]; then
    stage opencl opencl_tests
  fi
fi
stage book book

# cargo prints a line `Running unittests src/lib.rs (target/debug/deps/NAME-HASH)`, or `Doc-tests NAME`, before the output of each
# test program, and `test result: ok. 5 passed; 0 failed; 1 ignored; …; finished in 1.23s` after it.
echo "slowest test programs, in seconds:"
awk '/^ *Running / { name = $NF; sub(/.*\//, "", name); sub(/-[0-9a-f]*\)$/, "", name) }
     /^ *Doc-tests / { name = "documentation of " $2 }
     /^test result:/ { s = $NF; sub(/s$/, "", s); log_name = FILENAME; sub(/.*\//, "", log_name); sub(/\.log$/, "", log_name)
                       printf "%8.1f  %s (%s)\n", s, name, log_name }' "$logs"/*.log | sort -rn | head -n 10
awk '{ printf "%8.1f  minutes: %s\n", $2 / 60, $1 }' "$logs/stages"
# What new seeds find is counted where it fails the run.
counted=("$logs"/*.log)
[ ! -e "$logs/new" ] || counted=($(ls "$logs"/*.log | grep -v '/new.log$'))
awk '/^test result:/ { for (i = 2; i <= NF; i++) { if ($i ~ /^passed/) p += $(i-1); if ($i ~ /^failed/) f += $(i-1) } }
     END { printf "%d passed, %d failed\n", p, f }' "${counted[@]}"
[ -z "$left_out" ] || echo "LEFT OUT: $left_out"
if [ -e "$logs/new" ]; then
  echo "NEW SEEDS FAIL: a mistake that was there before, perhaps. ACCEL_REVISION=$revision ACCEL_RANDOM_SEED=$seed scripts/test.sh repeats it:"
  grep -ahE '^test .* FAILED|panicked at|with ACCEL_RANDOM_SEED=|\(signal: ' "$logs/new.log" | head -n 20 || true
fi
if [ "$opencl" = no ] && [ "$SECONDS" -gt 3600 ]; then
  echo "scripts/test.sh: the tests took $((SECONDS / 60)) minutes, more than the 60 that they may take" >&2
  touch "$logs/failed"
fi
if [ -e "$logs/failed" ]; then
  echo "scripts/test.sh: FAILED" >&2
  exit 1
fi
