#!/bin/bash
# Builds the last commit twice, in two folders with two homes of cargo, and compares binary, SBOM and packages.
set -euo pipefail
tree=$(realpath "$(dirname "$0")/..")
. "$tree/packaging/architecture.sh"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cargo_home=${CARGO_HOME:-$HOME/.cargo}
SOURCE_DATE_EPOCH=$(git -C "$tree" log -1 --format=%ct)
export SOURCE_DATE_EPOCH
for build in one another/place; do
	git clone -q "$tree" "$work/$build"
	# The same crates under another name.
	mkdir -p "$work/homes/$build"
	for shared in registry git; do
		[ ! -d "$cargo_home/$shared" ] || ln -s "$(realpath "$cargo_home/$shared")" "$work/homes/$build/$shared"
	done
	(
		cd "$work/$build"
		export CARGO_HOME=$work/homes/$build
		export RUSTUP_HOME=${RUSTUP_HOME:-$HOME/.rustup}
		make -s all
		packaging/sbom.py target/sbom >/dev/null
		packaging/deb/build.sh target/packages >/dev/null
		packaging/rpm/build.sh target/packages >/dev/null
		packaging/image.py target/packages/image.tar amd64=target/x86_64-unknown-linux-gnu/release/hostint >/dev/null
		cd target
		sha256sum "$TARGET/release/hostint" sbom/* packages/*
	) | tee "$work/sums.${build%%/*}"
done
if ! diff "$work/sums.one" "$work/sums.another"; then
	echo "reproducible.sh: the builds differ" >&2
	exit 1
fi
echo "reproducible.sh: two builds, one result"
