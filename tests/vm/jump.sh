#!/bin/bash
# The clock of a host is three days ahead for five seconds while its collector has a store: the history is whole before and
# after, as fine as ever, and nothing of it lies in the future. jump.sh HOSTINT
set -euo pipefail
hostint=$(realpath "$1")
work=$(mktemp -d)
collector= traffic= sinks=()
end() {
	kill $collector $traffic "${sinks[@]}" 2>/dev/null || true
	wait 2>/dev/null || true
	for host in va vb; do ip netns del $host 2>/dev/null || true; done
	umount "$work/bpf" 2>/dev/null || true
	rm -rf "$work"
}
trap end EXIT
# ip netns exec covers the guest's own.
mkdir "$work/bpf"
mount -t bpf bpf "$work/bpf"
export HOSTINT_BPFFS=$work/bpf

. "$(dirname "$(realpath "$0")")/transfer.sh"

for host in va vb; do
	ip netns add $host
	ip -n $host link set lo up
done
ip link add e0 netns va type veth peer name e0 netns vb
ip -n va addr add 10.5.0.1/24 dev e0
ip -n vb addr add 10.5.0.2/24 dev e0
for host in va vb; do
	ip -n $host link set e0 up
done

collect() {
	ip netns exec vb "$hostint" collect --listen 10.5.0.2 --store "$work/history.db" >"$work/lines" 2>"$work/collect" &
	collector=$!
	for _ in $(seq 400); do
		if grep -q collecting "$work/collect"; then return; fi
		sleep 0.05
	done
	fail "no collector: $(cat "$work/collect")"
}
collect
node=1
for host in va vb; do
	ip netns exec $host "$hostint" sink --dev e0 --node-id $node --summary-period 1s --collector 10.5.0.2 2>"$work/sink-$host" &
	sinks+=($!)
	await_attached "$work/sink-$host"
	node=$((node + 1))
done
ip netns exec va "$hostint" source attach --dev e0 2>"$work/source" || fail "$(cat "$work/source")"
ip netns exec va "$hostint" source add-dest 10.5.0.2
ip netns exec va python3 -c '
import socket, time
while True:
    # A flow that began before the path was proved stays untagged.
    udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    for _ in range(100):
        udp.sendto(bytes(100), ("10.5.0.2", 7000))
        time.sleep(0.01)' &
traffic=$!

# Packets from 1 to 2 in the history, the period of its points in seconds, and how many of these are after now.
history() {
	"$hostint" history series --source 1 --sink 2 --since 10min --points 1000 --store "$work/history.db" --json | python3 -c '
import json, sys, time
series = json.load(sys.stdin)["series"]
points = series["points"]
ahead = [one for one in points if one["begin_ns"] > (time.time() + 60) * 1e9 and one["packets"]]
print(sum(one["packets"] for one in points), series["period_ns"] // 10**9, len(ahead))'
}
now() { cut -d. -f1 /proc/uptime; }
# On a slow machine the path takes its time to be proved.
await_packets() { # at least this many, sentence
	local told
	for _ in $(seq 240); do
		read -r told _ <<<"$(history)"
		if [ "${told:-0}" -ge "$1" ]; then return; fi
		sleep 0.5
	done
	fail "$2: $told packets in the history, not $1: $(cat "$work/collect")"
}

await_packets 1000 "before"
read -r before period ahead <<<"$(history)"
echo "before: $before packets, points of $period s"
right=$(date +%s) begun=$(now)
date -s @$((right + 3 * 86400)) >/dev/null
sleep 5
date -s @$((right + $(now) - begun)) >/dev/null
read -r told period ahead <<<"$(history)"
[ "$told" -ge "$before" ] || fail "directly after: $told packets of $before are left"
await_packets $((before + 1000)) "after"
read -r told period ahead <<<"$(history)"
echo "after: $told packets, points of $period s, $ahead of them in the future"
[ "$period" -le 10 ] || fail "the history is no longer fine: points of $period s"
[ "$ahead" = 0 ] || fail "$ahead points are in the future"
kill -INT $collector
wait $collector || fail "the collector failed: $(cat "$work/collect")"
collect
await_packets "$((told + 1000))" "with a new collector"
read -r told period ahead <<<"$(history)"
echo "with a new collector: $told packets, points of $period s, $ahead in the future"
[ "$period" -le 10 ] && [ "$ahead" = 0 ] || fail "not as it was"
"$hostint" history pairs --since 10min --store "$work/history.db"
echo "jump.sh: all passed on $(uname -r)"
