#!/bin/bash
# Makes the root file system of a small Debian 12 with systemd, in which packages are installed: root.sh DIR
# It is made once and never written to by tests.
set -euo pipefail
[ $# = 1 ] || { echo "usage: root.sh DIR" >&2; exit 2; }
dir=$(realpath -m "$1")
[ ! -e "$dir/done" ] || exit 0
rm -rf "$dir"
mkdir -p "$dir"
site=$(apt-get indextargets --format '$(SITE)' | grep -m 1 'debian/*$' | sed 's,/*$,,')
packages=iproute2,iputils-ping,kmod,logrotate,man-db,procps,python3,rpm,systemd-sysv
if ! debootstrap --variant=minbase --include=$packages bookworm "$dir/root" "$site" >"$dir/log" 2>&1; then
	tail -20 "$dir/log" >&2
	echo "root.sh: cannot make a Debian 12 in $dir (see $dir/log)" >&2
	exit 1
fi
rm -rf "$dir"/root/var/cache/apt/archives/*.deb "$dir"/root/var/lib/apt/lists/*
touch "$dir/done"
