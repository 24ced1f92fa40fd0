#!/bin/bash
# Fetches Debian kernels for tests/vm/run.sh: kernels.sh DIR VERSION...   e.g. kernels.sh ~/kernels 6.1 6.12
# A version is a prefix; the newest amd64 kernel of it is taken, and DIR/VERSION links to it. Nothing is installed.
set -euo pipefail
[ $# -ge 2 ] || { echo "usage: kernels.sh DIR VERSION..." >&2; exit 2; }
dir=$(realpath -m "$1"); shift
mkdir -p "$dir"/apt/{state/lists/partial,cache/archives/partial} "$dir/deb"
cd "$dir"
# The mirror that this system uses, with the releases that have the kernels.
site=$(apt-get indextargets --format '$(SITE)' | grep -m 1 'debian/*$' | sed 's,/debian/*$,,')
key=/usr/share/keyrings/debian-archive-keyring.gpg
for suite in "debian bullseye" "debian-security bullseye-security" "debian bookworm" \
	"debian-security bookworm-security" "debian bookworm-backports" "debian trixie" "debian trixie-backports" \
	"debian sid"; do
	echo "deb [signed-by=$key] $site/${suite% *} ${suite#* } main"
done >apt/sources.list
cat >apt/apt.conf <<CONF
Dir::Etc::sourcelist "$dir/apt/sources.list"; Dir::Etc::sourceparts "/dev/null";
Dir::State "$dir/apt/state"; Dir::State::status "$dir/apt/status"; Dir::Cache "$dir/apt/cache";
APT::Sandbox::User "root"; Acquire::Languages "none";
CONF
: >apt/status
export APT_CONFIG=$dir/apt/apt.conf
apt-get update -qq
for version in "$@"; do
	name=$(apt-cache search --names-only "^linux-image-${version//./\\.}\.[0-9.]+.*-amd64$" | cut -d ' ' -f 1 |
		grep -v -e cloud -e rt- -e dbg -e unsigned | sort -V | tail -1) || true
	[ -n "$name" ] || { echo "kernels.sh: no kernel $version in Debian" >&2; exit 1; }
	full=${name#linux-image-}
	if [ ! -e "$full/done" ]; then
		rm -rf "$full" && mkdir "$full"
		# Newer kernels are in several packages of one version, and Debian may have only some of them.
		parts=$(apt-cache depends "$name" | tr -d '<>' | sed -n "s/^ *Depends: \(linux-.*-$full\)$/\1/p")
		# shellcheck disable=SC2086
		(cd deb && apt-get download -qq "$name" $parts) ||
			{ echo "kernels.sh: cannot download kernel $full" >&2; exit 1; }
		for deb in deb/linux-*-"${full}"_*.deb; do dpkg -x "$deb" "$full"; done
		rm -f deb/linux-*-"${full}"_*.deb
		[ -d "$full/lib/modules" ] || { mkdir -p "$full/lib" && ln -s ../usr/lib/modules "$full/lib/modules"; }
		cp "$full/boot/vmlinuz-$full" "$full/vmlinuz" 2>/dev/null || cp "$full/lib/modules/$full/vmlinuz" "$full/vmlinuz"
		depmod -b "$full" "$full"
		touch "$full/done"
	fi
	ln -sfn "$full" "$version"
	echo "kernel $version: $full"
done
