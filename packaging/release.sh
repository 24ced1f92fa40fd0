#!/bin/bash
# Makes all that a release gives out: release.sh OUT ARCH=BINARY...     (ARCH: amd64, arm64)
#
# OUT gets an archive and packages for each architecture, the image, an apt repository, the SBOM, and at last SHA256SUMS. The
# first binary must run here. MINISIGN_KEY names the secret key that signs SHA256SUMS, GPG_KEY the key of gpg that signs the apt
# repository.
set -euo pipefail
here=$(dirname "$(realpath "$0")")
tree=$(realpath "$here/..")
if [ $# -lt 2 ]; then
	echo "usage: release.sh OUT ARCH=BINARY..." >&2
	exit 2
fi
rm -rf "$1"
mkdir -p "$1"; out=$(realpath "$1")
shift
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git -C "$tree" log -1 --format=%ct)}
version=$(sed -n 's/^version = "\(.*\)"/\1/p' "$tree/Cargo.toml" | head -1)
first=$(realpath "${1#*=}")
export ARCH=${1%%=*}

pack() { # folder below $work
	tar -C "$work" --sort=name --owner=0 --group=0 --numeric-owner --mode=go+rX,go-w --mtime="@$SOURCE_DATE_EPOCH" --format=ustar -c "$1" |
		gzip -n -9
}

"$here/sbom.py" "$tree/target/sbom" >/dev/null
cp "$tree/target/sbom/hostint.cdx.json" "$out/hostint-$version.cdx.json"
cp "$tree/target/sbom/third-party-licences.txt" "$here/seccomp.json" "$here/install.sh" "$out/"

# All architectures have the same files but for the binary, and the first binary runs here: completions are its output.
make -s -C "$tree" install BINARY="$first" DESTDIR="$work/stage" PREFIX=/usr/local
mv "$work"/stage/etc "$work/stage/usr/local/etc"
for pair; do
	name=hostint-$version-linux-${pair%%=*}
	mv "$work/stage/usr/local" "$work/$name"
	install -m 755 "${pair#*=}" "$work/$name/bin/hostint"
	pack "$name" >"$out/$name.tar.gz"
	mv "$work/$name" "$work/stage/usr/local"
done

for pair; do
	ARCH=${pair%%=*}
	export BINARY
	BINARY=$(realpath "${pair#*=}")
	"$here/deb/build.sh" "$out" >/dev/null
	"$here/rpm/build.sh" "$out" >/dev/null
done
"$here/image.py" "$out/hostint-$version-image.tar" "$@" >/dev/null

# A flat repository: deb [signed-by=KEYRING] URL ./
mkdir "$out/apt"
ln "$out"/*.deb "$out/apt/"
(
	cd "$out/apt"
	apt-ftparchive packages . >Packages
	gzip -n -9 -k Packages
	apt-ftparchive -o APT::FTPArchive::Release::Origin=hostint -o APT::FTPArchive::Release::Label=hostint \
		-o APT::FTPArchive::Release::Date="$(LC_ALL=C date -u -R -d "@$SOURCE_DATE_EPOCH")" release . >"$work/Release"
	mv "$work/Release" Release
	[ -z "${GPG_KEY:-}" ] || gpg --batch --yes --local-user "$GPG_KEY" --clearsign --output InRelease Release
)

cd "$out"
find . -type f ! -name SHA256SUMS -printf '%P\n' | LC_ALL=C sort | xargs -d '\n' sha256sum >"$work/SHA256SUMS"
mv "$work/SHA256SUMS" SHA256SUMS
if [ -n "${MINISIGN_KEY:-}" ]; then
	minisign -S -s "$MINISIGN_KEY" -m SHA256SUMS -t "hostint $version" >/dev/null
fi
echo "$out: hostint $version, $(wc -l <SHA256SUMS) files${MINISIGN_KEY:+, signed}"
