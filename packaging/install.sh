#!/bin/sh
# Installs a release of hostint below /usr/local: install.sh [--key KEY] URL
#
# URL is the folder of a release, which has SHA256SUMS. KEY is the public key of minisign(1), or its file: SHA256SUMS must then be
# signed by it. Everything is fetched into a temporary folder and checked there before anything else is written; root (by sudo) is
# needed for the last step alone. DESTDIR goes before each path.
set -eu

fail() {
	echo "install.sh: $*" >&2
	exit 1
}

fetch() { # name of a file of the release
	if command -v curl >/dev/null; then
		curl -fsSL --retry 2 -o "$work/$1" "$url/$1" || return 1
	else
		wget -q -O "$work/$1" "$url/$1" || return 1
	fi
}

# Proves that SHA256SUMS is what the owner of the key signed.
check_signature() {
	command -v minisign >/dev/null || fail "cannot check the signature without minisign (install the package minisign)"
	fetch SHA256SUMS.minisig || fail "cannot fetch $url/SHA256SUMS.minisig: the release is not signed, or the address is wrong"
	if [ -f "$key" ]; then set -- -p "$key"; else set -- -P "$key"; fi
	minisign -Vq "$@" -m "$work/SHA256SUMS" || fail "SHA256SUMS is not signed by this key: nothing was installed"
}

# Prints the name of the only archive in SHA256SUMS for this processor.
archive_of() {
	case $(uname -m) in
	x86_64) arch=amd64 ;;
	aarch64) arch=arm64 ;;
	*) fail "there is no hostint for $(uname -m)" ;;
	esac
	found=$(sed -n "s/^[0-9a-f]\{64\}  \(hostint-[0-9A-Za-z.~+-]*-linux-$arch\.tar\.gz\)\$/\1/p" "$work/SHA256SUMS")
	[ "$(printf '%s\n' "$found" | grep -c .)" = 1 ] || fail "SHA256SUMS does not name one archive for $arch"
	printf '%s\n' "$found"
}

# Copies a tree as root does: programs are replaced as a whole, and a config file that is there stays.
copy() {
	from=$1 to=${DESTDIR:-}
	(cd "$from" && find bin share lib -type f) | while read -r file; do
		mode=644
		[ "${file%/*}" != bin ] || mode=755
		install -D -m $mode "$from/$file" "$to/usr/local/$file.new"
		mv "$to/usr/local/$file.new" "$to/usr/local/$file"
	done
	(cd "$from" && find etc -type f) | while read -r file; do
		[ -e "$to/$file" ] || install -D -m 644 "$from/$file" "$to/$file"
	done
	[ -z "$to" ] || return 0
	# As the packages do: who may ask a sink's daemon, and the user of the collector.
	getent group hostint >/dev/null || groupadd --system hostint
	getent passwd hostint-collector >/dev/null ||
		useradd --system --user-group --no-create-home --home-dir /nonexistent --shell /usr/sbin/nologin hostint-collector
	[ -d /var/lib/hostint ] || install -d -o hostint-collector -g hostint-collector -m 750 /var/lib/hostint
}

main() {
	key=
	if [ "${1:-}" = --copy ]; then
		copy "$2"
		return
	fi
	if [ "${1:-}" = --key ] && [ $# = 3 ]; then
		key=$2
		shift 2
	fi
	[ $# = 1 ] && [ "${1#-}" = "$1" ] || fail "usage: install.sh [--key KEY] URL"
	url=${1%/}
	work=$(mktemp -d)
	trap 'rm -rf "$work"' EXIT

	fetch SHA256SUMS || fail "cannot fetch $url/SHA256SUMS"
	[ -z "$key" ] || check_signature
	archive=$(archive_of)
	fetch "$archive" || fail "cannot fetch $url/$archive"
	(cd "$work" && grep "  $archive\$" SHA256SUMS | sha256sum --check --strict --quiet >/dev/null 2>&1) ||
		fail "$archive is not the file that SHA256SUMS names: nothing was installed"
	tar -xzf "$work/$archive" -C "$work"
	tree=$work/${archive%.tar.gz}

	if [ "$(id -u)" = 0 ] || [ -n "${DESTDIR:-}" ]; then
		copy "$tree"
	else
		# A script that is read from a pipe has no file that sudo could start.
		sudo sh "$tree/share/hostint/install.sh" --copy "$tree"
	fi
	"$tree/bin/hostint" --version
	echo "Name the interfaces in /etc/hostint/hostint.toml; then: sudo systemctl daemon-reload && sudo systemctl enable --now hostint"
}

# The last line: a script that was cut off on its way does nothing.
main "$@"
