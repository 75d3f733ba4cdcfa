#!/usr/bin/env bash
# Tries the orders in which threads can take the tasks of a parallel operation and end them, in the memory model of C11: all orders for
# two threads, and for three threads those with at most two preemptions.
set -euo pipefail
cd "$(dirname "$0")/.."
RUSTFLAGS="--cfg loom" CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-target}/loom" \
  timeout 600 cargo test --release --package accel-native --lib -- threads::tasks "$@"
