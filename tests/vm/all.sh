#!/bin/bash
# The programs' own tests, VLAN devices, virtio-net cards and programs bound to an interface under other kernels:
# all.sh DIR GUEST...   GUEST: a kernel by kernels.sh DIR; or KERNEL-locked, which has lockdown=confidentiality, or KERNEL-typeless,
# which does not describe its types: there the roles alone are tried. ARCH=arm64: kernels of arm64, on VM_FILES by root.sh.
# TESTS names files of tests as ROOM/MODULE, all that need nothing but the kernel by default.
set -euo pipefail
here=$(dirname "$(realpath "$0")")
cd "$here/../.."
. packaging/architecture.sh
dir=$(realpath "$1"); shift
datapath=$(echo datapath/{verifier,flood,sink,sink_refusals,vxlan_gpe,merged_segments,sequence,several_cpus})
datapath+=" $(echo datapath/{source,source_refusals,source_numbers,watchlist,peer_mss,peer_errors})"
tests=${TESTS:-$datapath $(echo lease/{answer,renewal,source})}
scripts="roles vlan postcards signed jump nic virtio"
# An emulated guest is slow: those of Debian 12 and 13 try all tables, others those that depend most on the kernel.
few="datapath/verifier datapath/several_cpus lease/answer"
if [ -n "$RUN" ]; then
	echo "all.sh: not tried on $ARCH: ${scripts#roles } (of devices and clocks, not of instructions)"
	scripts=roles
fi
list=$(mktemp)
mkdir -p target
programs=$(mktemp -d "$PWD/target/vm.XXXXXX")
trap 'rm -rf "$list" "$programs"' EXIT
cargo test --locked --no-run --test datapath --test lease 2>&1 | tee "$list" | grep -E '^(error|warning)' || true
cargo build --locked -q
# No build meanwhile changes what the guests run.
hostint=$programs/hostint
cp "target/$TARGET/debug/hostint" "$hostint"
sed -n "s|^ *Executable tests/\(.*\)/main.rs (\(.*\))$|\1 \2|p" "$list" | while read -r room program; do
	cp "$program" "$programs/$room"
done
# Each program with its modules, as PROGRAM=MODULE,MODULE: what one has loaded serves all of them.
runs_of() {
	for room in $(printf '%s\n' "$@" | cut -d / -f 1 | uniq); do
		[ -e "$programs/$room" ] || { echo "all.sh: the tests do not compile" >&2; return 1; }
		echo "$programs/$room=$(printf '%s\n' "$@" | sed -n "s|^$room/||p" | paste -sd ,)"
	done
}
export VM_TIMEOUT=${VM_TIMEOUT:-5400}
code=0
for guest in "$@"; do
	echo "== kernel $guest"
	begun=$SECONDS
	kernel=${guest%-locked} kernel=${kernel%-typeless}${RUN:+-$ARCH}
	case $guest in
	*-locked) append=lockdown=confidentiality ;;
	*-typeless) append=initcall_blacklist=btf_vmlinux_init ;;
	*) append= ;;
	esac
	if [ -n "$append" ]; then
		VM_APPEND=$append "$here/run.sh" "$dir/$kernel" tests/vm/roles.sh "$hostint" || code=1
		continue
	fi
	chosen=$tests
	if [ -n "$RUN" ] && [ "$guest" != 6.1 ] && [ "$guest" != 6.12 ]; then
		chosen=${TESTS:-$few}
		echo "all.sh: of the tables only ${chosen// /, }"
	fi
	# shellcheck disable=SC2086
	runs=$(runs_of $chosen)
	# shellcheck disable=SC2016
	"$here/run.sh" "$dir/$kernel" bash -c '
		code=0
		tests/vm/tables.sh $1 || code=1
		for script in $3; do "tests/vm/$script.sh" "$2" || code=1; done
		exit $code' all.sh "$(echo $runs)" "$hostint" "$scripts" || code=1
	echo "== kernel $guest took $(((SECONDS - begun) / 60)) min"
done
[ $code = 0 ] && echo "all.sh: all passed on $*"
exit $code
