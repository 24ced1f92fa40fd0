#!/bin/bash
# Two hosts, three routers with INT, one without, and a container, as network namespaces, with a slow queue at the second router
# and loss at the third: hostint shows where the packets of a flow spend their time, and where they are lost.
# With `mx` packets keep their length: in INT-MX each host between them tells of the packet by itself, and the collector joins that.
# Usage (root): tests/demo-path.sh [path of hostint [mx]]
set -euo pipefail
case ${2:-md} in
md) source_flags=(--max-hops 4) sink_flags=() transit_flags=() ;;
mx)
	source_flags=(--encap int-md --int-dscp 0x17 --mode mx --mx-sample 1)
	sink_flags=(--int-dscp 0x17)
	transit_flags=(--carriers int-md --int-dscp 0x17)
	;;
*)
	echo "$0: $2 is no mode (md, mx)" >&2
	exit 2
	;;
esac

left=hostint-path-left edge=hostint-path-edge first=hostint-path-first second=hostint-path-second third=hostint-path-third
right=hostint-path-right container=hostint-path-container
. "$(dirname "$0")/demo-lab.sh"

say "a host, 10.79.1.1 (node 1); a router without INT; routers (nodes 11, 12, 13); a host (node 14) with a container, 10.79.6.1 (node 2)"
make_hosts $left $container $edge $first $second $third $right
connect $left eth0 10.79.1.1 $edge in 10.79.1.254
connect $edge out 10.79.5.1 $first in 10.79.5.2
connect $first out 10.79.2.1 $second in 10.79.2.2
connect $second out 10.79.3.1 $third in 10.79.3.2
connect $third out 10.79.4.1 $right eth0 10.79.4.2
connect $right container 10.79.6.254 $container eth0 10.79.6.1
ip -n $left route add default via 10.79.1.254
ip -n $container route add default via 10.79.6.254
# Each router: the next one towards the container, and the one back to the left host.
while read -r ns next back; do
	in_ns $ns sysctl -qw net.ipv4.ip_forward=1
	[ "$next" = - ] || ip -n $ns route add 10.79.6.0/24 via "$next"
	[ "$back" = - ] || ip -n $ns route add 10.79.1.0/24 via "$back"
done <<EOF
$edge 10.79.5.2 -
$first 10.79.2.2 10.79.5.1
$second 10.79.3.2 10.79.2.1
$third 10.79.4.2 10.79.3.1
$right - 10.79.4.1
EOF

say "a collector, a sink and a source at the ends; each host between them is a transit hop"
start $right collect "collecting on" collect --listen 10.79.6.254 --store "$out/history.db"
start $container container "sink attached" sink --dev eth0 --node-id 2 --node-name container --collector 10.79.6.254 --summary-period 1s --host-times "${sink_flags[@]}"
start $left left "sink attached" sink --dev eth0 --node-id 1 --node-name client --collector 10.79.6.254 --host-times "${sink_flags[@]}"
in_ns $left "$hostint" source attach --dev eth0 "${source_flags[@]}"
in_ns $left "$hostint" source add-dest 10.79.6.1
start $first first "waits in queues are reported" transit --dev in,out --node-id 11 --node-name leaf1 --waits --collector 10.79.6.254 "${transit_flags[@]}"
start $second second "waits in queues are reported" transit --dev in,out --node-id 12 --node-name spine --waits --collector 10.79.6.254 "${transit_flags[@]}"
start $third third "waits in queues are reported" transit --dev in,out --node-id 13 --node-name leaf2 --waits --collector 10.79.6.254 "${transit_flags[@]}"
start $right right "waits in queues are reported" transit --dev eth0,container --node-id 14 --node-name server --waits --collector 10.79.6.254 "${transit_flags[@]}"
start $third third-drops "drops are reported" postcards --drops --collector 10.79.6.254
await_leases $left
# The collector learns the clocks of all nodes, and these count packets for a whole second.
sleep 8

