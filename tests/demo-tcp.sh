#!/bin/bash
# Two hosts and two routers as network namespaces: a bottleneck at the second router, then a receiver that reads slowly.
# hostint says of each connection what limits it, and which hop is the worst of its path.
# Usage (root): tests/demo-tcp.sh [path of hostint]
set -euo pipefail

client=hostint-tcp-client leaf=hostint-tcp-leaf spine=hostint-tcp-spine server=hostint-tcp-server
. "$(dirname "$0")/demo-lab.sh"

say "a client, 10.82.1.1 (node 1); routers leaf and spine (nodes 11, 12); a server, 10.82.3.1 (node 2)"
make_hosts $client $leaf $spine $server
connect $client eth0 10.82.1.1 $leaf in 10.82.1.254
connect $leaf out 10.82.2.1 $spine in 10.82.2.2
connect $spine out 10.82.3.254 $server eth0 10.82.3.1
ip -n $client route add default via 10.82.1.254
ip -n $server route add default via 10.82.3.254
for ns in $leaf $spine; do in_ns $ns sysctl -qw net.ipv4.ip_forward=1; done
ip -n $leaf route add 10.82.3.0/24 via 10.82.2.2
ip -n $spine route add 10.82.1.0/24 via 10.82.2.1

say "a collector; both routers fill in TCP option 114; hostint tcp on both hosts"
http=()
[ -z "${DEMO_HTTP:-}" ] || http=(--http "$DEMO_HTTP")
start $server collect "collecting on" collect --listen 10.82.3.1 --store "$out/history.db" "${http[@]}"
for router in $leaf $spine; do
	name=${router##*-}
	start $router "$name" "waits in queues are reported" transit --dev in,out --node-id $([ "$name" = leaf ] && echo 11 || echo 12) \
		--node-name "$name" --carriers tcp-int --waits --collector 10.82.3.1
done
tcp=(tcp --option all --sample-period 200ms --report-period 1s --collector 10.82.3.1)
start $client client "connections are watched" "${tcp[@]}" --node-id 1 --node-name client
start $server server "connections are watched" "${tcp[@]}" --node-id 2 --node-name server

say "spine lets 50 Mbit/s out; ten seconds of one connection to a server that reads all, and of one to a server that reads 1 MB/s"
in_ns $spine tc qdisc add dev out root tbf rate 50mbit burst 20kb limit 400kb
in_ns $server timeout 60 python3 -c '
import socket, threading, time
def serve(port, pause):
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65536)
    listener.bind(("10.82.3.1", port))
    listener.listen()
    connection, _ = listener.accept()
    while connection.recv(10000):
        time.sleep(pause)
threads = [threading.Thread(target=serve, args=one) for one in [(5000, 0), (5001, 0.01)]]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()' &
application=$!
in_ns $client timeout 60 python3 -c '
import socket, threading, time
def send(port):
    for _ in range(100):
        try:
            connection = socket.create_connection(("10.82.3.1", port))
            break
        except ConnectionRefusedError:
            time.sleep(0.05)
    end = time.monotonic() + 10
    while time.monotonic() < end:
        connection.sendall(b"x" * 10000)
threads = [threading.Thread(target=send, args=[port]) for port in (5000, 5001)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()'
wait $application

history() { in_ns $server "$hostint" history "$@" --store "$out/history.db"; }
# What limits the connections to both ports, the node that is the worst hop of most connections, and whether packets waited
# there. Routers tell each 5 s which hops they are; what connections met before has no node.
told() {
	history tcp --node 1 --json | python3 -c '
import json, sys
ended = [one for one in json.load(sys.stdin)["connections"] if one["state"] == "ended"]
limits = {one["flow"]["dport"]: one["limited"] for one in ended}
print(limits[5000], limits[5001])'
	history tcp --node 1 --by hop --json | python3 -c '
import json, sys
worst, *_ = [hop for hop in json.load(sys.stdin)["tcp_hops"]["hops"] if "node" in hop]
print("node", worst["node"], worst["worst"].get("queue_bytes", 0) > 0)'
}
for _ in $(seq 300); do
	told=$(told 2>/dev/null | xargs) || true
	[ "$(wc -w <<<"$told")" = 5 ] && break
	sleep 0.1
done
say "hostint history tcp"
history tcp --node 1
say "hostint history tcp --by hop"
history tcp --by hop --node 1
say "hostint history tcp --by limit"
history tcp --by limit --node 1
say "limits of the connections to ports 5000 and 5001, the worst hop, and whether packets waited there: $told"
[ -z "${DEMO_HTTP:-}" ] || sleep "${DEMO_STAYS:-60}"
[ "$told" = "path receiver node 12 True" ] ||
	fail "the first connection is limited by the path, the second one by the receiver, and packets wait at node 12"
