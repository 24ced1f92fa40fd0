#!/bin/bash
# Two hosts and a router that loses packets, as network namespaces: shows real latency and loss reports.
# Usage (root): tests/demo.sh [path of hostint]
set -euo pipefail

hostint=${1:-hostint}
left=hostint-demo-left router=hostint-demo-router right=hostint-demo-right
out=$(mktemp -d)
daemons=()

say() { printf '\n\033[1m== %s\033[0m\n' "$*"; }
in_ns() { ip netns exec "$@"; }
start() { # namespace, log file, hostint arguments: returns when the daemon says that it is ready
	local ns=$1 log=$2 ready=$3
	shift 3
	ip netns exec "$ns" "$hostint" "$@" >"$out/$log.out" 2>"$out/$log.err" &
	daemons+=($!)
	for _ in $(seq 200); do
		grep -q "$ready" "$out/$log.err" && return
		kill -0 $! 2>/dev/null || break
		sleep 0.05
	done
	cat "$out/$log.err" >&2
	exit 1
}
clean_up() {
	for pid in "${daemons[@]}"; do kill "$pid" 2>/dev/null || true; done
	wait
	for ns in $left $right; do
		in_ns $ns "$hostint" source detach 2>/dev/null || true
		in_ns $ns "$hostint" sink detach 2>/dev/null || true
	done
	for ns in $left $router $right; do ip netns del $ns 2>/dev/null || true; done
	rm -rf "$out"
}
for ns in $left $router $right; do
	if ip netns list | grep -qw $ns; then
		echo "demo: namespace $ns exists already: remove it (ip netns del $ns) or let the other demo end" >&2
		exit 1
	fi
done
trap clean_up EXIT

say "two hosts, 10.77.1.1 and 10.77.2.1, and a router between them"
for ns in $left $router $right; do ip netns add $ns; ip -n $ns link set lo up; done
ip link add eth0 netns $left type veth peer name left netns $router
ip link add eth0 netns $right type veth peer name right netns $router
ip -n $left addr add 10.77.1.1/24 dev eth0
ip -n $right addr add 10.77.2.1/24 dev eth0
ip -n $router addr add 10.77.1.254/24 dev left
ip -n $router addr add 10.77.2.254/24 dev right
for dev in "$left eth0" "$right eth0" "$router left" "$router right"; do
	ip -n "${dev% *}" link set "${dev#* }" up
done
in_ns $router sysctl -qw net.ipv4.ip_forward=1
# One packet for each TCP segment
ip -n $left link set eth0 gso_max_segs 1
ip -n $left route add default via 10.77.1.254
ip -n $right route add default via 10.77.2.254

say "a collector and a sink on the right, sink and source on the left"
start $right collect "collecting on" collect --listen 10.77.2.1 --store none
start $right right "sink attached" sink --dev eth0 --node-id 2 --collector 10.77.2.1
start $left left "sink attached" sink --dev eth0 --node-id 1
cat "$out/right.err"
in_ns $left "$hostint" source attach --dev eth0
in_ns $left "$hostint" source add-dest 10.77.2.1

say "traffic: UDP every 2 ms and a TCP stream; the router drops every 100th packet for a second"
python3 - $left $right <<'PY' &
import ctypes, os, socket, sys, threading, time
libc = ctypes.CDLL(None, use_errno=True)
def in_ns(name):
    with open(f"/run/netns/{name}") as ns:
        if libc.setns(ns.fileno(), 0):
            raise OSError(ctypes.get_errno(), name)
in_ns(sys.argv[2])
sink = socket.create_server(("10.77.2.1", 7000))
udp_sink = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
udp_sink.bind(("10.77.2.1", 5000))
def drain():
    stream, _ = sink.accept()
    while stream.recv(65536):
        pass
threading.Thread(target=drain).start()
in_ns(sys.argv[1])
tcp = socket.create_connection(("10.77.2.1", 7000))
udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
udp.bind(("10.77.1.1", 40000))
end = time.monotonic() + 3
while time.monotonic() < end:
    udp.sendto(b"x" * 200, ("10.77.2.1", 5000))
    tcp.send(b"y" * 1000)
    time.sleep(0.002)
tcp.close()
PY
traffic=$!
sleep 1
in_ns $router nft -f - <<'NFT'
table ip demo {
	counter dropped { }
	chain lossy { type filter hook forward priority 0; ip daddr 10.77.2.1 ip protocol { tcp, udp } numgen inc mod 100 == 99 counter name dropped drop; }
}
NFT
sleep 1
in_ns $router nft flush chain ip demo lossy
dropped=$(in_ns $router nft list counter ip demo dropped | sed -n 's/.*packets \([0-9]*\).*/\1/p')
in_ns $router nft delete table ip demo
wait $traffic
sleep 1

say "the first reports that the collector received"
head -n 8 "$out/collect.out"
say "all loss reports"
grep LOSS "$out/collect.out" || true
say "what the collector says of its exporters"
kill "${daemons[0]}"
wait "${daemons[0]}" || true
tail -n 2 "$out/collect.err"
say "hostint status on the right (the receiving host)"
in_ns $right "$hostint" status
say "hostint status on the left (the sending host)"
in_ns $left "$hostint" status

lost=$(in_ns $right "$hostint" status --json | python3 -c '
import json, sys
print(sum(flow["lost"] for flow in json.load(sys.stdin)["sink"]["flows"]))')
say "the router dropped $dropped packets; hostint reports $lost lost"
[ "$dropped" = "$lost" ] || exit 1
