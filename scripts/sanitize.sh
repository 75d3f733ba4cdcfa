#!/usr/bin/env bash
# Runs tests with generated code that is compiled with AddressSanitizer and UndefinedBehaviorSanitizer: a read or write outside of an array, or
# C whose meaning is undefined, ends the test with a report.
#
#   scripts/sanitize.sh            kernels, conformance, gradients, random programs
#   scripts/sanitize.sh --quick    kernels only
#
# Arguments after `--` are those of the test programs, such as names of tests.
#
# The compiler and its options are part of the key of the code cache, so that sanitized code is not mixed up with other code. The Rust side is
# not instrumented, but all of its memory comes from the allocator of AddressSanitizer.
set -euo pipefail
cd "$(dirname "$0")/.."

quick=no
for option in "$@"; do
  case "$option" in
    --quick) quick=yes; shift ;;
    --) shift; break ;;
    *) echo "scripts/sanitize.sh: unknown option $option (expected --quick or --)" >&2; exit 2 ;;
  esac
done

left_out() { echo "scripts/sanitize.sh: LEFT OUT: $*"; exit 0; }

compiler=${CC:-cc}
command -v "${compiler%% *}" >/dev/null || left_out "there is no C compiler"
[ "$(uname -s)" = Linux ] || left_out "it preloads libraries as Linux does"
flags="-fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer -g1"
runtime=$($compiler -print-file-name=libasan.so)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# Whether it is there, and finds something.
echo 'int main(int n, char **x) { int a[4] = {0}; return a[n + 4] + (1 << (n + 31)); }' >"$work/wrong.c"
# shellcheck disable=SC2086
$compiler $flags "$work/wrong.c" -o "$work/wrong" 2>"$work/said" && [ -e "$runtime" ] ||
  left_out "$compiler has no sanitizers (on Debian and Ubuntu they come with gcc): $(head -1 "$work/said")"
if "$work/wrong" 2>/dev/null; then
  echo "scripts/sanitize.sh: the sanitizers of $compiler find nothing" >&2
  exit 1
fi

# Only test programs run with the sanitizer, neither cargo nor the compiler that they call.
host=$(rustc -vV | sed -n 's/^host: //p')
runner=CARGO_TARGET_$(echo "$host" | tr 'a-z-' 'A-Z_')_RUNNER
export "$runner=env LD_PRELOAD=$runtime"
export CC="env -u LD_PRELOAD $compiler $flags"
export XDG_CACHE_HOME="$PWD/target/sanitized"
# The compiler takes several times as long. Leaks are not what is looked for, `stacker` leaves stacks in ways that look odd, and memory that cannot be
# had is an error of ours.
export ACCEL_CC_TIMEOUT=600
export ASAN_OPTIONS=detect_leaks=0:detect_stack_use_after_return=0:abort_on_error=1:allocator_may_return_null=1
export UBSAN_OPTIONS=print_stacktrace=1

echo "+ $compiler $flags"
cargo test --package accel-native --tests -- --skip cache --skip toolchain "$@"
if [ "$quick" = no ]; then
  cargo test --package accel-tests --test conformance --test gradients --test random_programs --test bad_cases -- "$@"
fi
