#!/usr/bin/env bash
# Runs tests with the checks of a sanitizer.
#
#   scripts/sanitize.sh            kernels, conformance, gradients, random programs; generated code is compiled with AddressSanitizer and
#                                  UndefinedBehaviorSanitizer: an access out of bounds or undefined behaviour of C ends the test with a report
#   scripts/sanitize.sh --quick    kernels only
#   scripts/sanitize.sh --thread   the work of the native backend in several threads, with ThreadSanitizer in generated code, in Rust and in its
#                                  standard library: data races are reported (needs nightly Rust)
#
# Arguments after `--` are passed to the test programs, for example a part of the names of tests (only one: `kernels` takes no more).
#
# The compiler and its options are part of the key of the code cache, so sanitized code is not mixed up with other code. AddressSanitizer
# does not instrument the Rust side, but all of its memory comes from the sanitizer's allocator.
set -euo pipefail
cd "$(dirname "$0")/.."

mode=all
for option in "$@"; do
  case "$option" in
    --quick | --thread) mode=${option#--}; shift ;;
    --) shift; break ;;
    *) echo "scripts/sanitize.sh: unknown option $option (expected --quick, --thread or --)" >&2; exit 2 ;;
  esac
done

left_out() { echo "scripts/sanitize.sh: LEFT OUT: $*"; exit 0; }
finds_nothing() { echo "scripts/sanitize.sh: $* finds nothing" >&2; exit 1; }

compiler=${CC:-cc}
command -v "${compiler%% *}" >/dev/null || left_out "there is no C compiler"
[ "$(uname -s)" = Linux ] || left_out "it loads libraries as Linux does"
host=$(rustc -vV | sed -n 's/^host: //p')
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export XDG_CACHE_HOME="$PWD/target/sanitized"
# The compiler takes several times as long.
export ACCEL_CC_TIMEOUT=600

threads() {
  local sources
  sources=$(rustup run nightly rustc --print sysroot 2>/dev/null)/lib/rustlib/src/rust/library
  [ -d "$sources" ] || left_out "there is no nightly Rust with its sources (rustup toolchain install nightly --component rust-src)"
  # The runtime is that of the test program; its interface is the same for GCC and LLVM. A second runtime would see only half of the accesses.
  mkdir -p "$XDG_CACHE_HOME"
  local wrapper="$XDG_CACHE_HOME/cc-thread"
  printf '#!/bin/sh\nexec %s "$@" -fsanitize=thread -g1 -nodefaultlibs -lgcc -Wl,-z,undefs\n' "$compiler" >"$wrapper"
  chmod 700 "$wrapper"
  export CC="$wrapper"
  export RUSTFLAGS="-Zsanitizer=thread -Clink-arg=-rdynamic"
  # A separate target folder. The linker is not the wrapper.
  local upper
  upper=$(echo "$host" | tr 'a-z-' 'A-Z_')
  export CARGO_TARGET_DIR="$PWD/target/thread" "CARGO_TARGET_${upper}_LINKER=${compiler%% *}"
  # A lock of the loader, which is not instrumented, orders loading and closing libraries.
  printf 'race:_dl_open\nrace:_dl_close\nrace:_dl_map_object\n' >"$work/known"
  export TSAN_OPTIONS="suppressions=$work/known history_size=4"
  local sanitized=(cargo +nightly)
  local std=(-Zbuild-std --target "$host")

  # Checks that it finds a race in Rust and one in C.
  mkdir -p "$work/race/src"
  cat >"$work/race/Cargo.toml" <<'END'
[package]
name = "race"
edition = "2024"
[workspace]
END
  cat >"$work/race/src/main.rs" <<'END'
use std::ffi::{CStr, CString, c_char, c_int, c_void};
unsafe extern "C" {
    fn dlopen(file: *const c_char, flags: c_int) -> *mut c_void;
    fn dlsym(library: *mut c_void, name: *const c_char) -> *mut c_void;
}
static mut COUNT: i32 = 0;
extern "C" fn in_rust() {
    unsafe { *(&raw mut COUNT) += 1 }
}
fn main() {
    let file = std::env::args().nth(1);
    let f: extern "C" fn() = match file {
        None => in_rust,
        Some(file) => unsafe {
            let library = dlopen(CString::new(file).unwrap().as_ptr(), 2);
            assert!(!library.is_null());
            let name: &CStr = c"in_c";
            std::mem::transmute(dlsym(library, name.as_ptr()))
        },
    };
    let other = std::thread::spawn(move || f());
    f();
    other.join().unwrap();
}
END
  "${sanitized[@]}" build --quiet --manifest-path "$work/race/Cargo.toml" "${std[@]}" 2>"$work/said" ||
    left_out "nightly Rust does not build with ThreadSanitizer: $(grep -m1 error "$work/said")"
  local race="$CARGO_TARGET_DIR/$host/debug/race"
  if "$race" >/dev/null 2>&1; then finds_nothing "ThreadSanitizer of Rust"; fi
  echo 'static int count; void in_c(void) { count += 1; }' >"$work/race.c"
  "$CC" -shared -fPIC -o "$work/race.so" "$work/race.c" 2>"$work/said" ||
    left_out "$compiler has no ThreadSanitizer: $(head -1 "$work/said")"
  if "$race" "$work/race.so" >"$work/said" 2>&1; then finds_nothing "ThreadSanitizer of $compiler"; fi
  grep -q 'data race' "$work/said" || { cat "$work/said"; finds_nothing "ThreadSanitizer of $compiler"; }

  # By default, the tests whose names mention several threads.
  "${sanitized[@]}" test "${std[@]}" --package accel-native --tests -- "${@:-thread}"
}

addresses() {
  local flags runtime
  flags="-fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer -g1"
  runtime=$($compiler -print-file-name=libasan.so)
  # Checks that the sanitizer is installed and finds an error.
  echo 'int main(int n, char **x) { int a[4] = {0}; return a[n + 4] + (1 << (n + 31)); }' >"$work/wrong.c"
  # shellcheck disable=SC2086
  $compiler $flags "$work/wrong.c" -o "$work/wrong" 2>"$work/said" && [ -e "$runtime" ] ||
    left_out "$compiler has no sanitizers (on Debian and Ubuntu they come with gcc): $(head -1 "$work/said")"
  if "$work/wrong" 2>/dev/null; then finds_nothing "$compiler $flags"; fi

  # Only test programs run with the sanitizer, not cargo and not the compiler that they call.
  local runner
  runner=CARGO_TARGET_$(echo "$host" | tr 'a-z-' 'A-Z_')_RUNNER
  export "$runner=env LD_PRELOAD=$runtime"
  export CC="env -u LD_PRELOAD $compiler $flags"
  # Leaks are not checked, `stacker` switches stacks in ways that the sanitizer would report, and a lack of memory is an error of ours.
  export ASAN_OPTIONS=detect_leaks=0:detect_stack_use_after_return=0:abort_on_error=1:allocator_may_return_null=1
  export UBSAN_OPTIONS=print_stacktrace=1

  echo "+ $compiler $flags"
  cargo test --package accel-native --tests -- --skip cache --skip toolchain "$@"
  cargo test --package accel-tests --test kernels -- --skip ::text --skip mistakes "$@"
  if [ "$mode" = all ]; then
    cargo test --package accel-tests --test backends --test gradients --test random --test language -- "$@"
  fi
}

if [ "$mode" = thread ]; then threads "$@"; else addresses "$@"; fi
