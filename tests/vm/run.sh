#!/bin/bash
# Runs a command under another kernel, in QEMU, on this machine's files: run.sh KERNEL COMMAND...
# KERNEL is a folder that kernels.sh made. What the command writes stays in the guest's memory. The exit code is the
# command's; 99: the guest died without one. Also a runner for cargo:
#   CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_RUNNER="tests/vm/run.sh ~/kernels/6.1" cargo test --test datapath verifier
# VM_APPEND adds to the kernel's command line, VM_ARGS to QEMU's, and VM_CPUS is the number of CPUs.
# A kernel of another architecture needs files of its own: with VM_FILES=DIR the guest has those, and the folder that this runs in.
# With VM_ROOT=DIR the guest has that root file system and runs systemd, VM_SHARE=DIR is its /mnt, and COMMAND a service.
set -euo pipefail
[ $# -ge 2 ] || { echo "usage: run.sh KERNEL COMMAND..." >&2; exit 2; }
here=$(dirname "$(realpath "$0")")
kernel=$(realpath "$1"); shift
version=$(ls "$kernel/lib/modules")
modules=$kernel/lib/modules/$version
case $version in
# Pointer authentication in full is most of what QEMU then computes.
*-arm64*) machine=(qemu-system-aarch64 -M virt -cpu "max,pauth-impdef=on") console=ttyAMA0 ;;
*) machine=(qemu-system-x86_64 -cpu max) console=ttyS0 ;;
esac
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work"/root/{bin,proc,sys,dev,modules}
busybox=$(command -v busybox)
[ -z "${VM_FILES:-}" ] || busybox=$VM_FILES/bin/busybox
cp "$busybox" "$work/root/bin/busybox"
install -m 755 "$here/init.sh" "$work/root/init"
# What is needed to find the file system, each after what it depends on.
for name in virtio_pci 9pnet_virtio 9p overlay ${VM_ROOT:+veth sch_ingress cls_bpf}; do
	modprobe -d "$kernel" -S "$version" --show-depends "$name" 2>/dev/null | sed -n 's/^insmod \([^ ]*\).*/\1/p'
done | awk '!seen[$0]++' | while read -r file; do
	base=$(basename "$file"); base=${base%.xz}; base=${base%.zst}
	case $file in
	*.xz) xz -dc "$file" ;;
	*.zst) zstd -qdc "$file" ;;
	*) cat "$file" ;;
	esac >"$work/root/modules/$base"
	echo "$base" >>"$work/root/modules/order"
done
[ -e "$work/root/modules/order" ] || : >"$work/root/modules/order"
# The folders that the guest's own /tmp and /run would hide.
: >"$work/root/keep"
if [ -z "${VM_ROOT:-}" ]; then
	folders=("$PWD")
	[ -n "${VM_FILES:-}" ] || folders+=("$(dirname "$modules")")
	for folder in "${folders[@]}"; do
		case $folder in /tmp/* | /run/*) echo "$folder" >>"$work/root/keep" ;; esac
	done
fi
# The folders that come in besides the guest's own files, each at its place there.
share=() places=()
if [ -n "${VM_FILES:-}" ]; then
	for folder in "$PWD:$PWD" "$(realpath "$(dirname "$modules")"):/lib/modules"; do
		places+=("${folder#*:}")
		share+=(-virtfs "local,path=${folder%%:*},mount_tag=place${#places[@]},security_model=none,readonly=on,multidevs=remap")
	done
fi
printf '%s\n' "${places[@]}" >"$work/root/places"
if [ -n "${VM_ROOT:-}" ]; then
	share=(-virtfs "local,path=$VM_SHARE,mount_tag=share,security_model=none,readonly=on")
	cat >"$work/root/job" <<JOB
$(printf '%q ' "$@") </dev/null >/dev/$console 2>&1
code=\$?
dmesg | grep -E 'BUG:|Oops|WARNING:' >/dev/$console
echo "@@code \$code" >/dev/$console
echo o >/proc/sysrq-trigger
sleep 60
JOB
	cat >"$work/root/job.service" <<UNIT
[Unit]
After=multi-user.target
[Service]
ExecStart=/bin/bash /run/job
StandardOutput=null
StandardError=null
UNIT
else
	cat >"$work/root/job" <<JOB
mkdir -p /lib/modules
[ -d /lib/modules/$version ] || mount --bind $(dirname "$modules") /lib/modules
export PATH=$PATH HOME=/root TERM=dumb RUST_BACKTRACE=1
for module in veth sch_ingress cls_bpf 8021q dummy tun nf_tables nft_compat virtio_net sch_netem vxlan; do
	modprobe \$module 2>/dev/null
done
ip link set lo up
cd $(printf %q "$PWD")
$(printf '%q ' "$@")
code=\$?
dmesg | grep -E 'BUG:|Oops|WARNING:' | head -3
echo "@@code \$code"
sync
echo o >/proc/sysrq-trigger
# The file system is gone before the power is, and without this process the kernel panics.
while :; do :; done
JOB
fi
# QEMU 7.2 can go on executing a breakpoint that the guest's kernel has put into its code and taken out again (5.10 does so
# with each XDP program that a test runs). The CPU takes that exception for ever, which the kernel calls a soft lockup: its
# trace has asm_exc_int3, and a jump where the breakpoint was. Code that is translated anew is executed as it is.
free_guest() {
	local thread
	for thread in /proc/"$(cat "$work/pid")"/task/*; do
		read -r ran waited _ <"$thread/schedstat"
		case $(cat "$thread/comm") in
		CPU*) echo "run.sh: $(cat "$thread/comm") ran $((ran / 1000000000)) s and waited $((waited / 1000000000)) s" ;;
		esac
	done
	echo "run.sh: the guest's code is translated anew"
	python3 "$here/translate.py" "$work/monitor" || true
}
(cd "$work/root" && find . | cpio -o -H newc --quiet | gzip -1) >"$work/initrd"
# TCG: a /dev/kvm that is there need not be of use.
timeout "${VM_TIMEOUT:-1200}" "${machine[@]}" -accel "${VM_ACCEL:-tcg,thread=multi}" -m "${VM_MEMORY:-3G}" -smp "${VM_CPUS:-2}" \
	-nodefaults -no-user-config -name guest,debug-threads=on -pidfile "$work/pid" \
	-monitor "unix:$work/monitor,server=on,wait=off" -display none -serial stdio -no-reboot \
	-netdev hubport,id=n0,hubid=0 -device virtio-net-pci,netdev=n0,mac=52:54:00:00:00:01,romfile= \
	-netdev hubport,id=n1,hubid=0 -device virtio-net-pci,netdev=n1,mac=52:54:00:00:00:02,romfile= \
	-virtfs local,path="${VM_ROOT:-${VM_FILES:-/}}",mount_tag=root,security_model=none,readonly=on,multidevs=remap "${share[@]}" ${VM_ARGS:-} \
	-kernel "$kernel/vmlinuz" -initrd "$work/initrd" -append "console=$console quiet panic=-1 no_timer_check systemd.unit=multi-user.target systemd.wants=job.service systemd.mask=serial-getty@$console.service ${VM_APPEND:-}" </dev/null 2>&1 |
	stdbuf -oL tr -d '\r' | tee "$work/log" | grep --line-buffered -av "^@@code" |
	while IFS= read -r line; do
		printf '%s\n' "$line"
		case $line in *"soft lockup"*) free_guest ;; esac
	done
code=$(sed -n 's/^@@code //p' "$work/log" | tail -1)
exit "${code:-99}"
