#!/bin/bash
# Makes DIR/debian for dpkg-buildpackage or debhelper: debianize.sh DIR [SUFFIX]   (SUFFIX makes another version)
set -euo pipefail
here=$(dirname "$(realpath "$0")")
root=$here/../..
dir=$(realpath "$1")
version=$(sed -n 's/^version = "\(.*\)"/\1/p' "$root/Cargo.toml" | head -1)
mkdir -p "$dir/debian/source"
cp "$here"/{control,rules,copyright,hostint.postinst,hostint.prerm,hostint.postrm,hostint.lintian-overrides} "$dir/debian/"
echo "3.0 (quilt)" >"$dir/debian/source/format"
cat >"$dir/debian/changelog" <<CHANGELOG
hostint (${version/-/\~}${2:-}-1) unstable; urgency=medium

  * Version $version: see changelog.gz.

 -- $(sed -n 's/^Maintainer: //p' "$here/control")  $(LC_ALL=C date -u -R -d "@${SOURCE_DATE_EPOCH:-$(date +%s)}")
CHANGELOG
