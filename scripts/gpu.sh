#!/usr/bin/env bash
# Tests and measures the OpenCL backend on a machine with a GPU. That machine needs neither Rust nor an OpenCL loader: the programs are
# built here, and copied there with the loader of this machine. Prints one table at the end.
#
#   scripts/gpu.sh             on this machine
#   scripts/gpu.sh HOST        on another machine, by ssh
#   scripts/gpu.sh --pack      only makes the folder target/gpu, to be copied: ./run in it does the rest
#
# ADBench's files and the JAX reference, which are not part of this project, are copied as well if they are in ../shared.
set -euo pipefail
cd "$(dirname "$0")/.."

pack=target/gpu

# Builds tests and copies them to the folder. cargo prints a line of JSON for each target; those with an executable are tests.
tests() {
  cargo test --release "$@" --no-run --message-format=json |
    sed -n 's/.*"name":"\([a-z_]*\)".*"executable":"\([^"]*\)".*/\1 \2/p' | grep -E '^(backends|kernels|gradients|random|accel_opencl) ' |
    while read -r name file; do cp "$file" "$pack/tests/$name"; done
}

build() {
  rm -rf "$pack"
  mkdir -p "$pack/tests" "$pack/examples" "$pack/lib" "$pack/data"
  loader=$(ldconfig -p | sed -n 's/.*libOpenCL\.so\.1 .*=> //p' | head -n 1)
  if [ -z "$loader" ]; then
    echo "scripts/gpu.sh: no OpenCL loader to copy (Debian, Ubuntu: apt-get install ocl-icd-libopencl1)" >&2
    exit 2
  fi
  cp -L "$loader" "$pack/lib/libOpenCL.so.1"
  # The benchmarks are linked with the loader. Only development packages have the name that the linker looks for.
  ln -s libOpenCL.so.1 "$pack/lib/libOpenCL.so"
  export LIBRARY_PATH="$PWD/$pack/lib${LIBRARY_PATH:+:$LIBRARY_PATH}"
  cargo build --release --package bench-opencl
  # The tests expect the examples that they run beside their own folder.
  cargo build --release --package accel --features opencl --example gmm --example ba --example generate_adbench
  tests --package accel-tests --features opencl --test backends --test kernels --test gradients --test random
  tests --package accel-opencl --lib
  # The files of the test program `kernels`.
  cp -r tests/kernels "$pack/kernels"
  cp target/release/examples/gmm target/release/examples/ba "$pack/examples/"
  cp target/release/bench-opencl "$pack/"
  strip "$pack/bench-opencl" "$pack"/tests/* "$pack"/examples/*
  target/release/examples/generate_adbench gmm 32 200 10000 >"$pack/data/large_gmm.txt"
  if [ -d ../shared/peers ]; then cp -r ../shared/peers "$pack/data/"; fi
  cp scripts/gpu-run.sh "$pack/run"
}

case "${1-}" in
  --pack)
    build
    echo "$pack is ready: copy it and call ./run in it"
    ;;
  -*) echo "scripts/gpu.sh: unknown option $1 (expected --pack or the name of a host)" >&2; exit 2 ;;
  "")
    build
    "$pack/run"
    ;;
  *)
    build
    folder=$(ssh "$1" mktemp -d)
    tar -C "$pack" -cz . | ssh "$1" "tar -C $folder -xz && $folder/run; status=\$?; rm -rf $folder; exit \$status"
    ;;
esac
