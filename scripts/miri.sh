#!/usr/bin/env bash
# Runs tests of accel-core in Miri: host arrays, the typed tree with its environments, elaboration, printing. Miri finds wrong
# uses of memory in Rust code, ours or that of libraries (needs nightly Rust).
#
#   scripts/miri.sh            all tests
#   scripts/miri.sh NAME...    only the tests whose names contain NAME
#
# Tests that are too large for Miri are marked `#[cfg_attr(miri, ignore)]`.
set -euo pipefail
cd "$(dirname "$0")/.."

cargo +nightly miri --version >/dev/null 2>&1 || {
  echo "scripts/miri.sh: LEFT OUT: there is no nightly Rust with Miri (rustup toolchain install nightly --component miri,rust-src)"
  exit 0
}
# The tests read files of expected texts, and start no process to find them.
export MIRIFLAGS="${MIRIFLAGS:--Zmiri-disable-isolation}" INSTA_WORKSPACE_ROOT="$PWD"
cargo +nightly miri test --package accel-core --lib --test core array:: -- "$@"
