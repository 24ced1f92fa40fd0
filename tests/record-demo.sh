#!/bin/bash
# Records what hostint demo --recorded shows: reports of six hosts and two routers, as network namespaces, for half a minute. One pair
# loses packets at the second router, the first one's queue is slow, a host's application reads too late, and TCP connections
# are limited by different things.
# Usage (root): tests/record-demo.sh [path of hostint [path of the capture]]
set -euo pipefail

capture=$(realpath -m "${2:-src/demo/six-hosts.pcap.gz}")
. "$(dirname "$0")/demo-lab.sh"

p=hostint-record
say "web1, web2, web3 (nodes 1 to 3) and a collector behind leaf1 (node 11); db1, db2, db3 (nodes 4 to 6) behind leaf2 (node 12)"
make_hosts $p-web1 $p-web2 $p-web3 $p-db1 $p-db2 $p-db3 $p-collector $p-leaf1 $p-leaf2
connect $p-leaf1 core 10.83.0.1 $p-leaf2 core 10.83.0.2
for leaf in leaf1 leaf2; do in_ns $p-$leaf sysctl -qw net.ipv4.ip_forward=1; done
# Each host: its router, the other one, and the third part of its address.
while read -r name leaf other net; do
	connect $p-$name eth0 10.83.$net.1 $p-$leaf $name 10.83.$net.254
	ip -n $p-$name route add default via 10.83.$net.254
	ip -n $p-$other route add 10.83.$net.0/24 via 10.83.0.${leaf#leaf}
done <<END
web1 leaf1 leaf2 1
web2 leaf1 leaf2 2
web3 leaf1 leaf2 3
db1 leaf2 leaf1 4
db2 leaf2 leaf1 5
db3 leaf2 leaf1 6
collector leaf1 leaf2 9
END

say "roles, and all that they report"
ip netns exec $p-collector python3 - "$out/capture" <<'PY' &
# The reports as raw IP packets, in a pcap with nanoseconds.
import signal, socket, struct, sys, time
REPORTS = 32766
source = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_UDP)
source.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 22)
signal.signal(signal.SIGTERM, lambda *_: sys.exit())
with open(sys.argv[1], "wb") as out:
    out.write(struct.pack("<IHHiIII", 0xa1b23c4d, 2, 4, 0, 0, 65535, 101))
    while True:
        packet = source.recv(65535)
        udp = (packet[0] & 15) * 4
        if struct.unpack_from("!H", packet, udp + 2)[0] == REPORTS:
            # It left the sending host without a checksum, as between interfaces without hardware; 0 says so.
            packet = packet[:udp + 6] + b"\0\0" + packet[udp + 8:]
            s, ns = divmod(time.time_ns(), 1_000_000_000)
            out.write(struct.pack("<IIII", s, ns, len(packet), len(packet)) + packet)
PY
recorder=$!
start $p-collector collect "collecting on" collect --listen 10.83.9.1 --store "$out/history.db"
node=0
for name in web1 web2 web3 db1 db2 db3; do
	node=$((node + 1))
	start $p-$name $name "sink attached" sink --dev eth0 --node-id $node --node-name $name --collector 10.83.9.1 --max-reports 5 \
		--report-period 5s --latency-buckets 1ms,10ms --no-packet-headers
done
node=0
for name in web1 web2 web3 db1 db2 db3; do
	node=$((node + 1))
	# What the routers tell of paths is most of the bytes, so the paths of two hosts' packets do.
	hops=()
	case $name in web1 | web2) hops=(--max-hops 4) ;; esac
	in_ns $p-$name "$hostint" source attach --dev eth0 "${hops[@]}"
	for other in 1 2 3 4 5 6; do [ $other = $node ] || in_ns $p-$name "$hostint" source add-dest 10.83.$other.1; done
done
start $p-leaf1 leaf1 "waits in queues are reported" transit --dev web1,web2,web3,core --node-id 11 --node-name leaf1 --waits --collector 10.83.9.1
start $p-leaf2 leaf2 "waits in queues are reported" transit --dev db1,db2,db3,core --node-id 12 --node-name leaf2 --waits --collector 10.83.9.1
start $p-leaf2 leaf2-drops "drops are reported" postcards --drops --collector 10.83.9.1
start $p-db3 db3-drops "drops are reported" postcards --drops --collector 10.83.9.1
for name in web1 web2; do
	start $p-$name $name-tcp "connections are watched" tcp --sample-period 1s --report-period 5s --collector 10.83.9.1
