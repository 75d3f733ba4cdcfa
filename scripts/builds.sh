#!/usr/bin/env bash
# Compiles, without running it, what no other run of the continuous integration compiles: the default features, as in the first command
# of the README, the model of the threads for loom (scripts/loom.sh runs it), and accel-core as releases optimise it, without machine code:
# rustc inlines generic functions there and not in tests, and has failed while it did.
#
# The other tests that run by hand are compiled by every `cargo test`: scripts/fuzz.sh, scripts/sanitize.sh, scripts/simulate.sh and
# scripts/miri.sh run programs of it.
set -euo pipefail
cd "$(dirname "$0")/.."

for script in scripts/*.sh .ci/run; do bash -n "$script"; done
cargo check --package accel --lib --examples
cargo rustc --release --package accel-core --lib -- --emit=mir
RUSTFLAGS="--cfg loom" CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-target}/loom" cargo check --package accel-native --lib --profile test
