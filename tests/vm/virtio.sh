#!/bin/bash
# Two network cards of the guest (virtio-net) on one hub, a host each: native XDP in a real driver, superpackets
# segmented by a device. virtio.sh HOSTINT
set -euo pipefail
hostint=$(realpath "$1")
work=$(mktemp -d)
trap 'ip netns del va 2>/dev/null || true; ip netns del vb 2>/dev/null || true; rm -rf "$work"' EXIT
. "$(dirname "$(realpath "$0")")/transfer.sh"

cards=()
for dev in /sys/class/net/*; do
	[ "$(basename "$(realpath "$dev/device/driver" 2>/dev/null || true)")" = virtio_net ] && cards+=("$(basename "$dev")")
done
[ "${#cards[@]}" = 2 ] || fail "${#cards[@]} virtio-net cards: 2 are needed"
ip netns add va
ip netns add vb
ip link set "${cards[0]}" netns va name e0
ip link set "${cards[1]}" netns vb name e0
n=0
for host in va vb; do
	n=$((n + 1))
	ip -n $host link set lo up
	ip -n $host addr add 10.5.0.$n/24 dev e0
	ip -n $host link set e0 up
done

run_case() { # sentence, sink's flags, source's flags
	ip netns exec vb "$hostint" sink --dev e0 --node-id 2 $2 2>"$work/sink" &
	local sink=$!
	await_attached "$work/sink"
	grep attached "$work/sink"
	ip netns exec va "$hostint" source attach --dev e0 --node-id 1 --force --foreground $3 2>"$work/source" &
	local source=$!
	await_attached "$work/source"
	ip netns exec va "$hostint" source add-dest 10.5.0.2 2>&1 | tee "$work/lease"
	grep -q "packets are tagged" "$work/lease" || fail "$1: no lease"
	transfer "$1"
	compare "$1"
	kill $sink $source; wait $sink $source || true
	ip netns exec va "$hostint" source detach 2>/dev/null
	ip netns exec vb "$hostint" sink detach 2>/dev/null
}

run_case "native XDP, superpackets" "--xdp-mode native" ""
run_case "native XDP, over-tcp-udp" "--xdp-mode native" "--superpackets skip"
run_case "native XDP, extension-udp" "--xdp-mode native" "--encap extension-udp --superpackets skip"
run_case "native XDP, network card's timestamps, of which there are none" "--xdp-mode native --nic-timestamps" ""
run_case "generic XDP, superpackets" "--xdp-mode generic" ""
echo "virtio.sh: all passed"
