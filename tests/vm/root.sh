#!/bin/bash
# Makes the root file system of a small Debian 12 with systemd, in which packages are installed: root.sh DIR
# It is made once and never written to by tests. For another architecture (ARCH) it has what tests/vm/all.sh needs: files alone,
# because no script of a package can run here.
set -euo pipefail
[ $# = 1 ] || { echo "usage: root.sh DIR" >&2; exit 2; }
dir=$(realpath -m "$1")
[ ! -e "$dir/done" ] || exit 0
rm -rf "$dir"
mkdir -p "$dir"
site=$(apt-get indextargets --format '$(SITE)' | grep -m 1 'debian/*$' | sed 's,/*$,,')
. "$(dirname "$(realpath "$0")")/../../packaging/architecture.sh"
packages=iproute2,iputils-ping,kmod,logrotate,man-db,procps,python3,rpm,systemd-sysv
[ -z "$RUN" ] || packages=busybox-static,ethtool,iproute2,kmod,nftables,procps,python3
if ! debootstrap --arch="$ARCH" ${RUN:+--foreign} --variant=minbase --include=$packages bookworm "$dir/root" "$site" >"$dir/log" 2>&1; then
	tail -20 "$dir/log" >&2
	echo "root.sh: cannot make a Debian 12 in $dir (see $dir/log)" >&2
	exit 1
fi
if [ -n "$RUN" ]; then
	for deb in "$dir"/root/var/cache/apt/archives/*.deb; do
		dpkg-deb --fsys-tarfile "$deb" | tar -x --keep-directory-symlink -C "$dir/root"
	done
	# Where it can mount nothing, debootstrap makes a link.
	rm -f "$dir/root/proc"
	mkdir -p "$dir/root/proc"
	for file in passwd group; do cp "$dir/root/usr/share/base-passwd/$file.master" "$dir/root/etc/$file"; done
fi
rm -rf "$dir"/root/var/cache/apt/archives/*.deb "$dir"/root/var/lib/apt/lists/*
touch "$dir/done"