say "2,000 datagrams in bursts of 10; the second router's queue lets 20 Mbit/s out, the third one drops every 100th datagram"
in_ns $second tc qdisc add dev out root tbf rate 20mbit burst 2kb limit 1mb
in_ns $third nft -f - <<'NFT'
table ip demo {
	counter dropped { }
	chain lossy { type filter hook forward priority 0; ip daddr 10.79.6.1 udp length > 900 numgen inc mod 100 == 99 counter name dropped drop; }
}
NFT
# Some requests and answers by TCP, whose times in the hosts are known.
in_ns $container timeout 20 python3 -c '
import socket
server = socket.create_server(("10.79.6.1", 5001))
stream, _ = server.accept()
while request := stream.recv(200):
    stream.sendall(request)' &
server=$!
in_ns $left python3 -c '
import socket, time
for _ in range(50):
    try:
        stream = socket.create_connection(("10.79.6.1", 5001))
        break
    except OSError:
        time.sleep(0.1)
for _ in range(100):
    stream.sendall(b"x" * 200)
    stream.recv(200)'
wait $server
in_ns $container timeout 10 python3 -c '
import socket
sink = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
sink.bind(("10.79.6.1", 5000))
while sink.recv(2000) != b"end":
    pass' &
application=$!
in_ns $left python3 -c '
import socket, time
source = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
source.bind(("10.79.1.1", 40000))
for burst in range(200):
    for _ in range(10):
        source.sendto(b"x" * 1000, ("10.79.6.1", 5000))
    time.sleep(0.01)
source.sendto(b"end", ("10.79.6.1", 5000))'
wait $application
dropped=$(in_ns $third nft list counter ip demo dropped | sed -n 's/.*packets \([0-9]*\).*/\1/p')
history() { in_ns $right "$hostint" history "$@" --store "$out/history.db"; }
# The packets of a second are compared by segment when all hosts told of it for the last time.
for _ in $(seq 300); do
	history path --from 1 --to 2 | grep -q " packets were lost: $dropped in hop leaf2 " && break
	sleep 0.1
done
# Waits in hosts are told every ten seconds.
for _ in $(seq 150); do
	history path --from 1 --to 2 | grep -q "^read " && break
	sleep 0.1
done
stop third-drops container
# Drops and names are in the history after ten seconds.
for _ in $(seq 150); do
	history drops --by node | grep -q "^leaf2 " && break
	sleep 0.1
done

say "hostint history path --from 1 --to 2"
history path --from 1 --to 2
say "hostint history drops --by node"
history drops --by node
slowest=$(history path --from 1 --to 2 --json | python3 -c '
import json, sys
[path] = json.load(sys.stdin)["paths"]
assert path["nodes"] == [1, 11, 12, 13, 14, 2], path["nodes"]
assert [one["unseen_hops"] for one in path["segments"][::2]] == [1, 0, 0, 0, 0], path["segments"]
is_mx = sys.argv[1:] == ["mx"]
ends = [one["kind"] for one in path["host_segments"]]
# Linux before 6.16 does not tell when applications write.
assert ends in (["buffer", "stack", "read"], ["stack", "read"]), ends
slowest = max(path["segments"], key=lambda segment: (segment["corrected"] or segment["latency"])["mean_ns"])
# The sink knows of all packets what hops wrote into them; what each host tells by itself are reports, of datagrams: TCP goes in
# another encapsulation to a sink with leases.
measured = path["whole"]["reports" if is_mx else "packets"]
assert measured > 2001 + (0 if is_mx else 100) - 2 * 20, path["whole"]
print(slowest["kind"], slowest["from"]["node"], slowest["to"]["node"])' "${2:-}")
places=$(history path --from 1 --to 2 --json | python3 -c '
import json, sys
[path] = json.load(sys.stdin)["paths"]
rows = path["segments"] + path["queues"]
print(*("%s %s %s" % (row["kind"], row["from"]["node"], row["loss"]["lost"]) for row in rows if row["loss"] and row["loss"]["lost"]))')
lost=$(history pairs --json | python3 -c '
import json, sys
[pair] = json.load(sys.stdin)["pairs"]
print(pair["measured"]["lost"])')
say "the slowest segment: $slowest"
say "the third router dropped $dropped datagrams; hostint says that $lost are lost, and where: $places"
[ "$slowest" = "wire 12 13" ] && [ "$lost" = "$dropped" ] && [ "$places" = "hop 13 $dropped" ] ||
	fail "the slowest segment is that between nodes 12 and 13, and $dropped datagrams were lost in node 13"
