#!/bin/bash
# Packs the last commit and the crates that it needs, so that a build from it fetches nothing: source.sh OUT
set -euo pipefail
tree=$(realpath "$(dirname "$0")/..")
mkdir -p "$1"; out=$(realpath "$1")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
time=$(git -C "$tree" log -1 --format=%ct)
name=hostint-$(git -C "$tree" show HEAD:Cargo.toml | sed -n 's/^version = "\(.*\)"/\1/p' | head -1)
git -C "$tree" archive --prefix="$name/" HEAD | tar -xC "$work"
cd "$work/$name"
if ! cargo vendor --locked vendor >>.cargo/config.toml 2>"$work/log"; then
	cat "$work/log" >&2
	exit 1
fi
cd "$work"
tar --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$time" -c "$name" | gzip -n >"$out/$name.tar.gz"
echo "$out/$name.tar.gz"
