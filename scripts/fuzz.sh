#!/usr/bin/env bash
# Runs random programs until it is stopped, or until it has run enough: for example over night. It shrinks failing programs and stores them.
#
#   scripts/fuzz.sh [--count N] [--from SEED] [--jobs N] [--out FOLDER] [--on native|opencl|evaluators] [--build-only] [--program FILE]
#
#   --count N      the number of programs (100000)
#   --from SEED    the first seed; by default, the seed after the last one of the previous run (the file FOLDER/next)
#   --jobs N       the number of processes (half of the cores)
#   --out FOLDER   the folder for results (target/fuzz): `log`, and a file for each failing program
#   --on BACKEND   the backend that runs the programs besides the evaluators of kernel programs (native)
#   --program FILE a test program that was built before: --build-only prints its path
#
# A failing program is stored in a file such as 1234-Native.json; `cargo test --test random wide::found` runs it again when it is in
# tests/found/. The file 1234-Native.rs beside it is the same program in the surface language, to be pasted into an example.
# With ACCEL_CHECK=1 in the environment, native code checks every read that was proved to be within bounds.
# It can be stopped at any time: the next run continues after the last chunk that was started.
set -euo pipefail
cd "$(dirname "$0")/.."

count=100000 from= out=target/fuzz on=native build_only=no program=
jobs=$((($(nproc) + 1) / 2))
while [ $# -gt 0 ]; do
  case "$1" in
    --count) count=$2; shift 2 ;;
    --from) from=$2; shift 2 ;;
    --jobs) jobs=$2; shift 2 ;;
    --out) out=$2; shift 2 ;;
    --on) on=$2; shift 2 ;;
    --build-only) build_only=yes; shift ;;
    --program) program=$2; shift 2 ;;
    -h | --help) sed -n '2,/^set /{/^set /d;s/^# \{0,1\}//;p}' "$0"; exit 0 ;;
    *) echo "scripts/fuzz.sh: unknown option $1 (--help lists them)" >&2; exit 2 ;;
  esac
done

mkdir -p "$out"
if [ -z "$program" ]; then
  features=
  [ "$on" = opencl ] && features="--features opencl"
  # shellcheck disable=SC2086
  program=$(cargo test --release --package accel-tests $features --test random --no-run --message-format=json |
    sed -n 's|.*"executable":"\([^"]*/random-[^"]*\)".*|\1|p' | tail -1)
fi
[ "$build_only" = no ] || { echo "$program"; exit 0; }
# The program is copied, so that builds during the run do not change it.
cp "$program" "$out/program"
program="$out/program"
[ -n "$from" ] && echo "$from" >"$out/next"
[ -f "$out/next" ] || echo 10000 >"$out/next"
last=$(($(cat "$out/next") + count))

# Takes the next chunk of seeds, with a lock.
chunk=240
next_chunk() {
  (
    flock 9
    n=$(cat "$out/next")
    echo $((n + chunk)) >"$out/next"
    echo "$n"
  ) 9>"$out/lock"
}

# A process that takes chunk after chunk. After a crash or a timeout, a chunk continues after the seed at which this happened. The limit
# is on processor time, since the machine may be busy; the limit of hours is for a process that waits for something.
worker() {
  local at="$out/at-$1" first n status
  while first=$(next_chunk) && [ "$first" -lt "$last" ]; do
    n=$chunk
    while [ "$n" -gt 0 ]; do
      status=0
      ACCEL_FUZZ_FROM=$first ACCEL_FUZZ_COUNT=$n ACCEL_FUZZ_OUT="$out" ACCEL_FUZZ_AT="$at" ACCEL_FUZZ_ON=$on \
        sh -c 'ulimit -t 1800; exec timeout 6h nice -n 10 "$@"' sh "$program" --exact wide::fuzz --ignored --nocapture 2>>"$out/stderr-$1" |
        grep -aE -A1 '^(FOUND|DONE)' >>"$out/log" || status=$?
      [ "$status" -eq 0 ] && break
      seed=$(cat "$at")
      echo "FOUND seed $seed: the process ended with status $status (152: half an hour was not enough; 124: it waits), in $first+$n" >>"$out/log"
      # A crash is shrunk in separate processes.
      [ "$status" -eq 124 ] || [ "$status" -eq 152 ] || ACCEL_FUZZ_FROM=$((seed > 24 ? seed - 24 : 0)) ACCEL_FUZZ_COUNT=25 ACCEL_FUZZ_OUT="$out" \
        timeout 1800 nice -n 10 "$program" --exact wide::shrink_crash --ignored --nocapture >>"$out/log" 2>>"$out/stderr-$1" || true
      n=$((first + n - seed - 1))
      first=$((seed + 1))
    done
  done
}

pids=()
for k in $(seq "$jobs"); do
  worker "$k" &
  pids+=($!)
done
trap 'kill "${pids[@]}" 2>/dev/null' INT TERM
wait
grep -ac '^FOUND' "$out/log" | sed 's/$/ failures in all; the log is '"${out//\//\\/}"'\/log/' || echo "no failures; the log is $out/log"
