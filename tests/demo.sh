#!/bin/bash
# Two hosts and a router that loses packets, as network namespaces: shows real latency and loss reports.
# Usage (root): tests/demo.sh [path of hostint]
set -euo pipefail

left=hostint-demo-left router=hostint-demo-router right=hostint-demo-right
. "$(dirname "$0")/demo-lab.sh"

say "two hosts, 10.77.1.1 and 10.77.2.1, and a router between them"
make_hosts $left $right $router
connect $left eth0 10.77.1.1 $router left 10.77.1.254
connect $right eth0 10.77.2.1 $router right 10.77.2.254
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
stop collect
tail -n 2 "$out/collect.err"
say "hostint status on the right (the receiving host)"
in_ns $right "$hostint" status
say "hostint status on the left (the sending host)"
in_ns $left "$hostint" status

lost=$(in_ns $right "$hostint" status --json | python3 -c '
import json, sys
print(sum(flow["lost"] for flow in json.load(sys.stdin)["sink"]["flows"]))')
say "the router dropped $dropped packets; hostint reports $lost lost"
[ "$dropped" = "$lost" ] || fail "hostint does not report what the router dropped"
