#!/usr/bin/env bash
# Goes through the orders in which threads can take the tasks of a parallel operation and end them, in the memory model of C11: all of them
# for two threads, those with at most two forced switches for three.
set -euo pipefail
cd "$(dirname "$0")/.."
RUSTFLAGS="--cfg loom" CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-target}/loom" \
  timeout 600 cargo test --release --package accel-native --lib -- threads::tasks "$@"
