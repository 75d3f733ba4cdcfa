#!/usr/bin/env bash
# Prints the table of benches/README.md: every workload with its reference, then the memory of the GMM gradient and of a long loop's.
#
#   scripts/bench.sh                     all rows
#   scripts/bench.sh --quick             fewer and shorter turns
#   scripts/bench.sh [--quick] FILTER..  only the rows whose theme or work contains one of the filters, without the memory
#   scripts/bench.sh --opencl [..]       the rows of the OpenCL backend instead, on the device that ACCEL_OPENCL_DEVICE names
#   scripts/bench.sh --dual              gradients of ordinary code instead; CODIPACK names the folder of CoDiPack's source
#   scripts/bench.sh --sweep [FILTER]    many kernels over many extents, for about ten minutes; without a filter it writes benches/SWEEP.md
set -euo pipefail
cd "$(dirname "$0")/.."

# Tests evaluate programs before and after each pass; users do not.
export ACCEL_VALIDATE=0
# Generated code is compiled for this processor, so the references are compiled for it, too. Other flags need a target folder of their own.
export RUSTFLAGS="${RUSTFLAGS:-} -C target-cpu=native"
export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-target}/bench"

if [ "${1-}" = --opencl ]; then
  shift
  exec cargo run --quiet --release --package bench-opencl -- "$@"
fi

if [ "${1-}" = --dual ]; then
  shift
  exec cargo run --quiet --release --package bench-dual -- "$@"
fi

if [ "${1-}" = --sweep ]; then
  shift
  if [ $# = 0 ]; then
    cargo run --quiet --release --package bench-sweep | tee "$CARGO_TARGET_DIR/sweep.md"
    exec cp "$CARGO_TARGET_DIR/sweep.md" benches/SWEEP.md
  fi
  exec cargo run --quiet --release --package bench-sweep -- "$@"
fi

cargo bench --quiet --package accel-benches --bench native -- --table "$@"
filters=no
for option in "$@"; do
  case "$option" in --*) ;; *) filters=yes ;; esac
done
if [ "$filters" = no ]; then
  cargo bench --quiet --package accel-benches --bench memory
  cargo bench --quiet --package accel-benches --bench tape
fi
