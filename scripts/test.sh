#!/usr/bin/env bash
# Runs all tests and prints their number. On Debian and Ubuntu, it installs what they need.
#
#   scripts/test.sh           unit, integration and documentation tests, the book's listings, the long tests; OpenCL on pocl
#   scripts/test.sh --quick   the same without the long tests (those that need an optimised build)
#   scripts/test.sh --opencl  also the longest tests of the OpenCL backend: all programs of the conformance suite instead of a third,
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
# On an OpenCL device, a third of the conformance suite runs, another one for each revision.
export ACCEL_REVISION="${ACCEL_REVISION:-$(git rev-parse HEAD 2>/dev/null || echo none)}"

# The test programs in tests/ are listed in its Cargo.toml. A program that is not listed would never run.
for file in tests/*.rs; do
  grep -qx "path = \"${file#tests/}\"" tests/Cargo.toml ||
    { echo "scripts/test.sh: $file is not a test program: add it to tests/Cargo.toml" >&2; exit 1; }
done

# A full disk fails tests far away from the reason.
free_gb=$(($(df -Pk . | awk 'NR == 2 { print $4 }') >> 20))
[ "$free_gb" -ge 9 ] || echo "scripts/test.sh: only $free_gb GB are free here: what the tests build takes up to 9 GB" >&2

logs=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$logs"' EXIT
log=$logs/quick.log

# Runs a command and keeps its output for the count. A failure does not stop the other commands.
run() {
  echo "+ $*"
  "$@" 2>&1 | tee -a "$log" || touch "$logs/failed"
}

# `--all-targets` would build the examples as test programs only, but tests/command_line.rs runs the examples.
quick_tests() {
  run cargo test --workspace --features ndarray,opencl,dual,trace --no-fail-fast
}

# With checked proofs of bounds. These programs are those of the quick tests, as long as the packages and features are the same.
# The proofs are the same for all backends, so the conformance suite runs on one of them.
checked_tests() {
  local checked=(env ACCEL_CHECK=1 QUICKCHECK_TESTS=10 cargo test --workspace --features ndarray,opencl,dual,trace --no-fail-fast)
  run "${checked[@]}" --test gradients --test random_programs --test bad_cases
  run "${checked[@]}" --test conformance -- native
}

# Always the same packages and features: with others, cargo would compile common dependencies again.
long=(--release --package accel --package accel-tests --package gradbench-accel --package accel-ad --package accel-fusion
  --package accel-codegen --package accel-native --features opencl)
long_tests() {
  log=$logs/long.log
  # A single test does not build the examples that it runs.
  run cargo build "${long[@]}" --examples
  run cargo test "${long[@]}" --test adbench --test bad_cases --test random_programs --test random_texts --test random_wide --test opencl \
    --test random_messages --test deep --no-fail-fast -- --ignored --skip conformance
}

if [ "$quick" = yes ]; then
  quick_tests
else
  # In parallel, in separate folders: many tests keep only one core busy.
  echo "+ long tests (in the background; their output follows that of the quick tests)"
  long_tests >"$logs/output" 2>&1 &
  quick_tests
  checked_tests
  wait
  cat "$logs/output"
  if [ "$opencl" = yes ] && [ -z "$left_out" ]; then
    run cargo test "${long[@]}" --test opencl -- --ignored conformance
    run env ACCEL_ALSO_ON=opencl QUICKCHECK_TESTS=5 cargo test "${long[@]}" --test gradients
    if command -v oclgrind >/dev/null || apt_install oclgrind; then
      run scripts/simulate.sh
    else
      echo "scripts/test.sh: LEFT OUT: kernels for graphics cards in a simulator (oclgrind is missing)" >&2
    fi
  fi
fi

if [ "$book" = yes ] && ! command -v mdbook >/dev/null; then
  cargo install mdbook --version '^0.5' --locked
fi
if command -v mdbook >/dev/null; then
  run mdbook build book
else
  echo "mdbook is not installed: the book's listings were tested, its pages were not built (--book installs it)"
fi

# cargo prints one line for each test program: `test result: ok. 5 passed; 0 failed; 1 ignored; …`.
awk '/^test result:/ { for (i = 2; i <= NF; i++) { if ($i ~ /^passed/) p += $(i-1); if ($i ~ /^failed/) f += $(i-1) } }
     END { printf "%d passed, %d failed\n", p, f }' "$logs"/*.log
[ -z "$left_out" ] || echo "LEFT OUT: $left_out"
if [ -e "$logs/failed" ]; then
  echo "scripts/test.sh: FAILED" >&2
  exit 1
fi
