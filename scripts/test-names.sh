#!/usr/bin/env bash
# Compares the tests that there are with the list in scripts/test-names.txt, so that no test and no test program disappears unseen.
#
#   scripts/test-names.sh             fails if a test is not in the list, or if one of the list is missing
#   scripts/test-names.sh --update    writes the list
#
# Documentation tests are not in the list: their names contain numbers of lines.
set -euo pipefail
cd "$(dirname "$0")/.."
list=scripts/test-names.txt

# With `autotests = false`, a program that tests/Cargo.toml does not list would never run.
for file in tests/*/main.rs; do
  grep -qx "path = \"${file#tests/}\"" tests/Cargo.toml ||
    { echo "scripts/test-names.sh: $file is not a test program: add it to tests/Cargo.toml" >&2; exit 1; }
done

# One line for each program that `cargo test` runs: its package's folder, its name, and its file.
programs() {
  cargo tests --no-run --message-format=json 2>"$work/said" |
    sed -n '/"profile":{[^}]*"test":true/s/.*"manifest_path":"\([^"]*\)\/Cargo.toml","target":{"kind":[^]]*\],"crate_types":[^]]*\],"name":"\([^"]*\)".*"executable":"\([^"]*\)".*/\1 \2 \3/p' ||
    { cat "$work/said" >&2; return 1; }
}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
programs >"$work/programs"
# Programs of a macro crate are linked with rustc's libraries.
export LD_LIBRARY_PATH="$(rustc --print target-libdir)${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
while read -r folder name file; do
  # A program runs in the folder of its package.
  (cd "$folder" && "$file" --list --format terse) 2>/dev/null | sed -n "s|\(.*\): test\$|${folder##"$PWD"/}/$name \1|p"
done <"$work/programs" | sed "s|^$PWD/|./|" | LC_ALL=C sort -u >"$work/found"
[ -s "$work/found" ] || { echo "scripts/test-names.sh: no test was found" >&2; cat "$work/said" >&2; exit 1; }

if [ "${1:-}" = --update ]; then
  cp "$work/found" "$list"
  echo "scripts/test-names.sh: $(wc -l <"$list") tests of $(wc -l <"$work/programs") programs"
elif ! diff <(cat "$list") "$work/found" >"$work/different"; then
  sed -n 's/^</missing:/p; s/^>/not in the list:/p' "$work/different" >&2
  echo "scripts/test-names.sh: if this is intended, run scripts/test-names.sh --update" >&2
  exit 1
fi
