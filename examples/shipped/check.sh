#!/usr/bin/env bash
# Compiles programs on this machine (the example `ship`), and runs them in a folder that has only their files, the example `shipped` and
# the C library: no compiler, no cache, no PATH. The results must be the same to the last bit.
#
#   examples/shipped/check.sh                   in the profile `release`
#   PROFILE=test examples/shipped/check.sh      with what `cargo tests` has built
set -euo pipefail
cd "$(dirname "$0")/../.."

profile=${PROFILE:-release}
build=(cargo build --profile "$profile" --example ship --example shipped)
# With the packages and features of `cargo tests`, nothing is built again.
[ "$profile" != test ] || build+=(--workspace --exclude accel-benches --exclude 'bench-*' --features ndarray,opencl,dual,trace,fft,linalg,glam,npz)
mapfile -t programs < <("${build[@]}" --message-format=json-render-diagnostics | grep -o '"executable":"[^"]*/ship[^"]*"' | cut -d'"' -f4)
program() { printf '%s\n' "${programs[@]}" | grep -E "/$1(-[0-9a-f]+)?\$"; }

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
root=$work/root
mkdir -p "$root"/{programs,tmp,proc}
"$(program ship)" "$root/programs" >"$work/expected"
strip -o "$root/shipped" "$(program shipped)"

# What the executable and the programs in the files are linked with.
for library in $(ldd "$root/shipped" | grep -o '/[^ ]*') $(ldconfig -p | grep -o '/.*/libmvec\.so\.1$' | head -1); do
  mkdir -p "$root$(dirname "$library")"
  cp -L "$library" "$root$library"
done

all=0 good=0
check() {
  all=$((all + 1))
  if "${@:2}"; then good=$((good + 1)); else echo "NOT $1" >&2; fi
}
same() { diff -q "$work/expected" "$1" >/dev/null; }

# Without an environment.
env -i "$root/shipped" "$root/programs" >"$work/bare" 2>"$work/times"
check "the same bits without a compiler" same "$work/bare"
first=$(grep -o '^[0-9.]*' "$work/times")
for _ in 1 2 3 4; do
  next=$(env -i "$root/shipped" "$root/programs" 2>&1 >/dev/null | grep -o '^[0-9.]*')
  first=$(printf '%s\n' "$first" "$next" | sort -n | head -1)
done

# In a folder without anything else.
inside=(chroot "$root" /shipped /programs)
[ "$(id -u)" -eq 0 ] || inside=(unshare --user --map-root-user "${inside[@]}")
if env -i PATH="$PATH" "${inside[@]}" >"$work/alone" 2>"$work/errors" || grep -q . "$work/alone"; then
  check "the same bits in a folder with only the C library" same "$work/alone"
elif grep -qE 'not permitted|unshare|chroot' "$work/errors"; then
  echo "LEFT OUT: this user cannot run a process in a folder of its own"
else
  cat "$work/errors" >&2
  check "the run in a folder with only the C library" false
fi

# Damage and other users.
cp -r "$root/programs" "$work/damaged"
printf x | dd of="$work/damaged/mixture.accel" bs=1 seek=5000 conv=notrunc 2>/dev/null
check "damage is an error" eval '! env -i "$root/shipped" "$work/damaged" 2>"$work/errors" >/dev/null && grep -q "is damaged" "$work/errors"'
chmod o+w "$root/programs/mixture.accel"
check "a file that others may change is an error" \
  eval '! env -i "$root/shipped" "$root/programs" 2>"$work/errors" >/dev/null && grep -q "others may write" "$work/errors"'

echo "profile $profile: $(du -b "$root/shipped" | cut -f1) bytes, $first ms from the start to the first gradient, bundles of" \
  "$(du -cb "$root"/programs/* | tail -1 | cut -f1) bytes"
echo "$good of $all"
[ "$good" = "$all" ]
