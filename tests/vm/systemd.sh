#!/bin/bash
# The service and the .deb under a real systemd, in QEMU: systemd.sh ROOT KERNEL...   (by root.sh; kernels by kernels.sh)
# The package is made from the release build that is there, twice: as it is and as a later version.
set -euo pipefail
here=$(dirname "$(realpath "$0")")
root=$(realpath "$1")/root; shift
share=$(mktemp -d)
trap 'rm -rf "$share"' EXIT
cp "$here/systemd-guest.sh" "$here/steady.py" "$share/"
"$here/../../packaging/deb/build.sh" "$share/first"
"$here/../../packaging/deb/build.sh" "$share/later" +later
code=0
for kernel in "$@"; do
	echo "== kernel $kernel"
	VM_ROOT=$root VM_SHARE=$share VM_TIMEOUT=${VM_TIMEOUT:-2400} "$here/run.sh" "$kernel" bash /mnt/systemd-guest.sh || code=1
done
[ $code = 0 ] && echo "systemd.sh: all passed in $SECONDS s"
exit $code