done

for name in web1 web2 web3 db1 db2 db3; do await_leases $p-$name; done

say "half a minute of traffic"
in_ns $p-leaf1 tc qdisc add dev core root tbf rate 20mbit burst 5kb limit 1mb
in_ns $p-leaf2 nft -f - <<'NFT'
table ip demo {
	counter dropped { }
	chain lossy { type filter hook forward priority 0; ip saddr 10.83.1.1 ip daddr 10.83.4.1 meta length 200-700 numgen inc mod 20 == 19 counter name dropped drop; }
}
NFT
python3 - <<'PY'
import ctypes, socket, threading, time
libc = ctypes.CDLL(None, use_errno=True)
def in_ns(name):
    with open(f"/run/netns/hostint-record-{name}") as ns:
        if libc.setns(ns.fileno(), 0):
            raise OSError(ctypes.get_errno(), name)
hosts = {name: f"10.83.{i}.1" for i, name in enumerate(["web1", "web2", "web3", "db1", "db2", "db3"], 1)}
end = time.monotonic() + 27
def running():
    return time.monotonic() < end
def udp(name, port, buffer=None):
    one = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    if buffer:
        one.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, buffer)
    one.bind((hosts[name], port))
    one.settimeout(0.5)
    return one
def read(one, pause):
    while running():
        try:
            one.recv(2000)
        except TimeoutError:
            pass
        time.sleep(pause)
def serve(listener, size, pause):
    stream, _ = listener.accept()
    while stream.recv(size):
        time.sleep(pause)
def start(target, *args):
    threading.Thread(target=target, args=args).start()
def listen(name, port, size, pause):
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65536)
    listener.bind((hosts[name], port))
    listener.listen()
    start(serve, listener, size, pause)
def each(name, target, *args):
    def run():
        in_ns(name)
        target(name, *args)
    start(run)
# Small datagrams from each host to each other one, ten a second.
def everywhere(name):
    sink = udp(name, 6000)
    start(read, sink, 0)
    source = udp(name, 5000)
    time.sleep(1)
    while running():
        for other in hosts:
            if other != name:
                source.sendto(b"x" * 300, (hosts[other], 6000))
        time.sleep(0.1)
# Bursts, which wait at leaf1.
def bursts(name):
    source = udp(name, 5001)
    while running():
        for _ in range(10):
            source.sendto(b"b" * 1000, (hosts["db2"], 6000))
        time.sleep(0.2)
# An application that reads late, and a sender that does not mind.
def late(name):
    start(read, udp(name, 6001, 5000), 0.02)
def to_late(name):
    source = udp(name, 5002)
    while running():
        for _ in range(20):
            source.sendto(b"d" * 400, (hosts["db3"], 6001))
        time.sleep(1)
def servers(name):
    listen(name, 7000, 65536, 0)
    listen(name, 7001, 10000, 0.1)
    listen(name, 7002, 65536, 0)
def client(name, port, chunk, pause):
    time.sleep(1)
    stream = socket.create_connection((hosts["db1"], port))
    stream.settimeout(2)
    try:
        while running():
            stream.send(b"t" * chunk)
            time.sleep(pause)
    except TimeoutError:
        pass
    stream.close()
each("db1", servers)
each("db3", late)
for name in hosts:
    each(name, everywhere)
each("web2", bursts)
each("web3", to_late)
each("web1", client, 7000, 2000, 0.05)
each("web1", client, 7001, 20000, 0)
each("web2", client, 7002, 8000, 0.005)
PY
# What is told every ten seconds is told once more.
sleep 12
kill $recorder
wait $recorder || true
gzip -9n <"$out/capture" >"$capture"
dropped=$(in_ns $p-leaf2 nft list counter ip demo dropped | sed -n 's/.*packets \([0-9]*\).*/\1/p')

say "hostint history pairs"
in_ns $p-collector "$hostint" history pairs --store "$out/history.db"
say "leaf2 dropped $dropped packets; $(stat -c %s "$capture") bytes of reports are in $capture"
