#!/bin/bash
# Builds both packages as a distribution does, of a source archive and against this system's libraries:
# from-source.sh OUT. Nothing is fetched meanwhile: there is no network.
set -euo pipefail
here=$(dirname "$(realpath "$0")")
. "$here/architecture.sh"
mkdir -p "$1"; out=$(realpath "$1")
export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$(realpath "$here/..")/target/from-source}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
quietly() {
	if ! "$@" >"$work/log" 2>&1; then
		cat "$work/log" >&2
		echo "from-source.sh: failed: $*" >&2
		exit 1
	fi
}

archive=$("$here/source.sh" "$out")
name=$(basename "$archive" .tar.gz)
mkdir "$work/build"
tar -xf "$archive" -C "$work/build"
cd "$work/build/$name"
SOURCE_DATE_EPOCH=$(stat -c %Y Cargo.lock)
export SOURCE_DATE_EPOCH
packaging/deb/debianize.sh .
# Rust need not be Debian's, which is too old in Debian 12, and neither need clang.
lacking=$({ dpkg-checkbuilddeps 2>&1 || true; } | sed -E 's/.*dependencies: //; s/(cargo|rustc|clang)( \([^)]*\))?//g' | tr -d ' ')
if [ -n "$lacking" ]; then
	dpkg-checkbuilddeps || true
	exit 1
fi
quietly unshare --net dpkg-buildpackage -b -us -uc -d
cp ../hostint_*.deb "$out/"
# rpm of another distribution knows no packages that are installed.
quietly unshare --net rpmbuild -ba --nodeps --target "$CPU" packaging/rpm/hostint.spec \
	--define "_topdir $work/rpm" --define "_sourcedir $out" --define "_builddir $work/build" \
	--define "hostint_version ${name#hostint-}"
cp "$work/rpm/RPMS/$CPU"/*.rpm "$work"/rpm/SRPMS/*.rpm "$out/"
ls "$out"/*.deb "$out"/*.rpm
