#!/bin/bash
# Fetches Debian kernels for tests/vm/run.sh: kernels.sh DIR VERSION...   e.g. kernels.sh ~/kernels 6.1 6.12
# A version is a prefix; the newest kernel of it for ARCH is taken, and DIR/VERSION links to it, or for another architecture than
# this machine's DIR/VERSION-ARCH. 6.12-16k is the one whose pages have 16 KiB (Debian has none with 64 KiB). Nothing is
# installed.
set -euo pipefail
[ $# -ge 2 ] || { echo "usage: kernels.sh DIR VERSION..." >&2; exit 2; }
. "$(dirname "$(realpath "$0")")/../../packaging/architecture.sh"
of=${RUN:+-$ARCH}
dir=$(realpath -m "$1"); shift
mkdir -p "$dir/apt$of"/{state/lists/partial,cache/archives/partial} "$dir/deb"
cd "$dir"
# The mirror that this system uses, with the releases that have the kernels.
site=$(apt-get indextargets --format '$(SITE)' | grep -m 1 'debian/*$' | sed 's,/debian/*$,,')
key=/usr/share/keyrings/debian-archive-keyring.gpg
for suite in "debian bullseye" "debian-security bullseye-security" "debian bookworm" \
	"debian-security bookworm-security" "debian bookworm-backports" "debian trixie" "debian trixie-backports" \
	"debian sid"; do
	echo "deb [signed-by=$key] $site/${suite% *} ${suite#* } main"
done >"apt$of/sources.list"
cat >"apt$of/apt.conf" <<CONF
Dir::Etc::sourcelist "$dir/apt$of/sources.list"; Dir::Etc::sourceparts "/dev/null";
Dir::State "$dir/apt$of/state"; Dir::State::status "$dir/apt$of/status"; Dir::Cache "$dir/apt$of/cache";
APT::Architecture "$ARCH"; APT::Architectures { "$ARCH"; };
APT::Sandbox::User "root"; Acquire::Languages "none";
CONF
: >"apt$of/status"
export APT_CONFIG=$dir/apt$of/apt.conf
apt-get update -qq
# Fetches a package, unless it is there. Its name is that of the kernel.
fetch() {
	local full=${1#linux-image-} parts
	[ ! -e "$full/done" ] || return 0
	rm -rf "$full" && mkdir "$full"
	# Newer kernels are in several packages of one version, and Debian may have only some of them.
	parts=$(apt-cache depends "$1" | tr -d '<>' | sed -n "s/^ *Depends: \(linux-.*-$full\)$/\1/p")
	# shellcheck disable=SC2086
	(cd deb && apt-get download -qq "$1" $parts 2>../errors) || return 1
	for deb in deb/linux-*-"${full}"_*.deb; do dpkg -x "$deb" "$full" || return 1; done
	rm -f deb/linux-*-"${full}"_*.deb
	[ -d "$full/lib/modules" ] || { mkdir -p "$full/lib" && ln -s ../usr/lib/modules "$full/lib/modules"; }
	cp "$full/boot/vmlinuz-$full" "$full/vmlinuz" 2>/dev/null || cp "$full/lib/modules/$full/vmlinuz" "$full/vmlinuz" || return 1
	depmod -b "$full" "$full" || return 1
	touch "$full/done"
}
for version in "$@"; do
	number=${version%-16k} found=
	names=$(apt-cache search --names-only "^linux-image-${number//./\\.}\.[0-9.]+.*-$ARCH${version#"$number"}$" | cut -d ' ' -f 1 |
		grep -v -e cloud -e rt- -e dbg -e unsigned | sort -Vr) || true
	[ -n "$names" ] || { echo "kernels.sh: no kernel $version in Debian" >&2; exit 1; }
	# The newest of an old release may be in its lists and no longer at the mirror.
	for name in $names; do
		if fetch "$name"; then found=${name#linux-image-}; break; fi
		rm -rf "${name#linux-image-}"
	done
	[ -n "$found" ] || { cat errors >&2; echo "kernels.sh: cannot download kernel $version" >&2; exit 1; }
	ln -sfn "$found" "$version$of"
	echo "kernel $version$of: $found"
done
