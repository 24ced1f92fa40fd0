#!/bin/bash
# Three guests with clocks of their own, which are free, slewed and set, measure each other's packets; a collector corrects
# the latencies. Is each true latency in its interval? clocks.sh DIR KERNEL [MINUTES]   (kernels by kernels.sh DIR)
# A run may end at any time: what was judged is added up in DIR/clocks-KERNEL, and the next run adds to it; without MINUTES
# the sums are only shown. The violated intervals of the last run are in DIR/clocks-KERNEL.log.
# How the truth is known: clocks/guest.c and clocks/judge.py. An interval that does not hold is an error. HOSTINT names a program other than the debug build.
set -euo pipefail
[ $# = 2 ] || [ $# = 3 ] || { echo "usage: clocks.sh DIR KERNEL [MINUTES]" >&2; exit 2; }
here=$(dirname "$(realpath "$0")")
cd "$here/../.."
dir=$(realpath "$1") kernel=$2 minutes=${3:-0}
state=$dir/clocks-$kernel log=$dir/clocks-$kernel.log
touch "$state"
if [ "$minutes" = 0 ]; then exec python3 "$here/clocks/judge.py" sums "$state"; fi

hostint=${HOSTINT:-$PWD/target/x86_64-unknown-linux-gnu/debug/hostint}
[ -n "${HOSTINT:-}" ] || cargo build --locked -q
# run.sh shows its guests the folder that it runs in; no build changes the program meanwhile.
work=$(mktemp -d)
space=hiclk$$
end() {
	for pid in $(jobs -p); do kill "$pid" 2>/dev/null || true; done
	ip netns pids $space 2>/dev/null | xargs -r kill 2>/dev/null || true
	ip netns del $space 2>/dev/null || true
	rm -rf "$work"
}
trap end EXIT
cp "$hostint" "$work/hostint"
gcc -O2 -Wall -Wextra -o "$work/guest" "$here"/clocks/*.c -lm
truncate -s 4096 "$work/page"

ip netns add $space
ip -n $space link set lo up
ip -n $space link add bridge0 type bridge mcast_snooping 0
ip -n $space addr add 10.77.0.254/24 dev bridge0
ip -n $space link set bridge0 up
# The first path is asymmetric, the second has a queue that is empty now and then.
for n in 1 2 3; do
	ip -n $space tuntap add t$n mode tap
	ip -n $space link set t$n master bridge0 up
done
modprobe sch_netem 2>/dev/null || true
tc -n $space qdisc add dev t1 root netem delay 300us 2>/dev/null || true
tc -n $space qdisc add dev t2 root netem delay 100us 100us 2>/dev/null || true

# Crystals: the counter's true rate, and what each guest takes it for.
khz=$("$work/guest" khz)
off_ppm=(0 20 -35 45)
seconds=$((minutes * 60))
cat >"$work/run" <<'GUEST'
n=$1 work=$2 seconds=$3 seed=$4
for dev in /sys/class/net/*; do
	[ "$(cat "$dev/address")" = 52:54:00:77:00:0$n ] && name=$(basename "$dev")
done
ip link set "$name" name e0
ip addr add 10.77.0.$n/24 dev e0
ip link set e0 up
echo "clock source: $(cat /sys/devices/system/clocksource/clocksource0/current_clocksource)"
for device in /sys/bus/pci/devices/*; do
	[ "$(cat "$device/vendor"):$(cat "$device/device")" = 0x1af4:0x1110 ] && page=$device/resource2
done
"$work/hostint" sink --dev e0 --hook tc --node-id $n --collector 10.77.0.254 --report-period 100ms 2>&1 | head -50 &
for _ in $(seq 600); do "$work/hostint" status >/dev/null 2>&1 && break; sleep 0.2; done
"$work/hostint" source attach --dev e0 --node-id $n
others=
for other in 1 2 3; do [ $other = $n ] || others="$others 10.77.0.$other"; done
for other in $others; do "$work/hostint" source add-dest $other || true; done
for port in 7001 7002; do "$work/guest" talk $port 100 $others & done
"$work/guest" truth "$page" $n "$seed" "$seconds"
GUEST

ip netns exec $space "$work/hostint" collect --json --listen 10.77.0.254 >"$work/reports" 2>"$work/collect.log" &
"$work/guest" host "$work/page" $((seconds + 600)) >"$work/host" &
for n in 1 2 3; do
	(cd "$work" && VM_CPUS=1 VM_MEMORY=${VM_MEMORY:-768M} VM_TIMEOUT=$((seconds + 900)) \
		VM_APPEND="tsc_early_khz=$((khz + khz * off_ppm[n] / 1000000)) pmtmr=0 tsc=nowatchdog" \
		VM_ARGS="-machine pc,hpet=off -netdev tap,id=t,ifname=t$n,script=no,downscript=no
			-device virtio-net-pci,netdev=t,mac=52:54:00:77:00:0$n
			-object memory-backend-file,id=page,size=4096,mem-path=$work/page,share=on
			-device ivshmem-plain,memdev=page" \
		ip netns exec $space nice -n 19 "$here/run.sh" "$dir/$kernel" bash "$work/run" \
		$n "$work" $seconds $RANDOM >"$work/truth$n" 2>&1) &
done
COUNTER_KHZ=$khz python3 "$here/clocks/judge.py" judge "$state" "$log" "$work" $seconds
