#!/bin/bash
# Postcards on this kernel: drops, with reasons where the kernel gives some; hops, also between VLANs; queues.
# postcards.sh HOSTINT
set -euo pipefail
hostint=$(realpath "$1")
work=$(mktemp -d)
trap 'for one in pa pm pb; do ip netns del $one 2>/dev/null || true; done; rm -rf "$work"' EXIT
modprobe 8021q 2>/dev/null || true
fail() { echo "postcards.sh: $*" >&2; cat "$work"/* >&2; exit 1; }

# pa - pm - pb, each link with a VLAN of its own: 10.6.1.0/24 has the number 5, 10.6.2.0/24 the number 6.
for host in pa pm pb; do ip netns add $host; ip -n $host link set lo up; done
ip link add e0 netns pa type veth peer name m0 netns pm
ip link add e0 netns pb type veth peer name m1 netns pm
vlan() { # host device number address
	ip -n "$1" link set "$2" up
	ip -n "$1" link add link "$2" name "$2.$3" type vlan id "$3"
	ip -n "$1" addr add "$4/24" dev "$2.$3"
	ip -n "$1" link set "$2.$3" up
}
vlan pa e0 5 10.6.1.1; vlan pm m0 5 10.6.1.2; vlan pm m1 6 10.6.2.2; vlan pb e0 6 10.6.2.1
ip -n pa route add default via 10.6.1.2
ip -n pb route add default via 10.6.2.2
ip netns exec pm sysctl -qw net.ipv4.ip_forward=1

start() { # host name options: waits until it tells
	ip netns exec "$1" "$hostint" postcards --json $3 >"$work/$2.out" 2>"$work/$2.err" &
	daemon=$!
	for _ in $(seq 1200); do grep -q "are reported$" "$work/$2.err" && return; kill -0 $daemon 2>/dev/null || break; sleep 0.05; done
	fail "$2 does not start"
}

finish() { # name
	kill -INT $daemon
	wait $daemon || fail "$1 fails"
}

send() { # count bytes port
	ip netns exec pa python3 -c '
import socket, sys
count, size, port = map(int, sys.argv[1:])
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
for i in range(count):
    s.sendto(bytes(size), ("10.6.2.1", port))' "$@"
}

holds() { # name what condition, in Python, of the lines `all`
	python3 -c '
import json, sys
all = [json.loads(line) for line in open(sys.argv[1])]
last = all[-1]
sys.exit(not (eval(sys.argv[2])))' "$work/$1.out" "$3" || fail "$1: $2"
	echo "ok: $1: $2"
}

# Neighbours are known before.
for _ in $(seq 200); do
	send 1 10 7000
	ip -n pm neigh show 10.6.2.1 | grep -q lladdr && break
	sleep 0.1
done
ip -n pm neigh show 10.6.2.1 | grep -q lladdr || fail "no way from pa to pb"

start pb drops --drops
send 10 100 7001
finish drops
at_7001='[x for x in all if x["kind"] == "host-drop" and x["flow"]["dport"] == 7001]'
holds drops "ten packets to a closed port at its place" "sum(x['packets'] for x in last['places'] if 'udp4' in x.get('place', '')) == 10"
if grep -aq SKB_DROP_REASON_NO_SOCKET /sys/kernel/btf/vmlinux; then
	holds drops "with the reason" "$at_7001[-1]['kernel_reason_name'] == 'NO_SOCKET' and $at_7001[-1]['drop']['packets'] == 10"
else
	grep -q "gives no reasons" "$work/drops.err" || fail "it does not say that there are no reasons"
	holds drops "without a reason" "$at_7001[-1]['kernel_reason'] == 0 and $at_7001[-1]['drop']['packets'] == 10"
fi

between='[x for x in last["passages"] if (x["in_interface"], x["out_interface"]) == ("m0.5", "m1")]'
if "$hostint" doctor 2>&1 | grep -q "cannot carry the time" || [ "$(printf '%s\n' 5.18 "$(uname -r)" | sort -V | head -1)" != 5.18 ]; then
	ip netns exec pm "$hostint" postcards --hops --dev m0 >"$work/hops.out" 2>"$work/hops.err" && fail "hops start on $(uname -r)"
	grep -q "that takes Linux 5.18" "$work/hops.err" || fail "it does not say what hops take"
	echo "ok: hops: refused, with the reason"
else
	for offload in on off; do
		ip netns exec pm ethtool -K m1 tx-vlan-offload $offload >/dev/null
		start pm hops "--hops --dev m0*,m1*"
		send 50 100 7002
		finish hops
		holds hops "from one VLAN to the other, once, with the flow; tags by the card: $offload" \
			"$between[0]['sent']['packets'] == $between[0]['queued']['packets'] and $between[0]['sent']['packets'] >= 50 and [x for x in all if x['kind'] == 'host-hop' and x['flow']['dport'] == 7002][-1]['packets'] == 50"
	done
fi

ip netns exec pm tc qdisc add dev m1 root handle 1: tbf rate 8mbit burst 5000 limit 200000
start pm queue "--queue m1=trigger:20k,quota:7"
send 100 1000 7003
sleep 1
send 1 100 7003
finish queue
holds queue "one episode, which names the flow" "[x for x in all if x['kind'] == 'queue'][-1]['packets'] > 20 and [x for x in all if x['kind'] == 'queue'][-1]['told'] == 7"
echo "postcards.sh: all passed on $(uname -r)"
