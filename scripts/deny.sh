#!/usr/bin/env bash
# Checks the dependencies: licences, sources, and the advisories of https://rustsec.org if its list can be fetched.
#
#   scripts/deny.sh            prints a message and does nothing if cargo-deny is missing
#   scripts/deny.sh --install  installs it first (several minutes)
set -euo pipefail
cd "$(dirname "$0")/.."

if [ "${1:-}" = --install ] && ! command -v cargo-deny >/dev/null; then
  cargo install cargo-deny --locked
fi
if ! command -v cargo-deny >/dev/null; then
  echo "scripts/deny.sh: LEFT OUT: cargo-deny is missing (scripts/deny.sh --install)" >&2
  exit 0
fi
cargo deny --all-features check licenses sources bans
# Without the list, advisories cannot be checked. An advisory itself is a failure.
if cargo deny fetch db; then
  cargo deny --all-features check advisories
else
  echo "scripts/deny.sh: LEFT OUT: the list of advisories cannot be fetched from here" >&2
fi
