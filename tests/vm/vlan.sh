#!/bin/bash
# VLAN devices, where the kernel has them: what is tagged before and behind an 802.1Q or 802.1ad tag is measured and
# arrives as it was sent. vlan.sh HOSTINT
set -euo pipefail
hostint=$(realpath "$1")
work=$(mktemp -d)
trap 'ip netns del va 2>/dev/null || true; ip netns del vb 2>/dev/null || true; rm -rf "$work"' EXIT
modprobe 8021q 2>/dev/null || true

. "$(dirname "$(realpath "$0")")/transfer.sh"

run_case() { # sentence, a's device for source, b's device for sink, sink's flags, source's flags
	for host in va vb; do
		ip netns add $host
		ip -n $host link set lo up
	done
	ip link add e0 netns va type veth peer name e0 netns vb
	for host in va vb; do
		ip -n $host link set e0 up
		ip -n $host link add link e0 name e0.5 type vlan id 5
		ip -n $host link set e0.5 up
		ip -n $host link add link e0.5 name e0.5.7 type vlan id 7
		ip -n $host link set e0.5.7 up
	done
	ip -n va addr add 10.5.0.1/24 dev "$6"
	ip -n vb addr add 10.5.0.2/24 dev "$6"
	ip netns exec vb "$hostint" sink --dev "$3" --node-id 2 $4 2>"$work/sink" &
	local sink=$!
	await_attached "$work/sink"
	ip netns exec va "$hostint" source attach --dev "$2" --node-id 1 --force --foreground $5 2>"$work/source" &
	local source=$!
	await_attached "$work/source"
	ip netns exec va "$hostint" source add-dest 10.5.0.2 2>&1 | tee "$work/lease"
	grep -q "packets are tagged" "$work/lease" || fail "$1: no lease"
	transfer "$1"
	compare "$1"
	kill $sink $source; wait $sink $source || true
	ip netns exec va "$hostint" source detach 2>/dev/null
	ip netns exec vb "$hostint" sink detach 2>/dev/null
	ip netns del va; ip netns del vb
}

run_case "on the VLAN device, seen on the VLAN device" e0.5 e0.5 "--xdp-mode generic" "" e0.5
run_case "on the VLAN device, seen before the tag" e0.5 e0 "" "" e0.5
run_case "before the tag, seen before the tag" e0 e0 "" "" e0.5
run_case "before the tag, extension-udp" e0 e0 "" "--encap extension-udp --superpackets skip" e0.5
run_case "two tags" e0 e0 "" "" e0.5.7
run_case "two tags, over-tcp-udp" e0 e0 "" "--superpackets skip" e0.5.7
if [ "$(uname -r | cut -d. -f1)" -gt 6 ] || uname -r | grep -qE '^6\.([6-9]|[1-9][0-9])'; then
	run_case "before the tag, sink at TC" e0 e0 "--hook tc" "" e0.5
	run_case "two tags, sink at TC" e0 e0 "--hook tc" "" e0.5.7
fi
echo "vlan.sh: all passed"
