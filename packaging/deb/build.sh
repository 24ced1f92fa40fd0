#!/bin/bash
# Packs the release build that is there, or BINARY, as a .deb: build.sh OUT [SUFFIX]   (SUFFIX makes another version)
set -euo pipefail
here=$(dirname "$(realpath "$0")")
tree=$(realpath "$here/../..")
. "$tree/packaging/architecture.sh"
mkdir -p "$1"; out=$(realpath "$1")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git -C "$tree" log -1 --format=%ct 2>/dev/null || date +%s)}
mkdir "$work/tree"
"$here/debianize.sh" "$work/tree" "${2:-}"
export HOSTINT_TREE=$tree
# What the static binary has of this system's C libraries, as Debian's policy wants it said.
if ! readelf -d "${BINARY:-$tree/target/$TARGET/release/hostint}" | grep -q NEEDED; then
	HOSTINT_STATIC=$(dpkg-query -W -f '${source:Package} (= ${source:Version}), ' \
		{libc6,libelf,zlib1g,libzstd}-dev:"$ARCH" 2>/dev/null | sed 's/, $//')
	export HOSTINT_STATIC
fi
cd "$work/tree"
if ! DH_QUIET=1 dpkg-architecture -f -a "$ARCH" -c debian/rules binary >"$work/log" 2>&1; then
	cat "$work/log" >&2
	exit 1
fi
for deb in "$work"/hostint_*.deb; do
	cp "$deb" "$out/"
	echo "$out/$(basename "$deb")"
done
