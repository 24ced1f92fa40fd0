#!/bin/bash
# Segments of TCP with option 114 through a router that fills it in: none is longer than the MTU, and all checksums are right.
# Each run adds to the sums of a file, so that 10^8 segments may take several.
# Usage (root): tests/tcp-segments.sh SUMS SECONDS [path of hostint]
set -euo pipefail

sums=$(realpath "$1") seconds=$2
shift 2
client=hostint-segments-client router=hostint-segments-router server=hostint-segments-server
. "$(dirname "$0")/demo-lab.sh"

make_hosts $client $router $server
connect $client eth0 10.83.1.1 $router in 10.83.1.254
connect $router out 10.83.2.254 $server eth0 10.83.2.1
ip -n $client route add default via 10.83.1.254
ip -n $server route add default via 10.83.2.254
in_ns $router sysctl -qw net.ipv4.ip_forward=1
# Segments are cut before the router sees them, and it computes no checksums.
in_ns $client ethtool -K eth0 tso off gso off tx off >/dev/null
in_ns $server ethtool -K eth0 tso off gso off tx off >/dev/null
in_ns $router nft -f - <<'NFT'
table ip segments {
	counter segments { }
	counter with_option { }
	counter long { }
	chain passing {
		type filter hook forward priority 0
		counter name segments
		tcp option 114 exists counter name with_option
		meta length > 1500 counter name long
	}
}
NFT
in_ns $router "$hostint" transit attach --dev in,out --node-id 9 --carriers tcp-int
for host in client server; do
	start "${!host}" $host "connections are watched" tcp --option all --option-period 1ms --report end
done
ip netns exec $server python3 -c '
import socket, threading
def serve(connection):
    while connection.recv(1 << 20):
        connection.send(b"ok")
listener = socket.create_server(("10.83.2.1", 5000))
while True:
    threading.Thread(target=serve, args=[listener.accept()[0]], daemon=True).start()' &
# Bulk, and writes of any length; the segment size that the client takes for the largest changes from time to time.
in_ns $client timeout $((seconds + 60)) python3 -c '
import random, socket, sys, threading, time
end = time.monotonic() + float(sys.argv[1])
def drain(connection):
    while connection.recv(1 << 16):
        pass
def send(longest):
    while time.monotonic() < end:
        try:
            connection = socket.create_connection(("10.83.2.1", 5000))
        except ConnectionRefusedError:
            continue
        threading.Thread(target=drain, args=[connection], daemon=True).start()
        again = min(end, time.monotonic() + random.uniform(1, 20))
        while time.monotonic() < again:
            connection.sendall(bytes(random.randint(1, longest)))
        connection.shutdown(socket.SHUT_WR)
threads = [threading.Thread(target=send, args=[longest]) for longest in (1 << 20, 1 << 20, 5000, 1448)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()' "$seconds"
count() { in_ns $router nft list counter ip segments "$1" | sed -n 's/.*packets \([0-9]*\).*/\1/p'; }
wrong() { in_ns "$1" nstat -asz TcpInCsumErrors IpInCsumErrors 2>/dev/null | awk '/^(Tcp|Ip)/ { all += $2 } END { print all + 0 }'; }
filled=$(in_ns $router "$hostint" status --json | python3 -c '
import json, sys
print(next(one["packets"] for one in json.load(sys.stdin)["transit"]["counters"] if one["name"] == "option_filled"))' 2>/dev/null || echo 0)
wrong=$(($(wrong $client) + $(wrong $server)))
read -r all option long bad known < <(cat "$sums" 2>/dev/null || echo 0 0 0 0 0)
all=$((all + $(count segments))) option=$((option + $(count with_option))) long=$((long + $(count long))) bad=$((bad + wrong))
known=$((known + filled))
echo "$all $option $long $bad $known" >"$sums"
say "so far $all segments, $option with option 114, $known filled in; $long longer than the MTU, $bad with a wrong checksum"
[ "$long" = 0 ] && [ "$bad" = 0 ] || exit 1
