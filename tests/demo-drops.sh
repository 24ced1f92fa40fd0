#!/bin/bash
# Two hosts and a router, as network namespaces, that each drop packets: hostint splits the loss between them.
# Usage (root): tests/demo-drops.sh [path of hostint]
set -euo pipefail

left=hostint-drops-left router=hostint-drops-router right=hostint-drops-right
. "$(dirname "$0")/demo-lab.sh"

say "two hosts, 10.78.1.1 (node 1) and 10.78.2.1 (node 2), and a router (node 9) between them"
make_hosts $left $right $router
connect $left eth0 10.78.1.1 $router left 10.78.1.254
connect $right eth0 10.78.2.1 $router right 10.78.2.254
in_ns $router sysctl -qw net.ipv4.ip_forward=1
ip -n $left route add default via 10.78.1.254
ip -n $right route add default via 10.78.2.254
# Packets of priority 1:2 find a queue without room; the router drops packets of 700 to 900 bytes.
in_ns $left tc qdisc add dev eth0 root handle 1: htb
in_ns $left tc class add dev eth0 parent 1: classid 1:2 htb rate 1gbit
in_ns $left tc qdisc add dev eth0 parent 1:2 handle 2: pfifo limit 0
in_ns $router nft -f - <<'NFT'
table ip demo {
	chain lossy { type filter hook forward priority 0; iifname "left" meta length 700-900 drop; }
}
NFT

say "a collector on the right; sinks on both hosts, a source on the left; postcards on all three"
start $right collect "collecting on" collect --listen 10.78.2.1 --store "$out/history.db"
start $right right "sink attached" sink --dev eth0 --node-id 2 --node-name server --collector 10.78.2.1 --summary-period 1s
start $left left "sink attached" sink --dev eth0 --node-id 1 --node-name client --collector 10.78.2.1
in_ns $left "$hostint" source attach --dev eth0
in_ns $left "$hostint" source add-dest 10.78.2.1
start $left left-drops "drops are reported" postcards --drops --collector 10.78.2.1
start $router router-drops "drops are reported" postcards --drops --collector 10.78.2.1 --node-id 9 --node-name router
start $right right-drops "drops are reported" postcards --drops --collector 10.78.2.1

say "datagrams of one flow: 100 for the left host's full queue, 50 that the router drops, and 20 for a full socket"
python3 - $left $right <<'PY'
import ctypes, socket, sys, time
libc = ctypes.CDLL(None, use_errno=True)
def in_ns(name):
    with open(f"/run/netns/{name}") as ns:
        if libc.setns(ns.fileno(), 0):
            raise OSError(ctypes.get_errno(), name)
def udp(address):
    one = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    one.bind(address)
    return one
to = ("10.78.2.1", 5000)
in_ns(sys.argv[2])
sink = udp(to)
in_ns(sys.argv[1])
# Flows that begin before the lease stay untagged.
for port in range(40000, 40003):
    source = udp(("10.78.1.1", port))
    for _ in range(5):
        source.sendto(b"x" * 100, to)
        sink.recv(2000)
    time.sleep(3)
source = udp(("10.78.1.1", 40010))
def send(count, size, priority=0):
    source.setsockopt(socket.SOL_SOCKET, socket.SO_PRIORITY, priority)
    for _ in range(count):
        source.sendto(b"x" * size, to)
def read():
    sink.settimeout(0.2)
    count = 0
    try:
        while sink.recv(2000):
            count += 1
    except TimeoutError:
        return count
send(10, 100)
read()
send(100, 100, priority=0x10002)
send(50, 700)
# What the buffer holds, and 20 more.
sink.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 5000)
send(40, 1000)
room = read()
send(10, 100)
read()
send(room + 20, 1000)
dropped = room + 20 - read()
print(f"the socket had room for {room} datagrams, so it dropped {40 - room} at first, and then {dropped}")
send(10, 100)
read()
PY
sleep 3
stop left-drops router-drops right-drops
sleep 12

say "hostint history pairs"
in_ns $right "$hostint" history pairs --store "$out/history.db"
say "hostint history drops --by flow"
in_ns $right "$hostint" history drops --by flow --store "$out/history.db"
split=$(in_ns $right "$hostint" history pairs --json --store "$out/history.db" | python3 -c '
import json, sys
for pair in json.load(sys.stdin)["pairs"]:
    if (pair["source"], pair["sink"]) == (1, 2):
        split = pair["loss_split"]
        print(split["lost"], split["source_host"], split["network"], split["sink_host"])')
say "lost, source host, network, sink host: $split"
[ "$split" = "150 100 50 0" ] || fail "150 datagrams were lost, 100 in the source host, 50 in the network"
