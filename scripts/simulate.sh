#!/usr/bin/env bash
# Runs the kernels for graphics cards in Oclgrind, a simulator of OpenCL devices, which needs no card. It reports what a card does not:
# accesses out of bounds of buffers, data races of items, barriers that not all items of a group reach, and calls with wrong arguments.
# Fails if there are any, or if a result is wrong. Takes six minutes.
set -euo pipefail
cd "$(dirname "$0")/.."

if ! command -v oclgrind >/dev/null; then
  echo "scripts/simulate.sh: oclgrind is missing (Debian, Ubuntu: apt-get install oclgrind)" >&2
  exit 2
fi
root=$(dirname "$(dirname "$(readlink -f "$(command -v oclgrind)")")")
export ACCEL_OPENCL_LIBRARY="$root/lib/oclgrind/liboclgrind-rt.so"
export OCLGRIND_DATA_RACES=1 OCLGRIND_CHECK_API=1 OCLGRIND_MAX_ERRORS=100000000
# Its interpreter does not support all instructions that its compiler emits when it optimises.
export OCLGRIND_BUILD_OPTIONS=-cl-opt-disable
unset ACCEL_OPENCL_DEVICE

log=$(mktemp)
trap 'rm -f "$log"' EXIT
status=0
# It simulates one kernel at a time, so tests take turns.
run() {
  echo "+ $*"
  "$@" --test-threads 1 --nocapture >"$log" 2>&1 || status=1
  grep -a -A 4 ' panicked at ' "$log" || true
  grep -a '^test result' "$log" || tail -n 30 "$log"
  faults "$log" || status=1
}

# Prints the reports of a run, except races that are known to be harmless, as source lines with the number of reports. Harmless are: a
# check for failures while another item records one, items that say that a list was full, the first read of a compare-and-swap loop, and
# elements that a lock guards, since the simulator does not know locks. The comparison of results would find an error that follows from
# them.
faults() {
  local harmless='tape\[0\] = 1;|fault\[0\] != 0|global int \*\)fault|[a-z0-9]+ seen = \*cell;|_cmpxchg\(cell, seen,|\(\(volatile global [a-z0-9]+ \*\)a[0-9]+_[0-9]+\)\[q\]'
  local found
  found=$(grep -a -A 1 'At line' "$1" | grep -a -v '^--\|At line' | grep -a -v -E "$harmless" || true)
  found+=$(grep -a -A 3 -E '^Invalid |divergence detected|runtime error detected|FATAL ERROR|suppressing' "$1" || true)
  [ -z "$found" ] || { echo "$found" | sort | uniq -c | sort -rn | head -n 20; return 1; }
}

run cargo test --package accel-tests --features opencl --test kernels -- ::opencl
run cargo test --release --package accel-tests --features opencl --test backends -- --ignored --exact opencl::conformance_of_all_programs
run cargo test --release --package accel-tests --features opencl --test random -- opencl
exit "$status"
