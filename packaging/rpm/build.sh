#!/bin/bash
# Packs the release build that is there as a .rpm: build.sh OUT [SUFFIX]   (SUFFIX makes another version)
set -euo pipefail
here=$(dirname "$(realpath "$0")")
tree=$(realpath "$here/../..")
. "$tree/packaging/architecture.sh"
mkdir -p "$1"; out=$(realpath "$1")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git -C "$tree" log -1 --format=%ct 2>/dev/null || date +%s)}
version=$(sed -n 's/^version = "\(.*\)"/\1/p' "$tree/Cargo.toml" | head -1)
if ! rpmbuild -bb --quiet --target "$CPU" "$here/hostint.spec" \
	--define "_topdir $work" --define "_builddir $work/build" --define "_rpmdir $work" \
	--define "tree $tree" --define "hostint_version ${version/-/\~}${2:-}" \
	--define "_buildhost reproducible" --define "use_source_date_epoch_as_buildtime 1" \
	--define "clamp_mtime_to_source_date_epoch 1" --define "_binary_payload w19.zstdio" >"$work/log" 2>&1; then
	cat "$work/log" >&2
	exit 1
fi
for rpm in "$work/$CPU"/*.rpm; do
	cp "$rpm" "$out/"
	echo "$out/$(basename "$rpm")"
done
